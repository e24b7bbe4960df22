import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A stream as a client read it, checked: whole records, and one terminal that is the last. */
export interface Delivered {
  /** `complete`: a finish chunk and `[DONE]`; `broken`: one error chunk and `[DONE]`. */
  readonly ending: "complete" | "broken";
  /** Everything before the terminal, parsed; comments are left out. */
  readonly chunks: readonly JsonObject[];
  /** The text of each of them. */
  readonly texts: readonly string[];
}

/** Reads what a client received; fails unless it keeps every promise about the end of a stream. */
export function delivered(text: string): Delivered {
  assert(text.endsWith("\n\n") || text.endsWith("\r\n\r\n"), `ends inside a record: ${tail(text)}`);
  const records = text.split(/\r?\n\r?\n/).slice(0, -1).flatMap(dataOf);
  assertEquals(records.filter((record) => record === "[DONE]").length, 1, tail(text));
  assertEquals(records.at(-1), "[DONE]", tail(text));
  const texts = records.slice(0, -1);
  const values = texts.map((record) => {
    const value = parseJson(record);
    assert(isObject(value), `not a JSON object: ${record}`);
    return value;
  });
  const errors = values.filter((value) => value.error !== undefined);
  if (errors.length === 0) {
    assert(values.some(isFinish), `no finish chunk: ${tail(text)}`);
    return { ending: "complete", chunks: values, texts };
  }
  assertEquals(errors, [values.at(-1)], "one error chunk, and it is the last");
  const [error] = errors;
  assert(isObject(error?.error), tail(text));
  const { message, ...rest } = error.error;
  assertEquals(typeof message, "string");
  assertEquals(rest, { type: "upstream_error", param: null, code: "upstream_stream_error" });
  assertEquals(Object.keys(error), ["error"], "clients that see choices lose the error");
  return { ending: "broken", chunks: values.slice(0, -1), texts: texts.slice(0, -1) };
}

function dataOf(block: string): string[] {
  const lines = block.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
}

/** Whether a chunk finishes a choice. */
export function isFinish(chunk: JsonObject): boolean {
  return choicesOf(chunk).some((choice) => typeof choice.finish_reason === "string");
}

/** The choices of a chunk. */
export function choicesOf(chunk: JsonObject): readonly JsonObject[] {
  return Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
}

/** All content of a stream, joined. */
export function contentOf({ chunks }: Delivered): string {
  return chunks.flatMap(choicesOf).map(({ delta }) =>
    isObject(delta) && typeof delta.content === "string" ? delta.content : ""
  ).join("");
}

function tail(text: string): string {
  return JSON.stringify(text.slice(-300));
}

/** Fails unless this is an error answer in the envelope with such a status and code. */
export function assertRefused(status: number, text: string, wanted: number, codes: RegExp): void {
  assertEquals(status, wanted, text);
  const body = parseJson(text);
  assert(isObject(body) && isObject(body.error), text);
  assert(typeof body.error.message === "string" && typeof body.error.code === "string", text);
  assert(codes.test(body.error.code), text);
}
