import { Buffer } from "node:buffer";
import { isObject, type JsonValue } from "../core/json/json.ts";
import type { OwnedReasoning } from "../core/stream/reasoning.ts";
import type { StateSettings } from "./settings.ts";

/** Overhead in memory of an array, an object or a number stored as text, besides its text. */
const STRUCTURE_BYTES = 64;

/** Overhead in memory of any other value, besides its text. */
const VALUE_BYTES = 16;

/** A key that is an index of an array, for which V8 keeps up to 35 places, and their bytes. */
const INDEX = /^\d{1,10}$/, INDEX_BYTES = 280;

const encoder = new TextEncoder();

/** Returns the size of a value as JSON text in bytes. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}

/**
 * Returns the approximate size of a JSON value in memory in bytes. The length of its text would be
 * wrong: an empty object has two characters as text and more than sixty bytes in memory, and a
 * client may send millions of them.
 */
export function heldBytes(value: JsonValue | undefined): number {
  if (typeof value === "string") return VALUE_BYTES + textBytes(value);
  if (Array.isArray(value)) {
    return value.reduce<number>((bytes, item) => bytes + heldBytes(item), STRUCTURE_BYTES);
  }
  if (!isObject(value)) return JSON.isRawJSON(value) ? STRUCTURE_BYTES : VALUE_BYTES;
  let bytes = STRUCTURE_BYTES;
  for (const key in value) {
    bytes += (INDEX.test(key) ? INDEX_BYTES : textBytes(key)) + heldBytes(value[key]);
  }
  return bytes;
}

/** Length up to which a text is measured here: a call of the runtime takes longer. */
const MAX_SHORT_CHARS = 32;

function textBytes(text: string): number {
  if (text.length > MAX_SHORT_CHARS) return Buffer.byteLength(text);
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return Buffer.byteLength(text);
  }
  return text.length;
}

/** Returns the size of stored reasoning with its key in bytes of memory. */
export function reasoningBytes(key: string, { account, blocks }: OwnedReasoning): number {
  const rest = heldBytes(key) + heldBytes(account);
  return blocks.reduce((bytes, { value }) => bytes + heldBytes(value), rest);
}

/** Bounds of the stored objects. */
export interface Retention {
  /** Lifetime in milliseconds. */
  readonly ttlMs: number;
  /** Lifetime of the owners of files, batches and uploads after their last use in milliseconds. */
  readonly ownerTtlMs: number;
  /** Maximum number of objects of each type. */
  readonly maxObjects: number;
  /** Maximum bytes of all responses, and of all conversations. */
  readonly maxBytes: number;
}

/** Returns the bounds that the settings of the state store name. */
export function retentionOf(
  { ttl, owner_ttl, max_entries, max_bytes }: Pick<
    StateSettings,
    "ttl" | "owner_ttl" | "max_entries" | "max_bytes"
  >,
): Retention {
  return { ttlMs: ttl, ownerTtlMs: owner_ttl, maxObjects: max_entries, maxBytes: max_bytes };
}

/** Bounds without configuration. */
export const DEFAULT_RETENTION: Retention = {
  ttlMs: 30 * 60 * 1000,
  ownerTtlMs: 30 * 24 * 60 * 60 * 1000,
  maxObjects: 1_000,
  maxBytes: 64 * 1024 * 1024,
};

/** Mean bytes of a binding up to which `maxObjects` bindings of one type are stored. */
const MAX_BINDING_BYTES = 1_024;

/**
 * Bytes of the bindings of one type that are stored in any case, so that a few may have long IDs.
 */
const MIN_BINDINGS_BYTES = 1_024_000;

/** Returns the bounds of the bindings of one type of object. */
export function bindingBounds({ maxObjects }: Retention): {
  readonly entries: number;
  readonly bytes: number;
} {
  const bytes = Math.max(maxObjects * MAX_BINDING_BYTES, MIN_BINDINGS_BYTES);
  return { entries: maxObjects, bytes };
}

/** Maximum number of files, batches and uploads with an owner for each object of another type. */
const MAX_RELAYED_RATIO = 50;

/** Mean bytes of the owner of a file up to which that many are stored. */
const MAX_RELAYED_OWNER_BYTES = 320;

/**
 * Returns the bounds of the owners of files, batches and uploads, which are stored for weeks: a
 * client finds its batch when it is done, and its files while it needs them.
 */
export function relayedOwnerBounds({ maxObjects }: Pick<Retention, "maxObjects">): {
  readonly entries: number;
  readonly bytes: number;
} {
  const entries = maxObjects * MAX_RELAYED_RATIO;
  return { entries, bytes: Math.max(entries * MAX_RELAYED_OWNER_BYTES, MIN_BINDINGS_BYTES) };
}

/** Types of objects that providers store with tokens in the place of values. */
const VALUED_TYPES_COUNT = 3;

/** Maximum bytes of the values of the objects that providers store. */
export const MAX_PRIVACY_VALUE_BYTES = 8 * 1024 * 1024;

/** Returns the bounds of the values of the objects that providers store. */
export function privacyValueBounds({ maxObjects }: Pick<Retention, "maxObjects">): {
  readonly entries: number;
  readonly bytes: number;
} {
  return { entries: maxObjects * VALUED_TYPES_COUNT, bytes: MAX_PRIVACY_VALUE_BYTES };
}

/** Bounds of the stored reasoning. */
export interface ReasoningBounds {
  /**
   * Maximum number of responses whose reasoning is stored, and of those that one caller has
   * received.
   */
  readonly entries: number;
  readonly creatorEntries: number;
  /** Maximum bytes of all stored reasoning, and of that of one caller. */
  readonly bytes: number;
  readonly creatorBytes: number;
}

/**
 * Returns the bounds of the stored reasoning. A dialogue stores it for every turn with tool calls,
 * so there are more entries than other objects.
 */
export function reasoningBounds({ maxObjects, maxBytes }: Retention): ReasoningBounds {
  return {
    entries: maxObjects * 10,
    creatorEntries: maxObjects * 4,
    bytes: maxBytes,
    creatorBytes: Math.floor(maxBytes / 2),
  };
}
