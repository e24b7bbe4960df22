import { createHash } from "node:crypto";
import type {
  BudgetConfig,
  ClientKeyConfig,
  Config,
  GroupConfig,
  TemplateConfig,
} from "../config/schema.ts";
import type { Template } from "../access/tokens/issuer.ts";
import type { Calendar } from "../core/calendar.ts";
import { type RecordChoice, strongestChoice } from "../core/record_choice.ts";
import {
  type Budget,
  type ClientGroup,
  type ClientKey,
  type EndUsers,
  type KeyLimits,
  type KeyRecording,
  nanoUsd,
  type Permissions,
  reportedLabels,
  type ScopeLimits,
} from "../access/client_key.ts";
import { identifiesClients } from "../config/security_rules.ts";
import { isInGroup } from "../config/templates.ts";
import { compileGlob } from "../core/glob.ts";

type Settings = Pick<Config, "security" | "observability">;

/** Returns the client keys of a configuration; none if authentication is off. */
export function compileClientKeys(config: Settings, calendar: Calendar): ClientKey[] {
  const { api_key, groups } = config.security;
  if (!identifiesClients(config.security)) return [];
  return api_key.keys.map((key): ClientKey => {
    const own = groups.filter((group) => isInGroup(group, key));
    return {
      ...compileProfile(key, key.template ?? null, own, config),
      ...compileRecording(key.record, own),
      caller: `key ${key.name}`,
      secrets: [
        { digest: digestKey(key), until: null },
        ...key.previous.map((secret) => ({
          digest: digestKey(secret),
          until: { date: secret.until, ms: calendar.startOfDay(secret.until) },
        })),
      ],
      isDisabled: key.disabled,
      expiresMs: key.expires === undefined ? null : calendar.startOfDay(key.expires),
      measured: null,
      issuer: null,
      endUsers: compileEndUsers(key, config),
    };
  });
}

function compileEndUsers(
  { end_users: written }: ClientKeyConfig,
  { security }: Settings,
): EndUsers | null {
  if (written === undefined) return null;
  const template = security.templates.find(({ name }) => name === written.template);
  const limits = template === undefined ? null : {
    ...compileLimits(template),
    requestsPerMinute: template.requests_per_minute ?? null,
  };
  return {
    header: written.header.toLowerCase(),
    isRequired: written.required,
    max: written.max,
    limits: limits !== null && (hasLimit(limits) || limits.requestsPerMinute !== null)
      ? limits
      : null,
  };
}

/** Returns the templates of a configuration by name. */
export function compileTemplates(config: Settings): ReadonlyMap<string, Template> {
  return new Map(
    config.security.templates.map((template) => {
      const { name } = template;
      const own = config.security.groups.filter(({ templates }) => templates.includes(name));
      return [name, compileProfile(template, name, own, config)];
    }),
  );
}

/** Returns what a client in these groups may use, and its limits, by a key or a template. */
function compileProfile(
  written: TemplateConfig,
  template: string | null,
  groups: readonly GroupConfig[],
  { observability, security }: Settings,
): Template {
  const labels = new Map(Object.entries(written.labels));
  return {
    name: written.name,
    template,
    adoptsUnknown: written.adopt_unknown ?? false,
    permissions: compilePermissions(written),
    privacy: policiesOf(written, template, groups, security),
    labels,
    reported: reportedLabels(labels, observability.key_labels),
    requestsPerMinute: written.requests_per_minute ?? null,
    limits: compileKeyLimits(written, groups.map(compileGroup)),
    ...compileRecording(undefined, groups),
  };
}

/** Returns what is recorded of the calls of a key in these groups. */
function compileRecording(
  own: RecordChoice | undefined,
  groups: readonly GroupConfig[],
): { readonly record?: KeyRecording } {
  const written = groups.map(({ record }) => record);
  if ([own, ...written].every((choice) => choice === undefined)) return {};
  return { record: { key: own ?? "none", groups: strongestChoice(written) } };
}

/** Returns the names of the policies that a client selects, its template and its groups. */
function policiesOf(
  { privacy }: Pick<TemplateConfig, "privacy">,
  template: string | null,
  groups: readonly GroupConfig[],
  { templates }: Settings["security"],
): readonly string[] {
  const ofTemplate = templates.find(({ name }) => name === template)?.privacy;
  const names = [privacy, ofTemplate, ...groups.map((group) => group.privacy)];
  return names.filter((name) => name !== undefined);
}

function digestKey(
  { value = "", sha256 }: Pick<ClientKeyConfig, "value" | "sha256">,
): Uint8Array {
  return sha256 === undefined
    ? createHash("sha256").update(value).digest()
    : Uint8Array.fromHex(sha256);
}

function compilePermissions(
  { models, providers, endpoints }: TemplateConfig,
): Permissions | null {
  if (models === undefined && providers === undefined && endpoints === undefined) return null;
  return {
    models: models?.map(compileGlob) ?? null,
    providers: providers === undefined ? null : new Set(providers),
    endpoints: endpoints === undefined ? null : new Set(endpoints),
  };
}

function compileKeyLimits(
  key: TemplateConfig,
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
