import { type ClientKey, isLapsed, usdOf } from "../access/client_key.ts";
import { budgetWall, type CallScope, limitedCallers, scopesNow } from "../access/quotas.ts";
import type { Config } from "../config/schema.ts";
import { isInGroup } from "../config/templates.ts";
import type { UsageCounts } from "../core/usage_row.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { CallReport } from "../observe/report.ts";
import type { Feed } from "./feed.ts";
import type { BudgetView, GroupRateView, KeyView, TokenBudgetView } from "./snapshot.ts";

/** Figures from the store: sums of budgets, and the usage of today by key. */
export interface KeyFigures {
  /** Sums by caller and window. */
  readonly spent: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly today: ReadonlyMap<string, UsageCounts>;
}

/** Usage of a key without calls. */
export const NO_USAGE: UsageCounts = {
  calls: 0,
  input: 0,
  output: 0,
  cached: 0,
  nanoUsd: 0,
  estimated: 0,
};

/** Returns the client keys in the order of the file, by name. */
export function keyViews(
  { generation, state, world }: Pick<Gateway, "generation" | "state" | "world">,
  feed: Pick<Feed, "key" | "running">,
  figures: KeyFigures,
): readonly KeyView[] {
  const { clientKeys, calendar, config } = generation;
  const running = countRunning(feed.running());
  const wallMs = world.wall();
  const budgetMs = budgetWall({ state, world });
  const groups = groupNames(config);
  const groupTokens = sumGroupTokens(config, feed);
  return clientKeys.map((key): KeyView => {
    const { requests, tokens } = feed.key(key.name);
    const scopes = scopesNow({ callers: limitedCallers(key), calendar }, null, budgetMs);
    return {
      name: key.name,
      group: groups.get(key.name)?.join(", ") ?? null,
      isDisabled: isLapsed(key, wallMs),
      requestsPerMinute: requests,
      tokensPerMinute: tokens,
      maxRequestsPerMinute: requestLimit(key, config),
      maxTokensPerMinute: key.limits?.tokensPerMinute ?? null,
      groupRates: groupRates(key, groupTokens),
      running: running.get(key.name) ?? 0,
      maxConcurrent: key.limits?.maxConcurrent ?? null,
      budgets: scopes.flatMap((scope) => budgetViews(scope, key.name, figures)),
      tokenBudgets: scopes.flatMap((scope) => tokenBudgetViews(scope, key.name, figures)),
      today: figures.today.get(key.name) ?? NO_USAGE,
    };
  });
}

function countRunning(reports: Iterable<Readonly<CallReport>>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { client } of reports) {
    if (client !== null) counts.set(client, (counts.get(client) ?? 0) + 1);
  }
  return counts;
}

/** Returns the names of the groups of each key that has one. */
function groupNames({ security }: Config): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const key of security.api_key.keys) {
    const own = security.groups.filter((group) => isInGroup(group, key)).map(({ name }) => name);
    if (own.length > 0) names.set(key.name, own);
  }
  return names;
}

/** Returns the tokens that the keys of each group have used in the last minute. */
function sumGroupTokens(
  { security }: Config,
  feed: Pick<Feed, "key">,
): ReadonlyMap<string, number> {
  return new Map(
    security.groups.map((group) => [
      group.name,
      security.api_key.keys.filter((key) => isInGroup(group, key))
        .reduce((sum, { name }) => sum + feed.key(name).tokens, 0),
    ]),
  );
}

function groupRates(
  { limits }: ClientKey,
  tokens: ReadonlyMap<string, number>,
): readonly GroupRateView[] {
  return (limits?.groups ?? []).flatMap(({ name, limits: { tokensPerMinute: max } }) =>
    max === null
      ? []
      : [{ scope: name, tokensPerMinute: tokens.get(name) ?? 0, maxTokensPerMinute: max }]
  );
}

function requestLimit({ requestsPerMinute }: ClientKey, { rate_limiting }: Config): number | null {
  if (!rate_limiting.enabled) return null;
  return requestsPerMinute ?? rate_limiting.requests_per_minute;
}

function sumsOf({ caller, limits }: CallScope, unit: string, { spent }: KeyFigures) {
  return limits.budgets.filter((budget) => budget.unit === unit).map(({ per, window, limit }) => ({
    period: per,
    spent: spent.get(caller)?.get(window) ?? 0,
    limit,
  }));
}

function budgetViews(
  scope: CallScope,
  name: string,
  figures: KeyFigures,
): readonly BudgetView[] {
  return sumsOf(scope, "usd", figures).map(({ period, spent, limit }) => ({
    scope: scope.group ?? name,
    period,
    spentUsd: usdOf(spent),
    limitUsd: usdOf(limit),
  }));
}

function tokenBudgetViews(
  scope: CallScope,
  name: string,
  figures: KeyFigures,
): readonly TokenBudgetView[] {
  return sumsOf(scope, "tokens", figures).map((sum) => ({ scope: scope.group ?? name, ...sum }));
}
