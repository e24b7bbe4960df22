import type { Optional } from "./chat_request/refusals.ts";

/** The legacy function calls of a conversation that have no result yet. */
export interface OpenCalls {
  /** Adds the call of a function. */
  add(name: Optional, id: string): void;
  /** Removes the latest call of the function and returns its ID; null if no call is open. */
  take(name: Optional): string | null;
}

/**
 * Returns an empty collection, indexed by name: a linear search for each result would take
 * quadratic time.
 */
export function newOpenCalls(): OpenCalls {
  const ids = new Map<Optional, string[]>();
  return {
    add(name, id) {
      const open = ids.get(name);
      if (open === undefined) ids.set(name, [id]);
      else open.push(id);
    },
    take: (name) => ids.get(name)?.pop() ?? null,
  };
}
