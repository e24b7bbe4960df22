import { createHash } from "node:crypto";
import { newCalendar } from "../core/calendar.ts";
import { CLIENT_KEYS_PATH } from "./client_key_rules.ts";
import { type Problem, problem } from "./problems.ts";
import type { ClientKeyConfig, Config } from "./schema.ts";

/**
 * Returns a warning for each setting of client keys and groups that is likely a mistake. `wallMs`
 * is the current Unix time in milliseconds.
 */
export function clientKeyWarnings(config: Config, wallMs: number): Problem[] {
  const { enabled, provider, api_key: { keys } } = config.security;
  if (!enabled || provider !== "api_key") return [];
  return [
    ...repeatedSecrets(keys),
    ...expiryWarnings(config, wallMs),
    ...keys.flatMap((key, index) =>
      key.budgets.length > 0 && key.max_concurrent === undefined
        ? [problem(
          [...CLIENT_KEYS_PATH, index, "budgets"],
          "can be exceeded without limit, because running requests are never ended: " +
            "set max_concurrent",
        )]
        : []
    ),
    ...groupWarnings(config),
    ...labelWarnings(config),
  ];
}

/**
 * Returns a warning for each repeated key: the first client with a key is found, never the second.
 */
function repeatedSecrets(keys: readonly ClientKeyConfig[]): Problem[] {
  const digests = new Set<string>();
  return keys.flatMap(({ value = "", sha256 }, index): Problem[] => {
    const digest = sha256?.toLowerCase() ?? createHash("sha256").update(value).digest("hex");
    const isRepeated = digests.has(digest);
    digests.add(digest);
    const path = [...CLIENT_KEYS_PATH, index, sha256 === undefined ? "value" : "sha256"];
    const text = "is already the value of an earlier key: the settings of that key apply";
    return isRepeated ? [problem(path, text)] : [];
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

function groupWarnings({ security: { groups, api_key } }: Config): Problem[] {
  return groups.flatMap(({ keys, budgets, tokens_per_minute }, index): Problem[] => {
    const path = ["security", "groups", index];
    if (budgets.length === 0) {
      const text = "has no effect without budgets and tokens_per_minute";
      return tokens_per_minute === undefined ? [problem(path, text)] : [];
    }
    const unbounded = api_key.keys.filter(({ name, max_concurrent }) =>
      keys.includes(name) && max_concurrent === undefined
    ).map(({ name }) => name);
    if (unbounded.length === 0) return [];
    const text = "can be exceeded without limit, because running requests are never ended: " +
      `set max_concurrent of ${unbounded.join(", ")}`;
    return [problem([...path, "budgets"], text)];
  });
}

/**
 * Returns a warning for each label that nothing uses, and for each use of a label that no key has.
 */
function labelWarnings({ security, observability, routing }: Config): Problem[] {
  const { keys } = security.api_key;
  const matched = routing.routes.flatMap(({ match }) => Object.keys(match.labels));
  const used = new Set([...observability.key_labels, ...matched]);
  const unused = keys.flatMap(({ labels }, index) =>
    Object.keys(labels).filter((name) => !used.has(name)).map((name): Problem =>
      problem(
        [...CLIENT_KEYS_PATH, index, "labels", name],
        "is used neither in match.labels of a route nor in observability.key_labels",
        "key",
      )
    )
  );
  const unknown = observability.key_labels.flatMap((name, index) =>
    keys.some(({ labels }) => Object.hasOwn(labels, name))
      ? []
      : [problem(["observability", "key_labels", index], "is a label that no client key has")]
  );
  return [...unused, ...unknown];
}

/** Returns a warning for each route that no client can match because of its key or its labels. */
export function keyMatchWarnings({ routing: { routes }, security }: Config): Problem[] {
  const { enabled, provider, api_key: { keys } } = security;
  const isRequired = enabled && provider === "api_key";
  return routes.flatMap(({ match }, index): Problem[] => {
    const wanted = Object.entries(match.labels);
    if (match.key === undefined && wanted.length === 0) return [];
    const path = ["routing", "routes", index, "match"];
    if (!isRequired) {
      return [problem(path, "never matches, because no client keys are required")];
    }
    const isMet = keys.some(({ name, labels }) =>
      (match.key === undefined || match.key.includes(name)) &&
      wanted.every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value)
    );
    return isMet ? [] : [problem(path, "never matches, because no client key has these labels")];
  });
}
