import type { FinishReason, StreamEvent, Usage } from "../../core/events.ts";
import type { Fault } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Failed, fault, type Result, success } from "../../core/result.ts";
import { calledAs, type CallKind, logprobsOf } from "./called.ts";
import { chatUsage } from "./usage.ts";

/** What a generated answer says of itself, in one piece or in chunks. */
export interface Labels {
  /** `chatcmpl-` and 32 hexadecimal digits. */
  readonly id: string;
  /** Seconds since 1970, unless the upstream tells its own. */
  readonly created: number;
  /** The model as asked for, unless the upstream tells its own. */
  readonly model: string;
  /** The client sent `functions`: it gets `function_call`, and there can be only one. */
  readonly legacyFunctions: boolean;
}

/** A whole answer in the shape of Chat Completions. */
export interface Completion {
  readonly body: JsonObject;
  /** Null when the upstream is silent about it. */
  readonly usage: Usage | null;
}

interface ToolCall {
  readonly kind: CallKind;
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/**
 * The events of one answer as a `chat.completion`. Fails when they hold no finish, or something
 * that the object has no place for.
 */
export function completionOf(events: readonly StreamEvent[], labels: Labels): Result<Completion> {
  const texts = { text: "", refusal: "", reasoning: "" };
  const values: Record<"thinking_block" | "annotation", JsonObject[]> = {
    thinking_block: [],
    annotation: [],
  };
  const logprobs: JsonObject[] = [];
  const calls = new Map<number, ToolCall>();
  let { created, model } = labels;
  let usage: Usage | null = null;
  let reason: FinishReason | null = null;
  let moderation: JsonObject | null = null;

  for (const event of events) {
    switch (event.type) {
      case "start":
        created = event.created || created;
        model = event.model || model;
        break;
      case "text":
        texts.text += event.delta;
        pushAll(logprobs, event.logprobs ?? []);
        break;
      case "refusal":
      case "reasoning":
        texts[event.type] += event.delta;
        break;
      case "thinking_block":
      case "annotation":
        values[event.type].push(event.value);
        break;
      case "tool_call":
        if (labels.legacyFunctions && (calls.size > 0 || event.kind === "custom")) {
          return unfitCall();
        }
        calls.set(event.index, {
          kind: event.kind,
          id: event.id,
          name: event.name,
          arguments: event.arguments ?? "",
        });
        break;
      case "tool_arguments": {
        const call = calls.get(event.index);
        if (call === undefined) return callWithoutName();
        call.arguments += event.delta;
        break;
      }
      case "usage":
        usage = event.usage;
        break;
      case "finish":
        reason = event.reason;
        moderation = event.moderation ?? null;
        break;
    }
  }
  if (reason === null) return endedEarly();

  const { text, refusal, reasoning } = texts;
  const message: JsonObject = {
    role: "assistant",
    content: text === "" && (refusal !== "" || calls.size > 0) ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...reasoning !== "" && { reasoning_content: reasoning },
    ...values.thinking_block.length > 0 && { thinking_blocks: values.thinking_block },
    ...values.annotation.length > 0 && { annotations: values.annotation },
    ...calls.size > 0 && callMembers([...calls.values()], labels.legacyFunctions),
  };
  const choice: JsonObject = {
    index: 0,
    message,
    logprobs: logprobsOf(logprobs),
    finish_reason: finishWord(reason, labels.legacyFunctions),
  };
  const body: JsonObject = {
    id: labels.id,
    object: "chat.completion",
    created,
    model,
    choices: [choice],
    ...moderation !== null && { moderation },
    ...usage?.serviceTier !== undefined && { service_tier: usage.serviceTier },
    ...usage !== null && { usage: chatUsage(usage) },
  };
  return success({ body, usage });
}

function callMembers(calls: readonly ToolCall[], isLegacy: boolean): JsonObject {
  const called = calls.map(({ kind, id, name, arguments: text }): JsonObject => ({
    id,
    ...calledAs(kind, name, text),
  }));
  return isLegacy ? { function_call: called[0]?.function } : { tool_calls: called };
}

/** The `finish_reason` as a client that knows tools, or only functions, understands it. */
export function finishWord(reason: FinishReason, isLegacy: boolean): string {
  return isLegacy && reason === "tool_calls" ? "function_call" : reason;
}

/** The upstream stopped without saying why: the answer may be half of one. */
export function endedEarly(): Failed<Fault> {
  return fault("invalid_upstream_response", "The upstream's answer ended before it was complete.");
}

/** The legacy shape has room for one call, and only of a function. */
export function unfitCall(): Failed<Fault> {
  return fault(
    "invalid_upstream_response",
    "The upstream's answer holds calls beside the one of a function that the client can take; send tools instead of functions.",
  );
}

/** Arguments came for a call that was never announced. */
export function callWithoutName(): Failed<Fault> {
  return fault(
    "invalid_upstream_response",
    "The upstream sent arguments for an unknown tool call.",
  );
}
