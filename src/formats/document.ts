import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type Member,
  parseJson,
} from "../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { hasMoreItems } from "../core/json/scan.ts";
import { parseMembers } from "./edit.ts";

/** Length limit of a key in an error message: longer keys may be content. */
const MAX_SHOWN_KEY_CHARS = 64;

/**
 * Parses a request body. Refuses a body as `invalid_json` if it is not JSON, not an object, or
 * repeats a key at the top level, because two parsers could read different values then. `bytes` is
 * the text in UTF-8.
 */
export function parseDocument(
  text: string,
  bytes?: Uint8Array<ArrayBuffer>,
): Result<JsonDocument> {
  const value = parseJson(text);
  if (value === undefined) {
    return refuse("invalid_json", invalidJsonMessage(text));
  }
  if (!isObject(value)) {
    return refuse("invalid_json", "The request body must be a JSON object.");
  }
  return documentOf(text, value, bytes);
}

/** Returns the document of a text whose value is known, refused like that of `parseDocument`. */
export function documentOf(
  text: string,
  value: JsonObject,
  bytes?: Uint8Array<ArrayBuffer>,
  members = parseMembers(text),
): Result<JsonDocument> {
  if (hasKeyTwice(members, value)) {
    return refuse("invalid_json", repeatedKeyMessage(members));
  }
  return success(bytes === undefined ? { text, value, members } : { text, bytes, value, members });
}

/** True if the text of an object repeats a key: two parsers could read different values then. */
export function hasKeyTwice(members: readonly Member[], value: JsonObject): boolean {
  return members.length !== Object.keys(value).length;
}

function invalidJsonMessage(text: string): string {
  if (text.trim() === "") return "The request body is empty; send a JSON object.";
  return "The request body is not valid JSON; send a JSON object.";
}

function repeatedKeyMessage(members: readonly Member[]): string {
  const repeated = findRepeatedKey(members);
  const named = repeated.length <= MAX_SHOWN_KEY_CHARS
    ? `the key ${JSON.stringify(repeated)}`
    : "a key";
  return `The request body holds ${named} more than once; send each key once.`;
}

function findRepeatedKey(members: readonly Member[]): string {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return "";
}

/**
 * Maximum number of members of the outermost object: each is compared with the fields of an
 * endpoint.
 */
const MAX_MEMBERS = 10_000;

/**
 * Parses the body of a client's request like `parseDocument`. Refused as `request_too_large` if it
 * holds more than `maxItems` members and elements, or its outermost object more than `MAX_MEMBERS`.
 */
export function parseRequest(
  text: string,
  maxItems: number,
  bytes?: Uint8Array<ArrayBuffer>,
): Result<JsonDocument> {
  const parsed = checkItems(text, maxItems) ?? parseDocument(text, bytes);
  return !parsed.ok || parsed.value.members.length <= MAX_MEMBERS ? parsed : refuse(
    "request_too_large",
    `The request holds more than ${MAX_MEMBERS} members in its outermost object; send fewer.`,
  );
}

/**
 * Refuses a JSON text with more than `limit` members and elements as `request_too_large`; null if
 * it may be parsed. Costs a small part of parsing, and nothing for a short text.
 */
export function checkItems(text: string, limit: number): Failed | null {
  return hasMoreItems(text, limit)
    ? refuse(
      "request_too_large",
      `The request holds more than ${limit} members and elements of JSON; send fewer, or raise server.max_json_members.`,
    )
    : null;
}

/**
 * Returns the document of a value that the gateway built; its text is written by `JSON.stringify`.
 */
export function newDocument(value: JsonObject): JsonDocument {
  const text = JSON.stringify(value);
  return { text, value, members: parseMembers(text) };
}

/** Document of the empty object `{}`, for requests without a body. */
export const emptyDocument: JsonDocument = {
  text: "{}",
  value: Object.freeze({}),
  members: [],
};
