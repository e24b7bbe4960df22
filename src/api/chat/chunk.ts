import { isEmpty } from "../../prompt/refusals.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { MAX_CALLS } from "../../core/stream/stream.ts";

/** One choice of a chunk: its index and whether this chunk finishes it. */
export interface ChoiceState {
  readonly index: number;
  readonly isFinished: boolean;
}

/**
 * Returns the choices of a chunk. Some servers omit the index: then there is one choice, index 0.
 */
export function finishesOf(chunk: JsonObject): ChoiceState[] {
  return choicesOf(chunk).map(({ index, finish_reason }) => ({
    index: typeof index === "number" ? index : 0,
    // Some servers send "" as finish reason until the end.
    isFinished: typeof finish_reason === "string" && finish_reason !== "",
  }));
}

/** True if a chunk has content for the client: a role alone or empty content is none. */
export function carriesSomething(chunk: JsonObject): boolean {
  return choicesOf(chunk).some(({ delta, finish_reason }) =>
    !isNothing(finish_reason) || saysSomething(delta)
  );
}

/**
 * True if the filter of the provider has ended all choices of a chunk or a completion, and they
 * have no content. `member` is where a choice has it.
 */
export function isFiltered(chunk: JsonObject, member: "delta" | "message"): boolean {
  const choices = choicesOf(chunk);
  return choices.length > 0 &&
    choices.every((choice) =>
      choice.finish_reason === "content_filter" && !saysSomething(choice[member])
    );
}

/** True if a delta or a message has more than a role. */
function saysSomething(message: JsonValue | undefined): boolean {
  return isObject(message) &&
    Object.entries(message).some(([key, value]) => key !== "role" && !isNothing(value));
}

/**
 * Maximum number of choices of a response; Chat Completions has at most 128. Each takes many times
 * as long to read as a call.
 */
export const MAX_CHOICES = 1_000;

/**
 * True if a chunk or a completion has too many choices, or too many calls in them. `member` is
 * where a choice has its calls.
 */
export function hasTooMany(chunk: JsonObject, member: "delta" | "message"): boolean {
  const choices = choicesOf(chunk);
  let count = 0;
  for (const { [member]: message } of choices) {
    if (isObject(message) && Array.isArray(message.tool_calls)) count += message.tool_calls.length;
  }
  return choices.length > MAX_CHOICES || count > MAX_CALLS;
}

/** True if a chunk has pieces of tool calls. */
export function hasCalls(chunk: JsonObject): boolean {
  return choicesOf(chunk).some(({ delta }) => isObject(delta) && !isNothing(delta.tool_calls));
}

function choicesOf(chunk: JsonObject): JsonObject[] {
  return Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === "" || isEmpty(value);
}
