import type { BudgetConfig, ClientKeyConfig, Config } from "../config/schema.ts";

/** Returns what a client key may use, one line for each kind of permission and limit. */
export function keyLines(key: ClientKeyConfig, { security, rate_limiting }: Config): string[] {
  const groups = security.groups.filter(({ keys }) => keys.includes(key.name));
  const labels = Object.entries(key.labels).map(([name, value]) => `${name}=${value}`);
  const rate = key.requests_per_minute ?? rate_limiting.requests_per_minute;
  const limits = [
    ...(rate_limiting.enabled ? [`${rate} requests per minute`] : []),
    ...tokensText(key.tokens_per_minute),
    ...(key.max_concurrent === undefined ? [] : [`${key.max_concurrent} requests at once`]),
    ...key.budgets.map(budgetText),
  ];
  return [
    `Client key ${key.name}${key.disabled ? ", disabled" : ""}:`,
    `  models: ${listText(key.models)}`,
    `  providers: ${listText(key.providers)}`,
    `  endpoints: ${listText(key.endpoints)}`,
    ...(labels.length === 0 ? [] : [`  labels: ${labels.join(", ")}`]),
    `  limits: ${limits.join(", ") || "none"}`,
    ...groups.map((group) => {
      const shared = [...tokensText(group.tokens_per_minute), ...group.budgets.map(budgetText)];
      return `  limits of group ${group.name}: ${shared.join(", ") || "none"}`;
    }),
    ...(key.expires === undefined
      ? []
      : [`  expires: ${key.expires}, 00:00 in ${security.time_zone}`]),
  ];
}

function listText(names: readonly string[] | undefined): string {
  return names?.join(", ") ?? "all";
}

function tokensText(perMinute: number | undefined): string[] {
  return perMinute === undefined ? [] : [`${perMinute} tokens per minute`];
}

function budgetText({ per, usd, tokens }: BudgetConfig): string {
  const amounts = [
    ...(usd === undefined ? [] : [`${usd} USD`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
  ];
  return `${amounts.join(" and ")} per ${per}`;
}
