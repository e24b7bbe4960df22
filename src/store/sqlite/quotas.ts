import type { World } from "../../core/world.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { SUBJECT_PREFIX } from "../../traffic/buckets.ts";
import { type MemoryQuotas, newMemoryQuotas, settleIn } from "../memory/quotas.ts";
import { SETTLED_TTL_MS } from "../memory/settled_calls.ts";
import type { Sum } from "../memory/sums.ts";
import { type QuotaStore, WINDOW_MARGIN_MS } from "../quota_store.ts";
import { idOfKeyText, keyText } from "../key_text.ts";
import type { Link } from "./link.ts";
import type { StoredSum } from "./operations/quotas.ts";

/** Quotas of a gateway with a database. */
export interface SqliteQuotas extends QuotaStore {
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

/** Maximum number of sums, and of calls, in one write. */
const MAX_WRITE_ENTRIES = 500;

/**
 * Maximum number of changed sums, and of calls, that wait for a write; the oldest is dropped first.
 */
const MAX_WAITING_ENTRIES = 100_000;

/** Time after a failed write until the next attempt. */
const RETRY_INTERVAL_MS = 1_000;

/**
 * Returns quotas whose sums outlive the process: they are loaded from the database, and written
 * with the calls that are counted in them, in the transaction after the one that runs when a call
 * ends. Rates and concurrent calls are in memory: a restart
 * fills the buckets.
 */
export async function openSqliteQuotas(
  link: Link,
  world: Pick<World, "now" | "wall" | "after">,
): Promise<Result<SqliteQuotas>> {
  const memory = newMemoryQuotas(() => world.now());
  const loaded = await load(memory, link, world);
  return loaded.ok
    ? success({ ...withWrites(memory, link, world), earlier: loaded.value })
    : loaded;
}

async function load(
  { ledger: { sums, settled } }: MemoryQuotas,
  link: Link,
  world: Pick<World, "now" | "wall">,
): Promise<Result<ReadonlyMap<string, number>>> {
  const ahead = world.now() - world.wall();
  const earlier = new Map<string, number>();
  for (let last: StoredSum | null = null;;) {
    const page: Result<readonly StoredSum[]> = await link.run("loadSums", last);
    if (!page.ok) return page;
    for (const { caller, window, amount, expires } of page.value) {
      const sum = { caller: idOfKeyText(caller), window: idOfKeyText(window), amount };
      const endsAt = expires + ahead;
      sums.set({ ...sum, endsAt });
      const busyUntilMs = Math.max(earlier.get(sum.caller) ?? 0, endsAt - WINDOW_MARGIN_MS);
      if (!sum.caller.startsWith(SUBJECT_PREFIX) || busyUntilMs <= world.now()) continue;
      earlier.set(sum.caller, busyUntilMs);
    }
    last = page.value.at(-1) ?? null;
    if (last === null) break;
  }
  for (let last = 0;;) {
    const page = await link.run("loadSettledCalls", last);
    if (!page.ok) return page;
    for (const { call } of page.value) settled.add(idOfKeyText(call));
    const end = page.value.at(-1);
    if (end === undefined) return success(earlier);
    last = end.seq;
  }
}

function withWrites(
  memory: MemoryQuotas,
  link: Link,
  world: Pick<World, "now" | "wall" | "after">,
): SqliteQuotas {
  /** Changed sums by caller and window; each replaces the one in the database. */
  const changed = new Map<string, Sum>();
  const calls = new Set<string>();
  /** Sums of the writes that have no result yet, by the last write that has them. */
  const sent = new Map<string, Sum>();
  /** The write that has not been sent yet: it takes what has changed until then. */
  let waiting: Promise<boolean> | null = null;
  let cancelRetry: (() => void) | null = null;
  let isClosed = false;

  function add(call: string, sums: readonly Sum[]) {
    calls.add(call);
    for (const sum of sums) changed.set(keyOf(sum), sum);
    dropOldest(calls);
    dropOldest(changed);
  }

  /** Returns true after the commit of what has changed until now. */
  function write(): Promise<boolean> {
    waiting ??= send();
    return waiting;
  }

  async function send(): Promise<boolean> {
    const taken: Taken = { sums: [], calls: [] };
    const written = await link.runInBackground("storeUses", () => {
      waiting = null;
      take(taken);
      return {
        sums: taken.sums.map(storedSum),
        calls: taken.calls.map(keyText),
        callsExpire: Math.ceil(world.wall() + SETTLED_TTL_MS),
      };
    });
    for (const sum of taken.sums) {
      const key = keyOf(sum);
      // A later write may have a later sum.
      if (sent.get(key) !== sum) continue;
      sent.delete(key);
      if (!written.ok && !changed.has(key)) changed.set(key, sum);
    }
    if (!written.ok) {
      for (const call of taken.calls) calls.add(call);
      waiting = null;
      retryLater();
      return false;
    }
    return changed.size === 0 && calls.size === 0 || await write();
  }

  function take(taken: Taken): void {
    for (const [key, sum] of changed.entries().take(MAX_WRITE_ENTRIES)) {
      taken.sums.push(sum);
      sent.set(key, sum);
    }
    taken.calls.push(...calls.values().take(MAX_WRITE_ENTRIES));
    for (const sum of taken.sums) changed.delete(keyOf(sum));
    for (const call of taken.calls) calls.delete(call);
  }

  function retryLater() {
    if (isClosed) return;
    cancelRetry ??= world.after(RETRY_INTERVAL_MS, () => {
      cancelRetry = null;
      void write();
    });
  }

  function storedSum({ caller, window, amount, endsAt }: Sum): StoredSum {
    return {
      caller: keyText(caller),
      window: keyText(window),
      amount: Math.round(amount),
      expires: Math.ceil(world.wall() + endsAt - world.now()),
    };
  }

  return {
    ...memory,
    settle(call, uses) {
      const sums = settleIn(memory.ledger, call, uses);
      if (sums === null || sums.length === 0) return;
      add(call, sums);
      return cancelRetry === null ? write().then(() => {}) : undefined;
    },
    async close() {
      isClosed = true;
      cancelRetry?.();
      if (changed.size > 0 || calls.size > 0 || sent.size > 0) await write();
    },
  };
}

/** Sums and calls of one write. */
interface Taken {
  readonly sums: Sum[];
  readonly calls: string[];
}

function keyOf({ caller, window }: Sum): string {
  return JSON.stringify([caller, window]);
}

function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  if (entries.size <= MAX_WAITING_ENTRIES) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
