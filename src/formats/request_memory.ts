import { isObject, type JsonValue } from "../core/json/json.ts";
import { countItems, countSealed, type ItemCounts } from "../core/json/scan.ts";
import { SEALED_PREFIX } from "../core/stream/sealed_text.ts";

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
  return Math.max(text.length, partBytes(countItems(text, Infinity)));
}

/**
 * Returns the bytes of body memory that the JSON in the texts of a stored item needs beyond its
 * text.
 */
export function innerMemoryOf(value: JsonValue | undefined): number {
  if (typeof value === "string") {
    if (value.startsWith(SEALED_PREFIX)) return Math.ceil(countSealed(value) * PART_BYTES);
    const text = value.trim();
    const isJson = (text.startsWith("{") && text.endsWith("}")) ||
      (text.startsWith("[") && text.endsWith("]"));
    if (!isJson) return 0;
    return Math.max(0, partBytes(countItems(value, Infinity)) - value.length);
  }
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + innerMemoryOf(one), 0);
  if (!isObject(value)) return 0;
  let bytes = 0;
  for (const key in value) bytes += innerMemoryOf(value[key]);
  return bytes;
}

/** Returns the bytes of body memory for the parts of a JSON text. */
export function partBytes({ partCount }: ItemCounts): number {
  return Math.ceil(partCount * PART_BYTES);
}
