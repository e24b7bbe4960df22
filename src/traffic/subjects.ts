/** Clients that the configuration does not name, and whose limits this process counts. */
export interface Subjects {
  /**
   * Begins a call of a client. Returns false if the pool counts `max` clients, all of which have
   * used something that still counts. A client that has nothing left to count makes room.
   */
  enter(pool: string, client: string, max: number): boolean;
  /**
   * Ends a call of a client. `busyMs` is the time for which its use counts at least; `refillMs` the
   * time by which it delays the moment at which its rates are full again.
   */
  leave(pool: string, client: string, use: SubjectUse): void;
  /** Returns the name, or `OTHER_CLIENT` if usage of a day has rows of too many clients. */
  usageName(day: string, name: string): string;
  /** Number of counted clients. */
  readonly size: number;
}

/** Maximum number of clients with tokens whose limits a process counts, and with rows of a day. */
export const MAX_SUBJECTS = 10_000;

/** Row of usage of all clients for which there is no row. */
export const OTHER_CLIENT = "_other";

/** How long the use of a call counts, in milliseconds. */
export interface SubjectUse {
  readonly busyMs: number;
  readonly refillMs: number;
}

interface Entry {
  calls: number;
  busyUntilMs: number;
  fullAtMs: number;
}

interface Pool {
  readonly clients: Map<string, Entry>;
  /** Earliest time at which a client may have nothing left to count. */
  firstIdleMs: number;
}

/** Returns no clients. `now` returns milliseconds that never go back. */
export function newSubjects(now: () => number): Subjects {
  const pools = new Map<string, Pool>();
  const rows = { day: "", names: new Set<string>() };

  function makeRoom(pool: Pool): void {
    const time = now();
    if (time < pool.firstIdleMs) return;
    pool.firstIdleMs = Infinity;
    for (const [client, { calls, busyUntilMs, fullAtMs }] of pool.clients) {
      if (calls > 0) continue;
      const idleMs = Math.max(busyUntilMs, fullAtMs);
      if (idleMs <= time) pool.clients.delete(client);
      else pool.firstIdleMs = Math.min(pool.firstIdleMs, idleMs);
    }
  }

  return {
    enter(name, client, max) {
      const pool = pools.get(name) ?? { clients: new Map(), firstIdleMs: 0 };
      pools.set(name, pool);
      const known = pool.clients.get(client);
      if (known !== undefined) {
        known.calls += 1;
        return true;
      }
      if (pool.clients.size >= max) makeRoom(pool);
      if (pool.clients.size >= max) return false;
      pool.clients.set(client, { calls: 1, busyUntilMs: 0, fullAtMs: 0 });
      return true;
    },
    leave(name, client, { busyMs, refillMs }) {
      const pool = pools.get(name);
      const entry = pool?.clients.get(client);
      if (pool === undefined || entry === undefined) return;
      entry.calls -= 1;
      entry.busyUntilMs = Math.max(entry.busyUntilMs, now() + busyMs);
      entry.fullAtMs = Math.max(entry.fullAtMs, now()) + refillMs;
      pool.firstIdleMs = Math.min(
        pool.firstIdleMs,
        Math.max(entry.busyUntilMs, entry.fullAtMs),
      );
    },
    usageName(day, name) {
      if (rows.day !== day) {
        rows.day = day;
        rows.names.clear();
      }
      if (rows.names.has(name)) return name;
      if (rows.names.size >= MAX_SUBJECTS) return OTHER_CLIENT;
      rows.names.add(name);
      return name;
    },
    get size() {
      let size = 0;
      for (const { clients } of pools.values()) size += clients.size;
      return size;
    },
  };
}
