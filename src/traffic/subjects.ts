import { MAX_END_USERS } from "../core/end_users.ts";
import { OTHER_CLIENT } from "../core/usage_row.ts";

/** Clients that the configuration does not name, and whose limits this process counts. */
export interface Subjects {
  /**
   * Begins a call of a client. Returns false if the pool counts `max` clients, or all pools
   * `MAX_COUNTED`, all of which have used something that still counts. A client that has nothing
   * left to count makes room.
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

/** Maximum number of clients of all pools whose limits a process counts. */
export const MAX_COUNTED = MAX_SUBJECTS + MAX_END_USERS;

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
  /** Time until which no client makes room, because all of them were looked at. */
  restsUntilMs: number;
}

function newPool(): Pool {
  return { clients: new Map(), firstIdleMs: 0, restsUntilMs: 0 };
}

/**
 * Clients of a full pool that are looked at in a millisecond on average. A process can look at many
 * times as many, but those that end users make up must not take its time.
 */
const LOOKED_AT_PER_MS = 100;

/**
 * Returns no clients but those that a store knows from before the start, each with the time at
 * which its last window ends: they are counted, and find room in their pool. `now` returns
 * milliseconds that never go back.
 */
export function newSubjects(
  now: () => number,
  stored: ReadonlyMap<string, number> = new Map(),
): Subjects {
  const earlier = newPool();
  for (const [client, busyUntilMs] of stored) {
    earlier.clients.set(client, { calls: 0, busyUntilMs, fullAtMs: 0 });
  }
  const pools = new Map([["", earlier]]);
  const rows = { day: "", names: new Set<string>() };

  function countAll(): number {
    let size = 0;
    for (const { clients } of pools.values()) size += clients.size;
    return size;
  }

  function makeRoom(pool: Pool): void {
    const time = now();
    if (time < Math.max(pool.firstIdleMs, pool.restsUntilMs)) return;
    pool.restsUntilMs = time + pool.clients.size / LOOKED_AT_PER_MS;
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
      const pool = pools.get(name) ?? newPool();
      pools.set(name, pool);
      const known = pool.clients.get(client);
      if (known !== undefined) {
        known.calls += 1;
        return true;
      }
      const stored = earlier.clients.get(client);
      if (stored === undefined) {
        if (pool.clients.size >= max) makeRoom(pool);
        if (pool.clients.size >= max) return false;
        if (countAll() >= MAX_COUNTED) pools.forEach(makeRoom);
        if (countAll() >= MAX_COUNTED) return false;
      }
      earlier.clients.delete(client);
      pool.clients.set(client, { busyUntilMs: 0, fullAtMs: 0, ...stored, calls: 1 });
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
      return countAll();
    },
  };
}
