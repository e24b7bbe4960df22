import { isInGroup } from "../config/templates.ts";
import type {
  BudgetConfig,
  ClientKeyConfig,
  Config,
  GroupConfig,
  TemplateConfig,
} from "../config/schema.ts";

/** Returns what a client key may use, one line for each kind of permission and limit. */
export function keyLines(key: ClientKeyConfig, config: Config): string[] {
  const { groups, time_zone } = config.security;
  return [
    `Client key ${key.name}${key.disabled ? ", disabled" : ""}:`,
    ...profileLines(key, Object.entries(key.labels), {
      groups: groups.filter((group) => isInGroup(group, key)),
      config,
    }),
    ...(key.expires === undefined ? [] : [`  expires: ${key.expires}, 00:00 in ${time_zone}`]),
  ];
}

/** Returns the permissions, labels and limits of a client, and the limits of its groups. */
export function profileLines(
  profile: TemplateConfig,
  labels: readonly (readonly [name: string, value: string])[],
  { groups, config: { rate_limiting } }: {
    readonly groups: readonly GroupConfig[];
    readonly config: Config;
  },
): string[] {
  const rate = profile.requests_per_minute ?? rate_limiting.requests_per_minute;
  const limits = [
    ...(rate_limiting.enabled ? [`${rate} requests per minute`] : []),
    ...tokensText(profile.tokens_per_minute),
    ...(profile.max_concurrent === undefined ? [] : [`${profile.max_concurrent} requests at once`]),
    ...profile.budgets.map(budgetText),
  ];
  const texts = labels.map(([name, value]) => `${name}=${value}`);
  return [
    `  models: ${listText(profile.models)}`,
    `  providers: ${listText(profile.providers)}`,
    `  endpoints: ${listText(profile.endpoints)}`,
    ...(texts.length === 0 ? [] : [`  labels: ${texts.join(", ")}`]),
    `  limits: ${limits.join(", ") || "none"}`,
    ...groups.map((group) => {
      const shared = [...tokensText(group.tokens_per_minute), ...group.budgets.map(budgetText)];
      return `  limits of group ${group.name}: ${shared.join(", ") || "none"}`;
    }),
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
