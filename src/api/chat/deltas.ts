import type { FinishReason, StreamEvent, Usage } from "../../core/stream/events.ts";
import type { Fault } from "../../core/failure/failure.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type CallingReasoning, newReasoningCollector } from "../../core/stream/reasoning.ts";
import { type Failed, invalidResponse, type Result, success } from "../../core/failure/result.ts";
import { keptName } from "../../core/text_beginning.ts";
import { calledAs, calledPiece, type CallKind } from "./tool_call.ts";

/** Identity of a generated response, whole or in chunks. */
export interface Labels {
  /** `chatcmpl-` and 32 hexadecimal digits. */
  readonly id: string;
  /** Seconds since 1970, unless the upstream sends its own. */
  readonly created: number;
  /** The requested model, unless the upstream sends its own. */
  readonly model: string;
  /** True if the client sent `functions`: the response then has one `function_call` at most. */
  readonly legacyFunctions: boolean;
}

/** One addition to the message of a choice (OpenAI API, streaming). */
export interface ChatDelta {
  readonly delta: JsonObject;
  /** Token log probabilities of the delta's text. */
  readonly logprobs: readonly JsonObject[];
}

/** Fields of a response other than its message. */
export interface ChatState {
  readonly created: number;
  readonly model: string;
  readonly usage: Usage | null;
  /** Null until the upstream has sent its finish reason. */
  readonly finishReason: FinishReason | null;
  readonly moderation: JsonObject | null;
}

/**
 * Translation of the events of one response into Chat Completions deltas, for streams and whole
 * responses.
 */
export interface ChatDeltas {
  /** Returns the delta of an event; null if the event adds nothing to the message. */
  push(event: StreamEvent): Result<ChatDelta | null>;
  state(): ChatState;
  /** Returns the reasoning to store for a client that does not send it back; null for none. */
  reasoning(): CallingReasoning | null;
  /** Returns the characters that are held for the reasoning. */
  heldChars(): number;
}

/**
 * Returns a translation of events into deltas. Fails on events that a chat message cannot
 * represent. Of a long model name there is the beginning: each chunk has it.
 */
export function newChatDeltas({ created, model, legacyFunctions }: Labels): ChatDeltas {
  let state: ChatState = {
    created,
    model: keptName(model),
    usage: null,
    finishReason: null,
    moderation: null,
  };
  const calls = new Map<number, CallKind>();
  const reasoning = newReasoningCollector();

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
    if (!calls.has(index)) {
      return invalidResponse("The provider sent arguments for an unknown tool call.");
    }
    if (text === "") return success(null);
    return legacyFunctions
      ? added({ function_call: { arguments: text } })
      : added({ tool_calls: [{ index, ...calledPiece(calls.get(index), text) }] });
  }

  return {
    push(event) {
      // A legacy call has no ID by which its reasoning could be found.
      if (!legacyFunctions) reasoning.push(event);
      switch (event.type) {
        case "start":
          state = {
            ...state,
            created: event.created || state.created,
            model: keptName(event.model || state.model),
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
        case "reasoning_item":
          return success(null);
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
    reasoning: () => reasoning.value(),
    heldChars: () => reasoning.heldChars(),
  };
}

function added(delta: JsonObject, logprobs: readonly JsonObject[] = []): Result<ChatDelta> {
  return success({ delta, logprobs });
}

/** Returns the `finish_reason` for a client that uses tools, or legacy functions. */
export function finishWord(reason: FinishReason, isLegacy: boolean): string {
  return isLegacy && reason === "tool_calls" ? "function_call" : reason;
}

/**
 * Returns the fault of a call that the legacy format cannot hold: it has one call, of a function.
 */
function unfitCall(): Failed<Fault> {
  return invalidResponse(
    "The model made calls that the legacy functions format cannot return: it has one call, of a function. Send tools instead.",
  );
}
