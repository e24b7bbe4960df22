import {
  mergeValues,
  type PrivacyValues,
  type TokenizedValue,
  valuedKey,
  type ValuedObject,
} from "./privacy_values.ts";
import { MAX_PRIVACY_VALUE_BYTES } from "./retention.ts";

/** Values of the objects that providers store, as calls use them. */
export interface ObjectValues {
  /** Returns the values of these objects, as far as they are known. `ttlMs` is their new lifetime. */
  find(objects: readonly ValuedObject[], ttlMs: number): Promise<readonly TokenizedValue[]>;
  /** Adds values to those of an object. */
  add(object: ValuedObject, values: readonly TokenizedValue[], ttlMs: number): Promise<void>;
}

/** Values of a gateway that stores nothing. */
export const NO_VALUES: ObjectValues = {
  find: () => Promise.resolve([]),
  add: () => Promise.resolve(),
};

/**
 * Returns values that are in the memory of the process and in a store that encrypts, if there is
 * one: without it nothing is written. While the store is unavailable the process knows its own.
 */
export function newObjectValues(
  memory: ReturnType<typeof newValueMemory>,
  stored: PrivacyValues | null,
): ObjectValues {
  return {
    async find(objects, ttlMs) {
      const own = objects.flatMap((one) => [...memory.find(valuedKey(one), ttlMs)]);
      const found = objects.length === 0 ? undefined : await stored?.find(objects);
      return found?.ok === true ? [...own, ...found.value] : own;
    },
    async add(object, values, ttlMs) {
      memory.add(valuedKey(object), values, ttlMs);
      await stored?.add(object, values);
    },
  };
}

interface Entry {
  readonly values: ReadonlyMap<string, TokenizedValue>;
  readonly bytes: number;
  expires: number;
}

/**
 * Returns an empty memory of the process. An object has its values for a time that each use renews;
 * of too many objects those that were used longest ago are dropped.
 */
export function newValueMemory(now: () => number) {
  const entries = new Map<string, Entry>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function find(key: string, ttlMs: number): Iterable<TokenizedValue> {
    const entry = entries.get(key);
    if (entry === undefined) return [];
    entries.delete(key);
    if (entry.expires <= now()) {
      bytes -= entry.bytes;
      return [];
    }
    // The last one of the map is the one that was used last.
    entries.set(key, entry);
    entry.expires = now() + ttlMs;
    return entry.values.values();
  }

  return {
    find,
    /** Adds values to those of an object. Values beyond the size of an object are left out. */
    add(key: string, values: Iterable<TokenizedValue>, ttlMs: number): void {
      const merged = mergeValues(key, find(key, ttlMs), values);
      drop(key);
      if (merged.values.size === 0) return;
      entries.set(key, { ...merged, expires: now() + ttlMs });
      bytes += merged.bytes;
      for (const oldest of entries.keys()) {
        if (bytes <= MAX_PRIVACY_VALUE_BYTES) break;
        drop(oldest);
      }
    },
  };
}
