import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type Member,
  parseJson,
} from "../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { atOnce } from "../core/at_once.ts";
import { countItems, type ItemCounts, mayHaveMoreItems } from "../core/json/scan.ts";
import { parseMembers } from "./edit.ts";
import { scanSteps } from "./json_scan.ts";
import { MAX_PARSE_STEPS } from "./parse_limits.ts";
import { MAX_UNCOUNTED_CHARS, partBytes } from "./request_memory.ts";
import { utf8Bytes } from "./utf8.ts";

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

/** Characters of a text that is checked and parsed in one piece, which takes up to 50 ms. */
const MAX_CHARS_AT_ONCE = 8 * 1024 * 1024;

/** Limits of a request that is parsed. */
export interface RequestLimits {
  /** Members and elements on all levels. */
  readonly maxItems: number;
  /** Adds bytes to the body memory of the call; returns the refusal if there is no room. */
  hold(bytes: number): Failed | null;
}

/**
 * Parses the body of a client's request like `parseDocument`. Refused as `request_too_large` if it
 * holds more than `maxItems` members and elements, or its outermost object more than `MAX_MEMBERS`;
 * by `hold` if its members and elements need more memory than there is.
 * Can be interrupted if they are very many.
 */
export function* requestSteps(
  text: string,
  limits: RequestLimits,
  bytes?: Uint8Array<ArrayBuffer>,
): Generator<void, Result<JsonDocument>, void> {
  const { maxItems } = limits;
  const isCounted = text.length > MAX_UNCOUNTED_CHARS || mayHaveMoreItems(text, maxItems);
  const counts = isCounted ? countItems(text, maxItems) : null;
  const refused = counts === null
    ? null
    : holdItems(text, counts, limits) ?? (yield* checkKeys(text, counts, maxItems, bytes));
  if (text.length > MAX_CHARS_AT_ONCE) yield;
  const parsed = refused ?? parseDocument(text, bytes);
  return !parsed.ok || parsed.value.members.length <= MAX_MEMBERS ? parsed : refuse(
    "request_too_large",
    `The request holds more than ${MAX_MEMBERS} members in its outermost object; send fewer.`,
  );
}

/** The same in one piece. */
export function parseRequest(text: string, limits: RequestLimits): Result<JsonDocument> {
  return atOnce(requestSteps(text, limits));
}

/**
 * Adds the members, objects and lists of a JSON text to the body memory, as far as they need more
 * than the text. Returns the refusal, as `request_too_large` above `maxItems`; null if the text may
 * be parsed.
 */
function holdItems(
  text: string,
  counts: ItemCounts,
  { maxItems, hold }: RequestLimits,
): Failed | null {
  if (counts.count > maxItems) {
    return tooMany(`The request holds more than ${maxItems} members and elements of JSON`);
  }
  return hold(Math.max(0, partBytes(counts) - text.length));
}

/**
 * Number of members and elements from which their keys are looked at: fewer take less than 0.1 s to
 * be parsed, whatever their keys. A member takes six characters or more.
 */
const MANY_ITEMS = 50_000, MIN_MEMBER_CHARS = 6;

/** Steps of parsing for each permitted member or element; one with a new key takes 31 or more. */
const STEPS_PER_ITEM_COUNT = 10;

/** Refuses a text with as many new keys that they take longer than `limit` elements may. */
function* checkKeys(
  text: string,
  { count }: ItemCounts,
  limit: number,
  bytes: Uint8Array | undefined,
): Generator<void, Failed | null, void> {
  const isShort = text.length < MIN_MEMBER_CHARS * MANY_ITEMS;
  if (isShort || count <= MANY_ITEMS) return null;
  const maxSteps = Math.max(MAX_PARSE_STEPS, STEPS_PER_ITEM_COUNT * limit);
  const scan = yield* scanSteps(bytes ?? utf8Bytes(text), { maxSteps });
  yield;
  return scan.steps() > maxSteps
    ? tooMany("The request holds too many members of JSON whose keys are all different or numbers")
    : null;
}

function tooMany(what: string): Failed {
  return refuse(
    "request_too_large",
    `${what}; send fewer, or raise server.max_json_members.`,
  );
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
