import type { Calendar, CalendarPeriod } from "../core/calendar.ts";
import type { World } from "../core/world.ts";
import type { BucketSettings } from "../traffic/buckets.ts";
import type { GatewayState } from "../store/gateway_state.ts";
import {
  type QuotaLimits,
  type QuotaScope,
  type QuotaUse,
  type Spend,
  WINDOW_MARGIN_MS,
  type WindowBudget,
} from "../store/quota_store.ts";
import type { ClientGroup, ClientKey, ScopeLimits } from "./client_key.ts";

/** Unit of a budget and of its sum. */
export type BudgetUnit = "usd" | "tokens";

/** A budget in its current window. Its sum is in tokens, or in nano-dollars. */
export interface CurrentBudget extends WindowBudget {
  readonly per: CalendarPeriod;
  readonly unit: BudgetUnit;
  /** First millisecond after the window, in Unix time. */
  readonly endMs: number;
}

/** A caller whose limits a call counts against, with the current windows of its budgets. */
export interface CallScope extends QuotaScope {
  /** Name of the group; null for the client key itself. */
  readonly group: string | null;
  /** The end user of the key; absent for the key and its groups. */
  readonly user?: ClientGroup["user"];
  readonly limits: Omit<QuotaLimits, "budgets"> & { readonly budgets: readonly CurrentBudget[] };
}

/** The limits that have admitted a call, for its end. */
export interface CallQuotas {
  readonly callers: readonly LimitedCaller[];
  readonly calendar: Calendar;
}

/** A client key or a group with its limits. */
export interface LimitedCaller {
  readonly caller: string;
  /** Name of the group; null for the client key itself. */
  readonly group: string | null;
  readonly user?: ClientGroup["user"];
  readonly limits: ScopeLimits;
}

/**
 * Returns the client key and its groups if they have limits besides a rate of requests; an empty
 * list otherwise.
 */
export function limitedCallers({ caller, limits }: ClientKey): readonly LimitedCaller[] {
  if (limits === null) return [];
  const own = { caller, group: null, limits };
  if (limits.groups.length === 0) return [own];
  return [own, ...limits.groups.map((group) => ({ ...group, group: group.name }))];
}

/** The clock of this process, and the store that knows how far its own is ahead. */
interface BudgetClocks {
  readonly world: Pick<World, "wall">;
  readonly state: Pick<GatewayState, "quotas">;
}

/**
 * Returns the Unix time in milliseconds of the clock that decides the windows of budgets: the
 * store's.
 */
export function budgetWall({ world, state }: BudgetClocks): number {
  return world.wall() + (state.quotas.clockAheadMs?.() ?? 0);
}

/**
 * Returns what a call is checked against now. The rate of requests is that of the first caller, or
 * of an end user; both have the same burst.
 */
export function scopesNow(
  { callers, calendar }: CallQuotas,
  requests: BucketSettings | null,
  wallMs: number,
): readonly CallScope[] {
  return callers.map(({ caller, group, user, limits }) => ({
    caller,
    group,
    ...user !== undefined && { user },
    limits: {
      requests: group === null ? requests : userRate(user, requests),
      tokensPerMinute: limits.tokensPerMinute,
      maxConcurrent: limits.maxConcurrent,
      budgets: budgetsNow(limits, calendar, wallMs),
    },
  }));
}

function userRate(
  user: ClientGroup["user"],
  requests: BucketSettings | null,
): BucketSettings | null {
  const rate = user?.requestsPerMinute ?? null;
  return rate === null || requests === null
    ? null
    : { requests_per_minute: rate, burst_size: requests.burst_size };
}

function budgetsNow(
  { budgets }: ScopeLimits,
  calendar: Calendar,
  wallMs: number,
): readonly CurrentBudget[] {
  const current: CurrentBudget[] = [];
  for (const { per, nanoUsd, tokens } of budgets) {
    const { name, endMs } = calendar.windowOf(per, wallMs);
    if (nanoUsd !== null) {
      current.push({ window: `usd ${name}`, limit: nanoUsd, per, unit: "usd", endMs });
    }
    if (tokens !== null) {
      current.push({ window: `tokens ${name}`, limit: tokens, per, unit: "tokens", endMs });
    }
  }
  return current;
}

/**
 * Returns the milliseconds until the last current window of the budgets ends; 0 without budgets.
 */
export function lastWindowMs(limits: ScopeLimits, calendar: Calendar, wallMs: number): number {
  const ends = budgetsNow(limits, calendar, wallMs).map(({ endMs }) => endMs - wallMs);
  return Math.max(0, ...ends);
}

/**
 * Returns what a call that ends now counts against each caller. Its amounts belong to the current
 * windows.
 */
export function usesOf(
  { callers, calendar }: CallQuotas,
  { tokens, nanoUsd }: { readonly tokens: number; readonly nanoUsd: number },
  wallMs: number,
): readonly QuotaUse[] {
  return callers.map(({ caller, limits }): QuotaUse => {
    const { tokensPerMinute, maxConcurrent } = limits;
    const spends = budgetsNow(limits, calendar, wallMs).flatMap(({ unit, window, endMs }) => {
      const amount = unit === "usd" ? nanoUsd : tokens;
      const ttlMs = endMs - wallMs + WINDOW_MARGIN_MS;
      return amount === 0 ? [] : [{ window, amount, ttlMs } satisfies Spend];
    });
    return { caller, tokensPerMinute, holdsSlot: maxConcurrent !== null, tokens, spends };
  });
}
