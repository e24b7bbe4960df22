import { Buffer } from "node:buffer";
import { isObject, type JsonValue } from "../core/json/json.ts";

/** Stateful objects live this many milliseconds. */
export const STATE_TTL_MS = 30 * 60 * 1000;

/** Of each kind of stateful object there are at most so many. */
export const MAX_OBJECTS = 1_000;

/** The stored responses together have at most so many bytes, and so have the local conversations. */
export const MAX_STATE_BYTES = 64 * 1024 * 1024;

/** What an array, an object or a number kept by its text takes in memory beside its text. */
const STRUCTURE_BYTES = 64;

/** What any other value takes in memory beside its text. */
const VALUE_BYTES = 16;

const encoder = new TextEncoder();

/** The bytes that a value takes as JSON text. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}

/**
 * About the bytes that a JSON value takes in memory. Its text alone would not do: an empty object is
 * two characters there and more than sixty bytes here, and a client may send millions of them.
 */
export function heldBytes(value: JsonValue | undefined): number {
  if (typeof value === "string") return VALUE_BYTES + Buffer.byteLength(value);
  if (Array.isArray(value)) {
    return value.reduce<number>((bytes, item) => bytes + heldBytes(item), STRUCTURE_BYTES);
  }
  if (!isObject(value)) return JSON.isRawJSON(value) ? STRUCTURE_BYTES : VALUE_BYTES;
  let bytes = STRUCTURE_BYTES;
  for (const key in value) bytes += Buffer.byteLength(key) + heldBytes(value[key]);
  return bytes;
}
