import { isObject, type JsonValue, parseJson } from "../../../src/core/json/json.ts";
import { at, textAt } from "./json_at.ts";

/** Content of one choice of an answer. */
export interface Choice {
  readonly text: string;
  /** Text of the reasoning, whole or summarized; empty without one. */
  readonly reasoning: string;
  /** Each call of a function: its ID, its name and its arguments as JSON. */
  readonly calls: readonly string[];
  /** Why the choice ends: `end`, `calls` of functions, `length`, or another word of the format. */
  readonly reason: string | null;
}

/** The meaning of an answer in any API: what must be the same for the client and the upstream. */
export interface Answer extends Choice {
  /** The choices after the first one, which only chat has. */
  readonly furtherChoices: readonly Choice[];
  /** Null if the answer does not report them. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** True if the answer has its regular end. */
  readonly isComplete: boolean;
  /** Code or type of the error in the answer. */
  readonly error: string | null;
}

/** The records of an answer: one for a whole answer; undefined for what is not JSON. */
export type Records = readonly (JsonValue | undefined)[];

/** Returns a call of a function as text. */
export function callText(
  id: JsonValue | undefined,
  name: JsonValue | undefined,
  args: JsonValue | undefined,
): string {
  const value = typeof args === "string" ? parseJson(args === "" ? "{}" : args) : args;
  return `${textAt(id)} ${textAt(name)} ${JSON.stringify(value)}`;
}

/** Returns the code or type of the error in a record. */
export function errorOf(value: JsonValue | undefined): string | null {
  const error = at(value, "error");
  if (typeof error === "string") return error;
  if (!isObject(error)) return null;
  const { code, type } = error;
  return typeof code === "string" ? code : typeof type === "string" ? type : "error";
}

/** Returns the first error in the records. */
export function firstError(records: Records): string | null {
  return records.map(errorOf).find((error) => error !== null) ?? null;
}

/** The words of the formats for the regular ends of an answer. */
const REASONS: Readonly<Record<string, string>> = {
  stop: "end",
  end_turn: "end",
  completed: "end",
  tool_calls: "calls",
  tool_use: "calls",
  max_tokens: "length",
  max_output_tokens: "length",
};

/** Returns the reason of the end of an answer. */
export function reasonOf(word: JsonValue | undefined): string | null {
  return typeof word === "string" ? REASONS[word] ?? word : null;
}

/** Returns the reason in a format that has no word for calls of functions. */
export function reasonWithCalls(
  word: JsonValue | undefined,
  calls: readonly string[],
): string | null {
  const reason = reasonOf(word);
  return reason === "end" && calls.length > 0 ? "calls" : reason;
}
