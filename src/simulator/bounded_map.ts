import type { JsonValue } from "../core/json/json.ts";

/** What is stored of one kind, newest last. Values are never changed: a changed one is put again. */
export interface BoundedMap<T> {
  get(id: string): T | undefined;
  /** A value that is put again keeps its place. */
  set(id: string, value: T): void;
  /** Whether there was one. */
  delete(id: string): boolean;
  values(): readonly T[];
}

/**
 * A shelf that makes room by dropping what was put first: at most so many values, and so many
 * characters as `measure` counts them. The value put last always stays.
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

/** The length of a value as JSON. */
export function jsonLength(value: readonly JsonValue[] | JsonValue): number {
  return JSON.stringify(value).length;
}
