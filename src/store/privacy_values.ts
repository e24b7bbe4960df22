import type { Creator } from "./bindings.ts";
import type { Stored } from "./object_store.ts";

/** A value that a provider knows by a token only. */
export interface TokenizedValue {
  readonly core: string;
  readonly label: string;
  readonly value: string;
}

/**
 * An object that a provider stores. The client is part of it: an ID alone does not give anyone the
 * values of another client.
 */
export interface ValuedObject {
  readonly creator: Creator;
  readonly id: string;
}

/** The values of an object, and how they are written in it. */
export interface ValuesOfObject {
  readonly values: readonly TokenizedValue[];
  /** True if the object is an answer whose text is JSON. */
  readonly isJsonText: boolean;
}

/** Values of an object that has none. */
export const NO_VALUES_OF_OBJECT: ValuesOfObject = { values: [], isJsonText: false };

/** Values of the objects that providers store, in a store that encrypts them. */
export interface PrivacyValues {
  /** Returns the values of each of these objects; their lifetime starts with their last use. */
  find(objects: readonly ValuedObject[]): Stored<readonly ValuesOfObject[]>;
  /** Adds values to those of an object. Values beyond the size of an object are left out. */
  add(object: ValuedObject, added: ValuesOfObject): Stored<void>;
}

/** Maximum size of the values of one object. */
const MAX_OBJECT_BYTES = 64 * 1024;

/** Size of a value besides its text, and of an object besides its values. */
const ENTRY_BYTES = 128;

/** Values of one object by their cores, and their size. */
export interface MergedValues {
  readonly values: ReadonlyMap<string, TokenizedValue>;
  readonly bytes: number;
}

/** Returns the text that identifies an object. */
export function valuedKey({ creator, id }: ValuedObject): string {
  return JSON.stringify([creator, id]);
}

/** Adds values to those of an object, as many as it may have. */
export function mergeValues(
  key: string,
  earlier: Iterable<TokenizedValue>,
  added: Iterable<TokenizedValue>,
): MergedValues {
  const values = new Map<string, TokenizedValue>();
  let bytes = ENTRY_BYTES + 2 * key.length;
  for (const list of [earlier, added]) {
    for (const one of list) {
      const size = ENTRY_BYTES + 2 * one.value.length;
      if (values.has(one.core) || bytes + size > MAX_OBJECT_BYTES) continue;
      values.set(one.core, one);
      bytes += size;
    }
  }
  return { values, bytes };
}
