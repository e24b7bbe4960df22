import type { FinishReason, StreamEvent, Usage } from "../../core/events.ts";
import type { Fault } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type Failed, fault, type Result, success } from "../../core/result.ts";
import { calledAs, calledPiece, type CallKind } from "./tool_call.ts";

/** Identity of a generated answer, whole or in chunks. */
export interface Labels {
  /** `chatcmpl-` and 32 hexadecimal digits. */
  readonly id: string;
  /** Seconds since 1970, unless the upstream sends its own. */
  readonly created: number;
  /** The requested model, unless the upstream sends its own. */
  readonly model: string;
  /** The client sent `functions`: it gets `function_call`, and there can be only one. */
  readonly legacyFunctions: boolean;
}

/** One addition to the message of a choice (OpenAI API, streaming). */
export interface ChatDelta {
  readonly delta: JsonObject;
  /** Token log probabilities of its text. */
  readonly logprobs: readonly JsonObject[];
}

/** What is known of an answer beside its message. */
export interface ChatState {
  readonly created: number;
  readonly model: string;
  readonly usage: Usage | null;
  /** Null until the upstream has said why it stopped. */
  readonly finishReason: FinishReason | null;
  readonly moderation: JsonObject | null;
}

/** Reads the events of one answer in the terms of Chat Completions, for streams and whole answers. */
export interface ChatDeltas {
  /** The addition that an event makes to the message; null if it makes none. */
  push(event: StreamEvent): Result<ChatDelta | null>;
  state(): ChatState;
}

/** Fails on what a Chat Completions message has no place for. */
export function newChatDeltas({ created, model, legacyFunctions }: Labels): ChatDeltas {
  let state: ChatState = { created, model, usage: null, finishReason: null, moderation: null };
  const calls = new Map<number, CallKind>();

  function addCall(event: StreamEvent & { type: "tool_call" }): Result<ChatDelta | null> {
    const { index, id, name, kind } = event;
    if (legacyFunctions && (calls.size > 0 || kind === "custom")) return unfitCall();
    calls.set(index, kind);
    const called = calledAs(kind, name, event.arguments ?? "");
    return legacyFunctions
      ? added({ function_call: called.function })
      : added({ tool_calls: [{ index, id, ...called }] });
  }

  function addArguments(index: number, text: string): Result<ChatDelta | null> {
    if (!calls.has(index)) return callWithoutName();
    if (text === "") return success(null);
    return legacyFunctions
      ? added({ function_call: { arguments: text } })
      : added({ tool_calls: [{ index, ...calledPiece(calls.get(index), text) }] });
  }

  return {
    push(event) {
      switch (event.type) {
        case "start":
          state = {
            ...state,
            created: event.created || state.created,
            model: event.model || state.model,
          };
          return success(null);
        case "text":
          return event.delta === "" && event.logprobs === undefined
            ? success(null)
            : added({ content: event.delta }, event.logprobs);
        case "refusal":
          return event.delta === "" ? success(null) : added({ refusal: event.delta });
        case "reasoning":
          return event.delta === "" ? success(null) : added({ reasoning_content: event.delta });
        case "thinking_block":
          return added({ thinking_blocks: [event.value] });
        case "annotation":
          return added({ annotations: [event.value] });
        case "tool_call":
          return addCall(event);
        case "tool_arguments":
          return addArguments(event.index, event.delta);
        case "usage":
          state = { ...state, usage: event.usage };
          return success(null);
        case "finish":
          state = {
            ...state,
            finishReason: event.reason,
            moderation: event.moderation ?? null,
          };
          return success(null);
      }
    },
    state: () => state,
  };
}

function added(delta: JsonObject, logprobs: readonly JsonObject[] = []): Result<ChatDelta> {
  return success({ delta, logprobs });
}

/** The `finish_reason` in the terms of a client that knows tools, or only functions. */
export function finishWord(reason: FinishReason, isLegacy: boolean): string {
  return isLegacy && reason === "tool_calls" ? "function_call" : reason;
}

/** The upstream stopped without a finish reason: the answer may be incomplete. */
export function endedEarly(): Failed<Fault> {
  return fault("invalid_upstream_response", "The upstream's answer ended before it was complete.");
}

/** The legacy shape has room for one call, and only of a function. */
function unfitCall(): Failed<Fault> {
  return fault(
    "invalid_upstream_response",
    "The upstream's answer holds calls beside the one of a function that the client can take; send tools instead of functions.",
  );
}

/** Arguments arrived for a call that was never announced. */
function callWithoutName(): Failed<Fault> {
  return fault(
    "invalid_upstream_response",
    "The upstream sent arguments for an unknown tool call.",
  );
}
