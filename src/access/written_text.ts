import { Buffer } from "node:buffer";
import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import { countedBytes } from "./text_bytes.ts";

/** Longest record whose texts are scanned, which takes up to 20 ms. */
export const MAX_SCANNED_CHARS = 1024 * 1024;

/** Longest record in which media are looked for, which takes up to 100 ms. */
const MAX_COUNTED_CHARS = 32 * 1024 * 1024;

/** Longest start, and longest end, of a long record in which its kind is looked for. */
export const MAX_START_CHARS = 64 * 1024;

/**
 * Member of a stream record with the text of the model: `text` in a stream of completions,
 * `message` in one of a local runtime.
 */
export type TextMember = "delta" | "text" | "message";

/** Members in which all that is in them is no text that a model has written. */
const NOT_WRITTEN: ReadonlySet<string> = new Set([
  "type",
  "role",
  "id",
  "call_id",
  "item_id",
  "object",
  "status",
  "finish_reason",
  "stop_reason",
  "signature",
  "thought_signature",
  "encrypted_content",
  // Media and their formats.
  "data",
  "images",
  "url",
  "result",
  "format",
  // The text once more.
  "logprobs",
]);

/** Members of which a model has written all: the input of a call. */
const ALL_WRITTEN: ReadonlySet<string> = new Set(["arguments", "input"]);

/** The reasoning as a text, which some providers send in `reasoning_details` once more. */
const REASONING = /"reasoning(?:_content)?"\s*:\s*"[^"]/;

/**
 * A response or an item of a Responses stream, which no event with a written text has: it repeats
 * schemas and other parts of the request.
 */
const REPEATED = /"(?:response|item)"\s*:\s*\{/;

/**
 * Members of a whole response that hold what a model has written, in the formats of all client
 * APIs.
 */
const WRITTEN = ["choices", "output", "content"] as const;

/**
 * Returns the bytes of the texts in the members of a stream record with this name; 0 for a record
 * without one. The record is scanned, not parsed, because this runs for every record. Of one above
 * 1 MiB all bytes count, apart from media.
 */
export function streamedTextBytes(data: string, member: TextMember = "delta"): number {
  const key = `"${member}"`;
  let hasReasoning: boolean | null = null;
  const isRepeated = () => hasReasoning ??= REASONING.test(data);
  let bytes = 0;
  let at = data.indexOf(key);
  if (at < 0) return 0;
  const before = data.slice(0, Math.min(at, MAX_START_CHARS));
  if (member === "delta" && REPEATED.test(before)) return 0;
  if (data.length > MAX_COUNTED_CHARS) return data.length;
  if (data.length > MAX_SCANNED_CHARS) return countedBytes(data);
  while (at >= 0) {
    const start = valueStart(data, at + key.length);
    // A member with this name of an error is a text.
    const isOther = start < 0 || member === "message" && data[start] !== "{";
    const read = isOther ? { bytes: 0, end: at + key.length } : readTexts(data, start, isRepeated);
    bytes += read.bytes;
    at = data.indexOf(key, read.end);
  }
  return bytes;
}

/** Returns the position of the value after a colon; -1 if none follows. */
function valueStart(data: string, from: number): number {
  let at = from;
  while (data[at] === " ") at += 1;
  if (data[at] !== ":") return -1;
  at += 1;
  while (data[at] === " ") at += 1;
  return at;
}

interface Texts {
  readonly bytes: number;
  /** Position after the value. */
  readonly end: number;
}

/**
 * Reads the texts of a value: a text, or an object with all that is in it. A model has written all
 * of the arguments of a call, which may be an object. `isRepeated` returns true if the reasoning in
 * `reasoning_details` is in the record once more.
 */
function readTexts(data: string, start: number, isRepeated: () => boolean): Texts {
  if (data[start] === '"') {
    const end = textEnd(data, start);
    return { bytes: textBytes(data, start, end), end };
  }
  if (data[start] !== "{") return { bytes: 0, end: start };
  let bytes = 0;
  let depth = 0;
  let key = "";
  /** The reasoning as it is written, which some providers send under two names. */
  let reasoning = "";
  /** The outermost member around here of which nothing or all is counted. */
  let member: { readonly depth: number; readonly isWritten: boolean } | null = null;
  for (let at = start; at < data.length; at++) {
    const character = data[at];
    if (character === "{" || character === "[") {
      const isWritten = ALL_WRITTEN.has(key);
      if (member === null && (isWritten || isLeftOut(key, isRepeated))) {
        member = { depth, isWritten };
      }
      depth += 1;
    }
    if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return { bytes, end: at + 1 };
      if (member?.depth === depth) member = null;
    }
    if (character === ",") key = "";
    if (character !== '"') continue;
    const end = textEnd(data, at);
    if (valueStart(data, end) >= 0) key = data.slice(at + 1, end - 1);
    else if (member?.isWritten ?? !NOT_WRITTEN.has(key)) {
      const isReasoning = member === null && (key === "reasoning" || key === "reasoning_content");
      const written = isReasoning ? data.slice(at, end) : "";
      if (!isReasoning || written !== reasoning) bytes += textBytes(data, at, end);
      if (isReasoning) reasoning = written;
    }
    at = end - 1;
  }
  return { bytes, end: data.length };
}

/** True if no model has written what is in an object or array, or it is in the record once more. */
function isLeftOut(key: string, isRepeated: () => boolean): boolean {
  return NOT_WRITTEN.has(key) || (key === "reasoning_details" && isRepeated());
}

/** Returns the position after the closing quotation mark of a JSON text. */
function textEnd(data: string, start: number): number {
  for (let at = data.indexOf('"', start + 1); at >= 0; at = data.indexOf('"', at + 1)) {
    let before = at - 1;
    while (data[before] === "\\") before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return data.length;
}

/** Returns the bytes of a JSON text without its quotation marks and escapes. */
function textBytes(data: string, start: number, end: number): number {
  const written = data.slice(start + 1, end - 1);
  if (!written.includes("\\")) return Buffer.byteLength(written);
  const text = parseJson(data.slice(start, end));
  return Buffer.byteLength(typeof text === "string" ? text : written);
}

/**
 * Returns the bytes of the texts that a model has written in a whole response of any client API.
 */
export function wholeTextBytes(body: Uint8Array): number {
  const answer = parseJson(new TextDecoder().decode(body));
  if (!isObject(answer)) return 0;
  let bytes = 0;
  const waiting: Waiting[] = WRITTEN.map((name) => ({ value: answer[name], isAll: false }));
  // A queue instead of recursion: responses may exceed the depth of the call stack.
  for (const { value, isAll } of waiting) {
    if (typeof value === "string") bytes += Buffer.byteLength(value);
    else if (Array.isArray(value)) {
      for (const element of value) waiting.push({ value: element, isAll });
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (isAll || !(NOT_WRITTEN.has(name) || isRepeated(name, value))) {
          waiting.push({ value: member, isAll: isAll || ALL_WRITTEN.has(name) });
        }
      }
    }
  }
  return bytes;
}

interface Waiting {
  readonly value: JsonValue | undefined;
  /** True if a model has written all of it. */
  readonly isAll: boolean;
}

/** True if another member of a message has the text of this one. */
function isRepeated(name: string, { reasoning, reasoning_content: content }: JsonObject): boolean {
  if (name === "reasoning_content") return content === reasoning;
  const text = reasoning ?? content;
  return name === "reasoning_details" && typeof text === "string" && text !== "";
}
