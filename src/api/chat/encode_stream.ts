import type { EventEncoder } from "../../core/stream/stream.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { responseEndedEarly, type Result, success } from "../../core/failure/result.ts";
import { logprobsOf } from "./tool_call.ts";
import { finishWord, type Labels, newChatDeltas } from "./deltas.ts";
import { commentKeepAlive } from "../generate/keep_alive.ts";
import { BROKEN_END, DONE } from "../generate/openai_stream_end.ts";
import { chatUsage } from "./usage.ts";

/** Options for encoding a stream of chunks. */
export interface ChatEncoderOptions extends Labels {
  /** True if the client requested the usage chunk. */
  readonly includeUsage: boolean;
}

/**
 * Encodes events as `chat.completion.chunk` records (OpenAI API, streaming). The role comes with
 * the first event with content. The finish chunk, the usage chunk and `[DONE]` come at the end,
 * because an upstream may send usage before the finish or after it. Fails at the end without a
 * finish.
 */
export function newChatEncoder(options: ChatEncoderOptions): EventEncoder {
  const deltas = newChatDeltas(options);
  let head = buildHead();
  let isBegun = false;
  let isDone = false;
  let isFailed = false;

  function buildHead(): string {
    const { created, model } = deltas.state();
    const labels = { id: options.id, object: "chat.completion.chunk", created, model };
    return JSON.stringify(labels).slice(0, -1) + ',"choices":[';
  }

  /** Returns a chunk as a record. `more` holds further members of the chunk, as JSON text. */
  function chunk(
    delta: JsonObject,
    finish: string | null,
    tokens: readonly JsonObject[],
    more = "",
  ): StreamRecord {
    const logprobs = logprobsOf(tokens);
    const choice = { index: 0, delta, logprobs, finish_reason: finish };
    const tail = options.includeUsage ? `],"usage":null${more}}` : `]${more}}`;
    return { event: null, data: head + JSON.stringify(choice) + tail, raw: null };
  }

  function begin(): readonly StreamRecord[] {
    if (isBegun) return [];
    isBegun = true;
    return [chunk({ role: "assistant", content: "" }, null, [])];
  }

  function push(event: StreamEvent): Result<readonly StreamRecord[]> {
    const step = deltas.push(event);
    if (!step.ok) return step;
    if (event.type === "start") head = buildHead();
    if (step.value === null) return success([]);
    return success([...begin(), chunk(step.value.delta, null, step.value.logprobs)]);
  }

  function end(): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    const { finishReason } = deltas.state();
    if (finishReason === null) return responseEndedEarly();
    isDone = true;
    // Not every client requests usage, so the finish chunk holds the service tier too.
    const word = finishWord(finishReason, options.legacyFunctions);
    const finish = chunk({}, word, [], moderationMember() + tierMember());
    return success([...begin(), finish, ...usageChunk(), DONE]);
  }

  function moderationMember(): string {
    const { moderation } = deltas.state();
    return moderation === null ? "" : `,"moderation":${JSON.stringify(moderation)}`;
  }

  function tierMember(): string {
    const tier = deltas.state().usage?.serviceTier;
    return tier === undefined ? "" : `,"service_tier":${JSON.stringify(tier)}`;
  }

  function usageChunk(): readonly StreamRecord[] {
    const { usage } = deltas.state();
    if (!options.includeUsage || usage === null) return [];
    const data = `${head}],"usage":${JSON.stringify(chatUsage(usage))}${tierMember()}}`;
    return [{ event: null, data, raw: null }];
  }

  function fail(): readonly StreamRecord[] {
    if (isFailed) return [];
    isFailed = true;
    isDone = true;
    return BROKEN_END;
  }

  return {
    keepAlive: commentKeepAlive,
    push,
    end,
    fail,
    done: () => isDone,
    usage: () => deltas.state().usage,
    resource: () => null,
    reasoning: () => deltas.reasoning(),
    heldBytes: () => deltas.heldChars(),
  };
}
