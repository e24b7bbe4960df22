import { createHash } from "node:crypto";
import { MAX_END_USERS } from "../core/end_users.ts";
import { newCalendar } from "../core/calendar.ts";
import { CLIENT_KEYS_PATH } from "./client_key_rules.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import type { ClientKeyConfig, Config } from "./schema.ts";
import { isInGroup } from "./templates.ts";

/**
 * Returns a warning for each setting of client keys and groups that is likely a mistake. `wallMs`
 * is the current Unix time in milliseconds.
 */
export function clientKeyWarnings(config: Config, wallMs: number): Problem[] {
  const { enabled, provider, api_key: { keys }, templates } = config.security;
  if (!enabled || provider === "none") return [];
  return [
    ...repeatedSecrets(keys),
    ...nameWarnings(config.security),
    ...expiryWarnings(config, wallMs),
    ...previousWarnings(config, wallMs),
    ...keys.flatMap((key, index) =>
      key.budgets === templateOf(config, key)?.budgets
        ? []
        : budgetWarnings(key, [...CLIENT_KEYS_PATH, index])
    ),
    ...templates.flatMap((template, index) =>
      budgetWarnings(template, ["security", "templates", index])
    ),
    ...endUserWarnings(keys),
    ...groupWarnings(config),
    ...memberlessWarnings(config),
    ...labelWarnings(config),
  ];
}

/** Returns the template of a key; undefined if it has none. */
function templateOf({ security }: Config, { template }: ClientKeyConfig) {
  return security.templates.find(({ name }) => name === template);
}

function budgetWarnings(
  { budgets, max_concurrent }: Pick<ClientKeyConfig, "budgets" | "max_concurrent">,
  path: Path,
): Problem[] {
  return budgets.length === 0 || max_concurrent !== undefined ? [] : [problem(
    [...path, "budgets"],
    "can be exceeded without limit, because running requests are never ended: set max_concurrent",
  )];
}

/**
 * Returns a warning for each repeated key: the first client with a key is found, never the second.
 */
function repeatedSecrets(keys: readonly ClientKeyConfig[]): Problem[] {
  const digests = new Set<string>();
  const secrets = keys.flatMap((key, index) => {
    const path = [...CLIENT_KEYS_PATH, index];
    return [
      { ...key, path },
      ...key.previous.map((one, place) => ({ ...one, path: [...path, "previous", place] })),
    ];
  });
  return secrets.flatMap(({ value = "", sha256, path }): Problem[] => {
    const digest = sha256?.toLowerCase() ?? createHash("sha256").update(value).digest("hex");
    const isRepeated = digests.has(digest);
    digests.add(digest);
    const text = "is already the value of an earlier key: the settings of that key apply";
    const member = sha256 === undefined ? "value" : "sha256";
    return isRepeated ? [problem([...path, member], text)] : [];
  });
}

/** Time after which a replaced secret that is still accepted is likely a mistake. */
const MAX_USUAL_OVERLAP_MS = 90 * 24 * 60 * 60 * 1000;

function previousWarnings({ security }: Config, wallMs: number): Problem[] {
  const calendar = newCalendar(security.time_zone);
  return security.api_key.keys.flatMap(({ previous }, index) =>
    previous.flatMap(({ until }, place): Problem[] => {
      const path = [...CLIENT_KEYS_PATH, index, "previous", place, "until"];
      const untilMs = calendar.startOfDay(until);
      if (wallMs >= untilMs) return [problem(path, "has begun, so this secret is refused")];
      return untilMs - wallMs <= MAX_USUAL_OVERLAP_MS || wallMs === 0
        ? []
        : [problem(path, "is more than 90 days away: until then the replaced secret is accepted")];
    })
  );
}

function nameWarnings({ api_key, jwt }: Config["security"]): Problem[] {
  return api_key.keys.flatMap(({ name }, index): Problem[] => {
    if (!name.includes("/")) return [];
    const issuer = jwt.issuers.find((one) => name.startsWith(`${one.name}/`));
    const text = issuer === undefined
      ? "has a slash, as names of clients with tokens have: a later version refuses it"
      : `may also be the name of a client with a token of issuer ${issuer.name}: log lines, usage ` +
        "and match.key of routes do not tell them apart";
    return [problem([...CLIENT_KEYS_PATH, index, "name"], text)];
  });
}

function expiryWarnings({ security }: Config, wallMs: number): Problem[] {
  const calendar = newCalendar(security.time_zone);
  return security.api_key.keys.flatMap(({ expires }, index): Problem[] =>
    expires === undefined || wallMs < calendar.startOfDay(expires)
      ? []
      : [problem([...CLIENT_KEYS_PATH, index, "expires"], "has begun, so the key is refused")]
  );
}

/** Returns a warning if one key's end users can take the room of another's. */
function endUserWarnings(keys: readonly ClientKeyConfig[]): Problem[] {
  const all = keys.reduce((sum, { end_users }) => sum + (end_users?.max ?? 0), 0);
  return all <= MAX_END_USERS ? [] : [problem(
    CLIENT_KEYS_PATH,
    `have ${all} end users by end_users.max, and limits of ${MAX_END_USERS} are counted in all`,
  )];
}

/** Returns the names of the templates that clients with tokens have. */
function tokenTemplates({ provider, jwt }: Config["security"]): readonly string[] {
  const issuers = provider === "jwt" ? jwt.issuers : [];
  return issuers.flatMap(({ rules }) => rules.map(({ template }) => template));
}

function groupWarnings({ security }: Config): Problem[] {
  const { groups, api_key, templates } = security;
  const ofTokens = tokenTemplates(security);
  return groups.flatMap((group, index): Problem[] => {
    const { budgets, tokens_per_minute, privacy, record } = group;
    const path = ["security", "groups", index];
    if (budgets.length === 0) {
      const text = "has no effect without budgets, tokens_per_minute, privacy and record";
      return (tokens_per_minute ?? privacy ?? record) === undefined ? [problem(path, text)] : [];
    }
    const keys = api_key.keys.filter((key) => isInGroup(group, key));
    const shared = templates.filter(({ name }) =>
      ofTokens.includes(name) && group.templates.includes(name)
    );
    const unbounded = [...keys, ...shared]
      .flatMap(({ name, max_concurrent }) => max_concurrent === undefined ? name : []);
    if (unbounded.length === 0) return [];
    const text = "can be exceeded without limit, because running requests are never ended: " +
      `set max_concurrent of ${unbounded.join(", ")}`;
    return [problem([...path, "budgets"], text)];
  });
}

/** Returns a warning for each template of a group by which no client is in it. */
function memberlessWarnings({ security }: Config): Problem[] {
  const { groups, api_key } = security;
  const given = new Set([
    ...api_key.keys.map(({ template }) => template),
    ...tokenTemplates(security),
  ]);
  return groups.flatMap(({ templates }, index) =>
    templates.flatMap((name, place) =>
      given.has(name) ? [] : [problem(
        ["security", "groups", index, "templates", place],
        "is the template of no client key and of no token, so by it no client is in the group; " +
          "end users are in none",
      )]
    )
  );
}

/**
 * Returns a warning for each label that nothing uses, and for each use of a label that no key has.
 */
function labelWarnings(config: Config): Problem[] {
  const { security: { api_key: { keys }, templates, jwt }, observability, routing } = config;
  const matched = routing.routes.flatMap(({ match }) => Object.keys(match.labels));
  const used = new Set([...observability.key_labels, ...matched]);
  const owners = [
    ...keys.map((key, index) => ({
      names: Object.keys(key.labels)
        .filter((name) => !Object.hasOwn(templateOf(config, key)?.labels ?? {}, name)),
      path: [...CLIENT_KEYS_PATH, index, "labels"],
    })),
    ...templates.map(({ labels }, index) => ({
      names: Object.keys(labels),
      path: ["security", "templates", index, "labels"],
    })),
    ...jwt.issuers.map(({ labels }, index) => ({
      names: Object.keys(labels),
      path: ["security", "jwt", "issuers", index, "labels"],
    })),
  ];
  const unused = owners.flatMap(({ names, path }) =>
    names.filter((name) => !used.has(name)).map((name): Problem =>
      problem(
        [...path, name],
        "is used neither in match.labels of a route nor in observability.key_labels",
        "key",
      )
    )
  );
  const known = new Set(owners.flatMap(({ names }) => names));
  const unknown = observability.key_labels.flatMap((name, index) =>
    known.has(name)
      ? []
      : [problem(["observability", "key_labels", index], "is a label that no client key has")]
  );
  return [...unused, ...unknown];
}

/** Returns a warning for each route that no client can match because of its key or its labels. */
export function keyMatchWarnings({ routing: { routes }, security }: Config): Problem[] {
  const { enabled, provider, api_key: { keys }, jwt: { issuers } } = security;
  const isRequired = enabled && provider !== "none";
  return routes.flatMap(({ match }, index): Problem[] => {
    const wanted = Object.entries(match.labels);
    if (match.key === undefined && wanted.length === 0) return [];
    const path = ["routing", "routes", index, "match"];
    if (!isRequired) {
      return [problem(path, "never matches, because no client keys are required")];
    }
    // Which tokens there are is not known.
    if (issuers.length > 0) return [];
    const isMet = keys.some(({ name, labels }) =>
      (match.key === undefined || match.key.some((one) => one === name || one.includes("*"))) &&
      wanted.every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value)
    );
    return isMet ? [] : [problem(path, "never matches, because no client key has these labels")];
  });
}
