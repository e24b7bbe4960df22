import { type LinkedQueue, newLinkedQueue } from "../../traffic/linked_queue.ts";
import { LEASE_MS } from "../quota_store.ts";

/** Concurrent calls of callers. Each ends by itself after `LEASE_MS` if it is not renewed. */
export interface Leases {
  /** Returns the number of concurrent calls of a caller. */
  count(caller: string): number;
  /** Adds a concurrent call, or renews it. */
  add(caller: string, call: string): void;
  /** Renews a concurrent call; no effect if it has ended. */
  renew(caller: string, call: string): void;
  /** Ends a concurrent call; no effect if it has ended. */
  remove(caller: string, call: string): void;
  /** Number of stored callers. */
  readonly size: number;
}

/**
 * Maximum number of callers with concurrent calls, of which each has at most as many as its limit
 * permits. Above it, the caller whose calls were renewed the longest time ago is removed first.
 */
const MAX_CALLERS = 100_000;

interface Lease {
  readonly call: string;
  readonly endsAt: number;
}

interface Calls {
  /** The leases by their end. */
  readonly queue: LinkedQueue<Lease>;
  readonly byId: Map<string, { readonly lease: Lease; remove(): void }>;
}

/** Returns leases of no calls. `now` returns milliseconds that never go back. */
export function newLeases(now: () => number): Leases {
  const callers = new Map<string, Calls>();

  function add(caller: string, call: string) {
    const calls: Calls = callers.get(caller) ?? { queue: newLinkedQueue(), byId: new Map() };
    calls.byId.get(call)?.remove();
    const lease = { call, endsAt: now() + LEASE_MS };
    calls.byId.set(call, { lease, remove: calls.queue.push(lease) });
    // Moved to the end, because it is the most recently renewed.
    callers.delete(caller);
    callers.set(caller, calls);
    if (callers.size <= MAX_CALLERS) return;
    const [oldest] = callers.keys();
    if (oldest !== undefined) callers.delete(oldest);
  }

  function dropExpired({ queue, byId }: Calls) {
    const time = now();
    for (let first = queue.first; first !== undefined; first = queue.first) {
      if (first.endsAt > time) return;
      queue.shift();
      byId.delete(first.call);
    }
  }

  return {
    count(caller) {
      const calls = callers.get(caller);
      if (calls === undefined) return 0;
      dropExpired(calls);
      if (calls.byId.size === 0) callers.delete(caller);
      return calls.byId.size;
    },
    add,
    renew(caller, call) {
      const known = callers.get(caller)?.byId.get(call);
      if (known !== undefined && known.lease.endsAt > now()) add(caller, call);
    },
    remove(caller, call) {
      const calls = callers.get(caller);
      calls?.byId.get(call)?.remove();
      calls?.byId.delete(call);
      if (calls?.byId.size === 0) callers.delete(caller);
    },
    get size() {
      return callers.size;
    },
  };
}
