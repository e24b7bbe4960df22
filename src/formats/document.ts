import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type Member,
  parseJson,
} from "../core/json.ts";
import { refuse, type Result, success } from "../core/result.ts";
import { membersOf } from "./edit.ts";

/** Longer keys are not repeated in a message: they may be content. */
const SHOWN_KEY = 64;

/**
 * A request body as a document. Refused as `invalid_json`: no JSON, a value that is no object, and a
 * key that comes twice at the top level, where two readers could each take another value.
 * `bytes` is the text in UTF-8.
 */
export function readDocument(
  text: string,
  bytes?: Uint8Array<ArrayBuffer>,
): Result<JsonDocument> {
  const value = parseJson(text);
  if (value === undefined) {
    return refuse("invalid_json", unreadable(text));
  }
  if (!isObject(value)) {
    return refuse("invalid_json", "The request body is JSON but no object; send a JSON object.");
  }
  const members = membersOf(text);
  if (hasKeyTwice(members, value)) {
    return refuse("invalid_json", repeatedKeyMessage(members.map((member) => member.key)));
  }
  return success(bytes === undefined ? { text, value, members } : { text, bytes, value, members });
}

/** Whether an object is written with a key twice: then two readers may take another value each. */
export function hasKeyTwice(members: readonly Member[], value: JsonObject): boolean {
  return members.length !== Object.keys(value).length;
}

function unreadable(text: string): string {
  if (text.trim() === "") return "The request body is empty; send a JSON object.";
  return "The request body is not valid JSON; send a JSON object.";
}

function repeatedKeyMessage(keys: readonly string[]): string {
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index) ?? "";
  const named = repeated.length <= SHOWN_KEY ? `the key ${JSON.stringify(repeated)}` : "a key";
  return `The request body holds ${named} more than once; send each key once.`;
}

/** The document of a value that the gateway made: its text is what `JSON.stringify` writes. */
export function documentOf(value: JsonObject): JsonDocument {
  const text = JSON.stringify(value);
  return { text, value, members: membersOf(text) };
}

/** The document of `{}`, for requests without a body. */
export const emptyDocument: JsonDocument = {
  text: "{}",
  value: Object.freeze({}),
  members: [],
};
