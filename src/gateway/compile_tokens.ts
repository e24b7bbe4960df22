import { isDeepStrictEqual } from "node:util";
import type { Generation } from "../call/generation.ts";
import type { Config } from "../config/schema.ts";
import { compileGlob } from "../core/glob.ts";
import type { Issuer, TokenRule } from "../access/tokens/issuer.ts";
import { newKeySets } from "../access/tokens/key_sets.ts";
import { newTokenClients, type TokenClients } from "../access/tokens/token_clients.ts";
import { compileTemplates } from "./compile_keys.ts";

type Settings = Pick<Config, "security" | "observability">;

/**
 * Returns the clients with tokens; null if tokens are not accepted. If their settings have not
 * changed, they are the previous ones, which remember verified tokens. Keys of issuers are kept in
 * any case.
 */
export function compileTokens(
  config: Settings,
  previous: (Pick<Generation, "tokens"> & { readonly config: Settings }) | null,
): TokenClients | null {
  const { security, observability } = config;
  if (!hasIssuers(security)) return null;
  const earlier = previous?.tokens ?? null;
  const isSame = isDeepStrictEqual(previous?.config.security, security) &&
    isDeepStrictEqual(previous?.config.observability, observability);
  if (earlier !== null && isSame) return earlier;
  const keySets = earlier?.keySets ?? newKeySets();
  const clients = newTokenClients(compileIssuers(config), keySets, {
    reported: observability.key_labels,
    knownValues: collectValues(config),
  });
  keySets.retain(new Set(clients.issuers.map(({ source }) => source)));
  return clients;
}

/** True if tokens of issuers are accepted. */
function hasIssuers({ enabled, provider, jwt }: Config["security"]): boolean {
  return enabled && provider === "jwt" && jwt.issuers.length > 0;
}

function compileIssuers(config: Settings): Issuer[] {
  const templates = compileTemplates(config);
  return config.security.jwt.issuers.map((written): Issuer => ({
    name: written.name,
    url: written.issuer,
    source: sourceOf(written),
    audience: written.audience,
    algorithms: new Set(written.algorithms),
    subject: written.subject,
    labels: Object.entries(written.labels),
    rules: written.rules.flatMap(({ claim, values, template }): TokenRule[] => {
      const compiled = templates.get(template);
      return compiled === undefined
        ? []
        : [{ claim, patterns: values.map(compileGlob), template: compiled }];
    }),
  }));
}

/** Returns the source of the keys of an issuer: the address or the file, each with its kind. */
export function sourceOf(
  { jwks_url, jwks_file = "" }: Config["security"]["jwt"]["issuers"][number],
): string {
  return jwks_url === undefined ? `file ${jwks_file}` : `url ${jwks_url}`;
}

/** Returns the values of each label in templates, keys, and rules for the claim of the label. */
function collectValues(
  { security: { templates, api_key, jwt } }: Settings,
): ReadonlyMap<string, ReadonlySet<string>> {
  const values = new Map<string, Set<string>>();
  const add = (label: string, value: string) =>
    values.set(label, (values.get(label) ?? new Set()).add(value));
  for (const { labels } of [...templates, ...api_key.keys]) {
    for (const [label, value] of Object.entries(labels)) add(label, value);
  }
  for (const { labels, rules } of jwt.issuers) {
    for (const [label, claim] of Object.entries(labels)) {
      for (const rule of rules) {
        if (rule.claim === claim) { for (const value of rule.values) add(label, value); }
      }
    }
  }
  return values;
}
