import type { Decoder } from "../../core/stream/stream.ts";
import type { FinishReason, StreamEvent, Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonText } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { IdSource } from "../wire.ts";
import { malformed, providerError } from "../openai/errors.ts";
import { newMessageReader } from "./message.ts";
import { parseRecord } from "./record.ts";
import { parseUsage } from "../openai/chat_usage.ts";
import { mergeUsage } from "../reported_usage.ts";

type Events = Result<readonly StreamEvent[]>;

const NOTHING: Events = { ok: true, value: [] };

/**
 * Returns a complete Chat response as events. Fails on an error under status 200, without a choice,
 * and on a missing or unknown finish reason.
 */
export function decode(body: JsonText, idSource: IdSource): Events {
  const { value, text } = body;
  if ((value.error ?? null) !== null) return providerError(value);
  const choice = findChoice(value);
  if (choice === null) return malformed("a response without choices");
  if (!isObject(choice.message)) return malformed("a choice without a message");
  const reader = newMessageReader(idSource, "whole");
  const messageEvents = reader.read(choice.message, text);
  if (!messageEvents.ok) return messageEvents;
  const last = reader.end();
  if (!last.ok) return last;
  const usage = findUsage(value);
  if (!usage.ok) return usage;
  const end = decodeEnd(choice.finish_reason, reader.calls() > 0, usage.value, value.service_tier);
  return end.ok
    ? success([decodeStart(value, idSource), ...messageEvents.value, ...last.value, ...end.value])
    : end;
}

/**
 * Returns the decoder of a Chat Completions stream. The stream is complete at `[DONE]`, or when it
 * ends after a finish reason. Usage and finish are emitted then, because usage may arrive after the
 * finish reason.
 */
export function newDecoder(idSource: IdSource): Decoder {
  const reader = newMessageReader(idSource, "deltas");
  let isStarted = false;
  let reason: Optional = null;
  let usage: Usage | null = null;
  let tier: Optional = null;
  let done = false;

  function push(record: StreamRecord): Events {
    if (done) return NOTHING;
    const read = parseRecord(record);
    if (!read.ok) return read;
    if (read.value.kind === "nothing") return NOTHING;
    if (read.value.kind === "done") return finish();
    const { chunk } = read.value;
    const chunkUsage = findUsage(chunk);
    if (!chunkUsage.ok) return chunkUsage;
    usage = mergeUsage(usage, chunkUsage.value);
    tier = chunk.service_tier ?? tier;
    const choice = findChoice(chunk);
    return choice === null ? NOTHING : take(choice, chunk, record.data);
  }

  function take(choice: JsonObject, chunk: JsonObject, text: string): Events {
    // Some servers send an empty finish reason in every chunk before the last.
    reason = choice.finish_reason || reason;
    const messageEvents = isObject(choice.delta) ? reader.read(choice.delta, text) : NOTHING;
    if (!messageEvents.ok || isStarted) return messageEvents;
    isStarted = true;
    return success([decodeStart(chunk, idSource), ...messageEvents.value]);
  }

  function finish(): Events {
    const last = reader.end();
    if (!last.ok) return last;
    const end = decodeEnd(reason, reader.calls() > 0, usage, tier);
    if (!end.ok) return end;
    done = true;
    return success([...last.value, ...end.value]);
  }

  return {
    push,
    end: () => done ? NOTHING : finish(),
    done: () => done,
    hasContent: () => reader.calls() > 0,
    heldBytes: reader.heldBytes,
    usage: () => withTier(usage, tier),
  };
}

/** Returns the first choice. The gateway never requests more than one choice. */
function findChoice({ choices }: JsonObject): JsonObject | null {
  const list = Array.isArray(choices) ? choices.filter(isObject) : [];
  return list.find(({ index }) => (index ?? 0) === 0) ?? null;
}

function decodeStart({ id, model, created }: JsonObject, idSource: IdSource): StreamEvent {
  return {
    type: "start",
    id: typeof id === "string" ? id : "",
    model: typeof model === "string" ? model : "",
    created: typeof created === "number" && created > 0 ? created : idSource.unix(),
  };
}

function findUsage({ usage }: JsonObject): Result<Usage | null> {
  return isObject(usage) ? parseUsage(usage) : success(null);
}

function decodeEnd(
  reason: Optional,
  hasCalls: boolean,
  usage: Usage | null,
  tier: Optional,
): Events {
  const finish = parseFinishReason(reason, hasCalls);
  if (finish === null) return malformed("a response without a known finish reason");
  const counted = withTier(usage, tier);
  const usageEvents = counted === null ? [] : [{ type: "usage" as const, usage: counted }];
  return success([...usageEvents, { type: "finish", reason: finish }]);
}

function withTier(usage: Usage | null, tier: Optional): Usage | null {
  return usage === null || typeof tier !== "string" ? usage : { ...usage, serviceTier: tier };
}

function parseFinishReason(reason: Optional, hasCalls: boolean): FinishReason | null {
  switch (reason) {
    case "stop":
      // Some servers end tool calls with "stop".
      return hasCalls ? "tool_calls" : "stop";
    case "tool_calls":
    case "function_call":
      return "tool_calls";
    case "length":
    case "content_filter":
      return reason;
    default:
      return null;
  }
}
