import { isUtf8 } from "node:buffer";
import { type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import type { JsonOutline } from "../core/stream/reply.ts";

/** Longest key with escapes that is compared with the names of needed members. */
const MAX_NAME_BYTES = 64;

/** Largest member of an outline that is parsed. */
const MAX_MEMBER_BYTES = 64 * 1024;

const SPACE = 32, BACKSLASH = 92, OPEN_ARRAY = 91, OPEN_OBJECT = 123;

/** Place of a needed member in a JSON text. */
export interface FoundMember {
  readonly start: number;
  end: number;
  /** Number of elements of an array, and the place of the last one. */
  length: number;
  lastStart: number;
  lastEnd: number;
}

/** Returns a member whose value begins at this place. */
export function newFoundMember(start: number): FoundMember {
  return { start, end: start, length: 0, lastStart: start, lastEnd: start };
}

/** True if a short name between two places is written with an escape. */
export function isEscapedName(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_NAME_BYTES) return false;
  for (let at = start; at < end; at++) {
    if (bytes[at] === BACKSLASH) return true;
  }
  return false;
}

/**
 * Returns the needed name, of ASCII, that is written between two places without escapes; null for
 * any other one.
 */
export function findName(
  bytes: Uint8Array,
  start: number,
  end: number,
  needed: readonly string[],
): string | null {
  return needed.find((name) => isWritten(name, bytes, start, end)) ?? null;
}

function isWritten(name: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = 0; at < name.length; at++) {
    if (bytes[start + at] !== name.charCodeAt(at)) return false;
  }
  return true;
}

/**
 * Returns the needed name that is written between two places with escapes; null for any other one.
 */
export function parseName(
  bytes: Uint8Array,
  start: number,
  end: number,
  needed: readonly string[],
): string | null {
  const name = parseJson(`"${new TextDecoder().decode(bytes.subarray(start, end))}"`);
  return needed.find((one) => one === name) ?? null;
}

/** Returns the outline of a JSON text with these members; null if it is no object or not UTF-8. */
export function outlineOf(
  bytes: Uint8Array,
  found: ReadonlyMap<string, FoundMember>,
): JsonOutline | null {
  let first = 0;
  while ((bytes[first] ?? Infinity) <= SPACE) first++;
  if (bytes[first] !== OPEN_OBJECT || !isUtf8(bytes)) return null;
  const lengths = new Map<string, number>();
  const value: JsonObject = {};
  for (const [name, { start, end, length, lastStart, lastEnd }] of found) {
    if (bytes[start] === OPEN_ARRAY) {
      lengths.set(name, length);
      const last = length === 0 ? undefined : parsePart(bytes.subarray(lastStart, lastEnd));
      value[name] = last === undefined ? [] : [last];
    } else value[name] = parsePart(bytes.subarray(start, end));
  }
  return { value, lengths };
}

/**
 * Parses a part of a text. A large object is empty, because an error is one at any size; any other
 * large value is left out.
 */
function parsePart(part: Uint8Array): JsonValue | undefined {
  if (part.length <= MAX_MEMBER_BYTES) return parseJson(new TextDecoder().decode(part));
  return part[0] === OPEN_OBJECT ? {} : undefined;
}
