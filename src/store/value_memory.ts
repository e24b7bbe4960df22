/** A value that a provider knows by a token only. */
export interface TokenizedValue {
  readonly core: string;
  readonly label: string;
  readonly value: string;
}

/** Values of the objects that providers store, in the memory of the process. */
export type ValueMemory = ReturnType<typeof newValueMemory>;

/** Maximum size of the values of one object, and of all. */
const MAX_OBJECT_BYTES = 64 * 1024, MAX_BYTES = 8 * 1024 * 1024;

/** Size of a value besides its text, and of an object besides its values. */
const ENTRY_BYTES = 128;

interface Entry {
  readonly values: ReadonlyMap<string, TokenizedValue>;
  readonly bytes: number;
  expires: number;
}

/**
 * Returns an empty memory. An object has its values for a time that each use renews; of too many
 * objects those that were used longest ago are dropped.
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
      const all = new Map<string, TokenizedValue>();
      let size = ENTRY_BYTES + 2 * key.length;
      for (const one of [...find(key, ttlMs), ...values]) {
        const added = ENTRY_BYTES + 2 * one.value.length;
        if (all.has(one.core) || size + added > MAX_OBJECT_BYTES) continue;
        all.set(one.core, one);
        size += added;
      }
      drop(key);
      if (all.size === 0) return;
      entries.set(key, { values: all, bytes: size, expires: now() + ttlMs });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (bytes <= MAX_BYTES) break;
        drop(oldest);
      }
    },
  };
}
