import { isObject, type JsonValue } from "../core/json/json.ts";
import { countItems, endOfString, type ItemCounts } from "../core/json/scan.ts";
import { SEALED_PREFIX } from "../core/stream/reasoning.ts";
import { sealedText } from "./sealed_text.ts";

/**
 * Text whose members and elements are not counted for their memory, in characters. As many as a
 * gateway serves at once by default take 1.1 GB (measured), and 3 GB if all keys are indexes.
 */
export const MAX_UNCOUNTED_CHARS = 32 * 1024;

/**
 * Bytes of body memory for each part of a request. Measured: the members, objects and lists of the
 * messages of a translated request take 300 of the process each, and eight are planned for each
 * byte of body memory.
 */
const PART_BYTES = 40;

/** Returns the bytes of body memory of a request that the gateway itself has written. */
export function memoryOf(text: string): number {
  if (text.length <= MAX_UNCOUNTED_CHARS) return text.length;
  return Math.max(text.length, partBytes(text, countItems(text, Infinity)));
}

/**
 * Returns the bytes of body memory that the JSON in the texts of a stored item needs beyond its
 * text.
 */
export function innerMemoryOf(value: JsonValue | undefined): number {
  if (typeof value === "string") {
    if (value.startsWith(SEALED_PREFIX)) return Math.ceil(partsOfSealed(value) * PART_BYTES);
    const text = value.trim();
    const isJson = (text.startsWith("{") && text.endsWith("}")) ||
      (text.startsWith("[") && text.endsWith("]"));
    if (!isJson) return 0;
    return Math.max(0, partBytes(value, countItems(value, Infinity)) - value.length);
  }
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + innerMemoryOf(one), 0);
  if (!isObject(value)) return 0;
  let bytes = 0;
  for (const key in value) bytes += innerMemoryOf(value[key]);
  return bytes;
}

/** Returns the bytes of body memory for the parts of a JSON text, also those of sealed texts. */
export function partBytes(text: string, { partCount }: ItemCounts): number {
  return Math.ceil((partCount + sealedParts(text)) * PART_BYTES);
}

/** Beginning of a sealed text in a JSON text, in which it has no escapes. */
const SEALED_START = `"${SEALED_PREFIX}`;

/**
 * The part of it that is looked for. V8 has a faster search for up to 6 characters: 13 µs instead
 * of 97 for 200 kB without a sealed text.
 */
const SEARCHED = SEALED_START.slice(0, 6);

/** Returns the parts of the JSON in the texts of `sealText` of a JSON text. */
function sealedParts(text: string): number {
  let count = 0;
  for (let at = text.indexOf(SEARCHED); at >= 0; at = text.indexOf(SEARCHED, at + 1)) {
    if (!text.startsWith(SEALED_START, at)) continue;
    count += partsOfSealed(text.slice(at + 1, endOfString(text, at) - 1));
  }
  return count;
}

/** Returns the parts of the JSON in a text of `sealText`; 0 for any other text. */
function partsOfSealed(sealed: string): number {
  const inner = sealedText(sealed);
  return inner === null ? 0 : countItems(inner, Infinity).partCount;
}
