import type { JsonValue } from "../core/json/json.ts";

/**
 * A map in insertion order with a bounded size. Its values are immutable: an update sets a new
 * value.
 */
export interface BoundedMap<T> {
  get(id: string): T | undefined;
  /** Sets the value of an id. An id that is already in the map keeps its position. */
  set(id: string, value: T): void;
  /** Returns true if the map had this id. */
  delete(id: string): boolean;
  values(): readonly T[];
}

/**
 * Returns a map that evicts its oldest values while it holds more than `maxValues` values or more
 * than `maxCharacters` characters, as counted by `measure`. It never evicts the value that was set
 * last.
 */
export function newBoundedMap<T>(
  limits: { readonly maxValues: number; readonly maxCharacters: number },
  measure: (value: T) => number,
): BoundedMap<T> {
  const entries = new Map<string, { readonly value: T; readonly characters: number }>();
  let total = 0;

  function remove(id: string): boolean {
    total -= entries.get(id)?.characters ?? 0;
    return entries.delete(id);
  }

  return {
    get: (id) => entries.get(id)?.value,
    set(id, value) {
      const characters = measure(value);
      total += characters - (entries.get(id)?.characters ?? 0);
      entries.set(id, { value, characters });
      for (const oldest of entries.keys()) {
        if (entries.size <= limits.maxValues && total <= limits.maxCharacters) return;
        if (oldest !== id) remove(oldest);
      }
    },
    delete: remove,
    values: () => [...entries.values()].map(({ value }) => value),
  };
}

/** Returns the length of a value as JSON, in characters. */
export function jsonLength(value: readonly JsonValue[] | JsonValue): number {
  return JSON.stringify(value).length;
}
