import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../src/core/json/json.ts";
import { at } from "../../../scripts/soak/answers/json_at.ts";
import { readAnswer, sseRecords } from "../../../scripts/soak/answers/read.ts";
import { assert } from "../../support/assert.ts";
import type { Column } from "./columns.ts";

/** Response that a client received. */
export interface Seen {
  /** Short text for the page. */
  readonly text: string;
  /** True if the answer is the whole one. */
  readonly isComplete: boolean;
  /** Number of failures in the answer. */
  readonly failures: number;
  /** Content that was delivered. */
  readonly content: string;
}

/** Response that a client received over HTTP. */
export interface SeenResponse extends Seen {
  readonly status: number;
}

/** Reads the answer of a call to its end; fails if records come behind an error. */
export async function look(column: Column, response: Response): Promise<SeenResponse> {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  const { text, isBroken } = await textOf(response);
  if (status !== 200) {
    const error = at(parseJson(text), "error");
    assert(isObject(error), `no error: ${text}`);
    return { status, ...refusedBefore(status, error) };
  }
  if (isBroken) {
    assert(column.delivery === "bytes", "a connection breaks only within bytes");
    return { status, ...brokenBytes(text) };
  }
  const records = type.startsWith("text/event-stream") ? sseRecords(text) : [parseJson(text)];
  const failures = records.filter(isFailure);
  assert(failures.length === 0 || records.at(-1) === failures.at(-1), "records behind an error");
  const { isComplete, content, error } = readContent(column, type, text, records);
  return { status, ...begun({ isComplete, content, error, failures: failures.length }) };
}

/** Returns what a client sees of a call that failed before its response began. */
export function refusedBefore(status: unknown, error: JsonObject): Seen {
  const text = `${status} \`${codeOf(error)}\``;
  return { text, isComplete: false, failures: 1, content: "" };
}

/**
 * Returns what a client sees of bytes whose connection breaks; it may break before the first byte.
 */
export function brokenBytes(content: string): Seen {
  const text = "a part of the bytes at most, then the connection breaks";
  return { text, isComplete: false, failures: 1, content };
}

/** Returns what a client sees of a response that began. */
export function begun({ error, ...seen }: Omit<Seen, "text"> & { readonly error: string }): Seen {
  if (seen.isComplete) return { ...seen, text: "complete answer" };
  const first = seen.content === "" ? "a stream without content" : "part of the answer";
  return { ...seen, text: `${first}, then the error \`${error}\`` };
}

/** Returns the code of an error, or its type without a code. */
export function codeOf({ code, type }: JsonObject): string {
  return typeof code === "string" ? code : String(type);
}

function readContent(
  { format, delivery }: Column,
  type: string,
  text: string,
  records: readonly (JsonValue | undefined)[],
) {
  if (format !== null) {
    const { isComplete, error, text: content } = readAnswer(format, type, text);
    return { isComplete: isComplete && error === null, error: String(error), content };
  }
  // Embeddings and relayed answers; the end of a stream is its `[DONE]`.
  const error = at(records.at(-1), "error");
  const isStream = delivery === "stream";
  return {
    isComplete: !isObject(error) && (!isStream || text.trimEnd().endsWith("[DONE]")),
    error: isObject(error) ? codeOf(error) : "none",
    content: isStream
      ? records.map((record) => at(record, "choices", 0, "text") ?? "").join("")
      : text,
  };
}

/** True if a record is an error of a client API. */
function isFailure(record: JsonValue | undefined): boolean {
  return isObject(at(record, "error")) || at(record, "type") === "error" ||
    at(record, "type") === "response.failed";
}

async function textOf(response: Response) {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let isBroken = false;
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      pieces.push(read.value);
    }
  } catch {
    isBroken = true;
  }
  return { text: await new Blob(pieces).text(), isBroken };
}
