import { createHash } from "node:crypto";
import type { BudgetConfig, ClientKeyConfig, Config, GroupConfig } from "../config/schema.ts";
import type { Calendar } from "../core/calendar.ts";
import {
  type Budget,
  type ClientGroup,
  type ClientKey,
  type KeyLimits,
  nanoUsd,
  type Permissions,
  type ScopeLimits,
} from "../access/client_key.ts";
import { isInGroup } from "../config/templates.ts";
import { compileGlob } from "../observe/glob.ts";
import { keyLabelField } from "../observe/instruments.ts";

/** Returns the client keys of a configuration; none if authentication is off. */
export function compileClientKeys(
  { security, observability }: Pick<Config, "security" | "observability">,
  calendar: Calendar,
): ClientKey[] {
  const { enabled, provider, api_key, groups } = security;
  if (!enabled || provider !== "api_key") return [];
  const compiledGroups = groups.map((group) => [group, compileGroup(group)] as const);
  return api_key.keys.map((key) => {
    const own = compiledGroups.filter(([group]) => isInGroup(group, key))
      .map(([, group]) => group);
    return {
      name: key.name,
      caller: `key ${key.name}`,
      secrets: [
        { digest: digestKey(key), until: null },
        ...key.previous.map((secret) => ({
          digest: digestKey(secret),
          until: { date: secret.until, ms: calendar.startOfDay(secret.until) },
        })),
      ],
      isDisabled: key.disabled,
      adoptsUnknown: key.adopt_unknown,
      expiresMs: key.expires === undefined ? null : calendar.startOfDay(key.expires),
      permissions: compilePermissions(key),
      labels: new Map(Object.entries(key.labels)),
      reported: compileReported(key, observability.key_labels),
      requestsPerMinute: key.requests_per_minute ?? null,
      limits: compileKeyLimits(key, own),
    };
  });
}

function digestKey(
  { value = "", sha256 }: Pick<ClientKeyConfig, "value" | "sha256">,
): Uint8Array {
  return sha256 === undefined
    ? createHash("sha256").update(value).digest()
    : Uint8Array.fromHex(sha256);
}

function compilePermissions(
  { models, providers, endpoints }: ClientKeyConfig,
): Permissions | null {
  if (models === undefined && providers === undefined && endpoints === undefined) return null;
  return {
    models: models?.map(compileGlob) ?? null,
    providers: providers === undefined ? null : new Set(providers),
    endpoints: endpoints === undefined ? null : new Set(endpoints),
  };
}

/**
 * Returns the labels of a key that the configuration lists, with the prefix that no other field
 * has.
 */
function compileReported(
  { labels }: ClientKeyConfig,
  listed: readonly string[],
): ClientKey["reported"] {
  const reported = Object.entries(labels).filter(([name]) => listed.includes(name))
    .map(([name, value]) => [keyLabelField(name), value] as const);
  return reported.length === 0 ? null : Object.fromEntries(reported);
}

function compileKeyLimits(
  key: ClientKeyConfig,
  groups: readonly ClientGroup[],
): KeyLimits | null {
  const limits = compileLimits(key);
  const limiting = groups.filter((group) => hasLimit(group.limits));
  return hasLimit(limits) || limiting.length > 0 ? { ...limits, groups: limiting } : null;
}

function compileGroup(group: GroupConfig): ClientGroup {
  return { name: group.name, caller: `group ${group.name}`, limits: compileLimits(group) };
}

/** The limits as written; a group has no limit of concurrent calls. */
type WrittenLimits = Pick<GroupConfig, "tokens_per_minute" | "budgets"> & {
  readonly max_concurrent?: ClientKeyConfig["max_concurrent"];
};

function compileLimits(written: WrittenLimits): ScopeLimits {
  return {
    tokensPerMinute: written.tokens_per_minute ?? null,
    maxConcurrent: written.max_concurrent ?? null,
    budgets: written.budgets.map(compileBudget),
  };
}

function compileBudget({ per, usd, tokens }: BudgetConfig): Budget {
  return { per, nanoUsd: usd === undefined ? null : nanoUsd(usd), tokens: tokens ?? null };
}

function hasLimit({ tokensPerMinute, maxConcurrent, budgets }: ScopeLimits): boolean {
  return tokensPerMinute !== null || maxConcurrent !== null || budgets.length > 0;
}
