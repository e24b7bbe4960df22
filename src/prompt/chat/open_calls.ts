/** The legacy function calls of a conversation that have no result yet. */
export interface OpenCalls<Call> {
  /** Adds the call of a function. */
  add(name: unknown, call: Call): void;
  /** Removes the latest call of the function and returns it; null if no call is open. */
  take(name: unknown): Call | null;
}

/**
 * Returns an empty collection, indexed by name: a linear search for each result would take
 * quadratic time.
 */
export function newOpenCalls<Call>(): OpenCalls<Call> {
  const calls = new Map<unknown, Call[]>();
  return {
    add(name, call) {
      const open = calls.get(name);
      if (open === undefined) calls.set(name, [call]);
      else open.push(call);
    },
    take: (name) => calls.get(name)?.pop() ?? null,
  };
}
