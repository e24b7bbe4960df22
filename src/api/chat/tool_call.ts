import type { StreamEvent } from "../../core/stream/events.ts";
import type { JsonObject } from "../../core/json/json.ts";

/** The kind of a tool call; undefined is a function. */
export type CallKind = (StreamEvent & { readonly type: "tool_call" })["kind"];

/**
 * Returns the fields of a tool call other than its id (OpenAI API, Chat Completions, tool calls).
 */
export function calledAs(kind: CallKind, name: string, text: string): JsonObject {
  return kind === "custom"
    ? { type: "custom", custom: { name, input: text } }
    : { type: "function", function: { name, arguments: text } };
}

/** Returns a further piece of the arguments or input of a tool call. */
export function calledPiece(kind: CallKind, text: string): JsonObject {
  return kind === "custom" ? { custom: { input: text } } : { function: { arguments: text } };
}

/** Returns the `logprobs` of a choice from its tokens; null for no tokens. */
export function logprobsOf(content: readonly JsonObject[]): JsonObject | null {
  return content.length === 0 ? null : { content: [...content], refusal: null };
}
