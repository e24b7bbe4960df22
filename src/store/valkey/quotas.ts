import { type Result, success } from "../../core/failure/result.ts";
import type { World } from "../../core/world.ts";
import type { BucketSettings } from "../../traffic/buckets.ts";
import { MAX_TOKEN_DEBT_MS, tokenSettings } from "../memory/quotas.ts";
import type { Stored } from "../object_store.ts";
import { LEASE_MS, type QuotaScope, type QuotaUse } from "../quota_store.ts";
import type { LeasedCall, RemoteQuotas } from "../quotas/remote_quotas.ts";
import { storeUnavailable } from "../store_failure.ts";
import type { ValkeyConnection } from "./connection.ts";
import { keyStart } from "./keys.ts";
import { parseClock, parseDecision, parseSums } from "./quota_replies.ts";
import { ADMIT, RELEASE, RENEW, SERVER_EPOCH_MS, SETTLE, SPENT } from "./quota_scripts.ts";
import { runScript, type Script } from "./script.ts";

/** Maximum number of concurrent calls, or of callers, of one script. */
const MAX_BATCH_ENTRIES = 500;

const MAX_TOKEN_DEBT_US = MAX_TOKEN_DEBT_MS * 1000;

/**
 * Returns the quotas in a Valkey server. Every operation is one script, and so one round trip.
 * `clock` is that by which the windows of budgets are chosen, and compared with the server's; null
 * for no comparison. Between two comparisons time passes steadily, because the wall clock may jump
 * while a call runs.
 */
export function newValkeyQuotas(
  connection: ValkeyConnection,
  prefix: string,
  clock: Pick<World, "wall" | "now"> | null = null,
): RemoteQuotas {
  /** Unix time of the server at the beginning of the steady clock, as far as it is known. */
  let startedMs = clock === null ? 0 : clock.wall() - clock.now();
  const start = `${keyStart(prefix)}q:`;
  const requestsKey = (caller: string) => `${start}r:${caller}`;
  const tokensKey = (caller: string) => `${start}t:${caller}`;
  const leasesKey = (caller: string) => `${start}l:${caller}`;
  const sumsKey = (caller: string) => `${start}s:${caller}`;
  const endsKey = (caller: string) => `${start}e:${caller}`;
  const markKey = (call: string) => `${start}d:${call}`;

  async function runBatches<Entry>(
    entries: readonly Entry[],
    run: (batch: readonly Entry[]) => Stored<unknown>,
  ): Promise<Result<readonly unknown[]>> {
    const batches: Stored<unknown>[] = [];
    for (let at = 0; at < entries.length; at += MAX_BATCH_ENTRIES) {
      batches.push(run(entries.slice(at, at + MAX_BATCH_ENTRIES)));
    }
    const replies: unknown[] = [];
    for (const reply of await Promise.all(batches)) {
      if (!reply.ok) return reply;
      replies.push(reply.value);
    }
    return success(replies);
  }

  async function changeLeases(
    script: Script,
    leases: readonly LeasedCall[],
    args: readonly number[],
  ): Stored<void> {
    const changed = await runBatches(
      leases,
      (batch) =>
        runScript(connection, script, batch.map(([caller]) => leasesKey(caller)), [
          ...args,
          ...batch.map(([, call]) => call),
        ]),
    );
    return changed.ok ? success(undefined) : changed;
  }

  return {
    clockAheadMs: () => clock === null ? 0 : Math.round(startedMs + clock.now() - clock.wall()),
    async admit(scopes, call) {
      const keys = scopes.flatMap(({ caller }) => [
        requestsKey(caller),
        tokensKey(caller),
        leasesKey(caller),
        sumsKey(caller),
      ]);
      const hasBudgets = scopes.some(({ limits }) => limits.budgets.length > 0);
      const assumedMs = clock === null || !hasBudgets
        ? -1
        : Math.floor(startedMs + clock.now()) - SERVER_EPOCH_MS;
      const numbers = [LEASE_MS, scopes.length, assumedMs];
      const args = [call, ...numbers, ...scopes.flatMap(scopeArguments)];
      const reply = await runScript(connection, ADMIT, keys, args);
      if (!reply.ok) return reply;
      const serverMs = parseClock(reply.value);
      if (serverMs !== null && clock !== null) {
        startedMs = serverMs + SERVER_EPOCH_MS - clock.now();
        return success({ kind: "unavailable", isClock: true });
      }
      const decision = parseDecision(reply.value, scopes);
      return decision === null ? storeUnavailable() : success(decision);
    },
    async settle(call, uses, rememberMs) {
      const keys = uses.flatMap(({ caller }) => [
        tokensKey(caller),
        leasesKey(caller),
        sumsKey(caller),
        endsKey(caller),
      ]);
      const args = [call, rememberMs, uses.length, ...uses.flatMap(useArguments)];
      const reply = await runScript(connection, SETTLE, [markKey(call), ...keys], args);
      return reply.ok ? success(undefined) : reply;
    },
    renew: (leases) => changeLeases(RENEW, leases, [LEASE_MS]),
    release: (leases) => changeLeases(RELEASE, leases, []),
    async spent(callers) {
      const replies = await runBatches(callers, (batch) => {
        const keys = batch.flatMap((caller) => [sumsKey(caller), endsKey(caller)]);
        return runScript(connection, SPENT, keys, []);
      });
      return replies.ok ? success(parseSums(replies.value, callers)) : replies;
    },
  };
}

function scopeArguments({ limits }: QuotaScope): readonly (string | number)[] {
  const { requests, tokensPerMinute, maxConcurrent, budgets } = limits;
  return [
    ...bucketArguments(requests),
    ...bucketArguments(tokensPerMinute === null ? null : tokenSettings(tokensPerMinute)),
    MAX_TOKEN_DEBT_US,
    maxConcurrent ?? -1,
    budgets.length,
    ...budgets.flatMap(({ window, limit }) => [window, limit]),
  ];
}

function useArguments(use: QuotaUse): readonly (string | number)[] {
  const { tokensPerMinute, holdsSlot, tokens, spends } = use;
  return [
    holdsSlot ? 1 : 0,
    ...bucketArguments(tokensPerMinute === null ? null : tokenSettings(tokensPerMinute)),
    MAX_TOKEN_DEBT_US,
    tokens,
    spends.length,
    ...spends.flatMap(({ window, amount, ttlMs }) => [window, amount, ttlMs]),
  ];
}

/** Returns microseconds of a token and burst; zeros without a rate. */
function bucketArguments(settings: BucketSettings | null): readonly number[] {
  if (settings === null) return [0, 0];
  return [60_000_000 / settings.requests_per_minute, settings.burst_size];
}
