import type { StreamEvent } from "../../core/events.ts";
import type { JsonObject } from "../../core/json/json.ts";

/** The kind of a call; undefined is a function. */
export type CallKind = (StreamEvent & { readonly type: "tool_call" })["kind"];

/** What a call says beside its id, and as far as it is known (OpenAI API, Chat Completions, tool calls). */
export function calledAs(kind: CallKind, name: string, text: string): JsonObject {
  return kind === "custom"
    ? { type: "custom", custom: { name, input: text } }
    : { type: "function", function: { name, arguments: text } };
}

/** A further piece of what the model wrote for a call. */
export function calledPiece(kind: CallKind, text: string): JsonObject {
  return kind === "custom" ? { custom: { input: text } } : { function: { arguments: text } };
}

/** The `logprobs` of a choice that has told these tokens; null when there are none. */
export function logprobsOf(content: readonly JsonObject[]): JsonObject | null {
  return content.length === 0 ? null : { content: [...content], refusal: null };
}
