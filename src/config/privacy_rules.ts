import { RE2JS } from "re2js";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseEncryptionKey } from "../formats/encryption_key.ts";
import { namesOf, objectsIn, repeated, unknownNames } from "./named_lists.ts";
import { WORD_CHARACTER } from "./privacy_schema.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import { BUILT_IN_POLICIES } from "./record_schema.ts";
import type { Config } from "./schema.ts";

/** Maximum number of words of all rules together. */
const MAX_WORD_COUNT = 10_000;

const KINDS = ["find", "words", "pattern"] as const;

/** Members that only a rule with a pattern has. */
const OF_PATTERNS = ["contains", "check", "max_length"] as const;

const A_POLICY = "the name of a privacy policy";

/**
 * Returns the problems of `privacy`, and of the policies that others name. Takes values before
 * defaults.
 */
export function privacyProblems({ privacy = {}, security, record }: JsonObject): Problem[] {
  if (!isObject(privacy)) return [];
  const rules = objectsIn(privacy.rules);
  const policies = objectsIn(privacy.policies);
  const names = namesOf(policies);
  const namePaths = (items: typeof rules, list: string) =>
    items.map(([index, { name }]) => [["privacy", list, index, "name"], name] as const);
  return [
    ...secretProblems(privacy.secret),
    ...repeated(namePaths(rules, "rules"), "is already the name of an earlier rule"),
    ...rules.flatMap(([index, rule]) => ruleProblems(rule, ["privacy", "rules", index])),
    ...wordProblems(rules),
    ...repeated(namePaths(policies, "policies"), "is already the name of an earlier policy"),
    ...policies.flatMap(([index, policy]) =>
      unknownNames(
        policy.rules,
        ["privacy", "policies", index, "rules"],
        namesOf(rules),
        "the name of a privacy rule",
      )
    ),
    ...unknownNames([privacy.default], ["privacy"], names, A_POLICY, "default"),
    ...selectionProblems(security, names),
    ...isObject(record)
      ? unknownNames(
        [record.policy],
        ["record"],
        [...BUILT_IN_POLICIES, ...names],
        "credentials, none or the name of a privacy policy",
        "policy",
      )
      : [],
  ];
}

function secretProblems(secret: unknown): Problem[] {
  if (typeof secret !== "string" || parseEncryptionKey(secret) !== null) return [];
  return [problem(["privacy", "secret"], "must be 32 bytes in base64")];
}

function ruleProblems(rule: JsonObject, path: Path): Problem[] {
  const kinds = KINDS.filter((kind) => rule[kind] !== undefined);
  const [, second] = kinds;
  const isPattern = rule.pattern !== undefined;
  return [
    ...kinds.length === 0 ? [problem(path, "must set find, words or pattern")] : [],
    ...second === undefined
      ? []
      : [problem([...path, second], `must not be set together with ${kinds[0]}`, "key")],
    ...patternProblems(rule.pattern, [...path, "pattern"]),
    ...isPattern
      ? []
      : OF_PATTERNS.filter((member) => rule[member] !== undefined).map((member) =>
        problem([...path, member], "is only for a rule with pattern", "key")
      ),
    ...Array.isArray(rule.words) ? unfindable(rule.words, [...path, "words"]) : [],
    ...rule.phase === "response" && rule.action === "replace"
      ? [problem([...path, "action"], "must not be replace with phase response")]
      : [],
  ];
}

function unfindable(words: readonly unknown[], path: Path): Problem[] {
  return words.flatMap((word, index) =>
    typeof word === "string" && !WORD_CHARACTER.test(word)
      ? [problem([...path, index], "must have a letter or a digit")]
      : []
  );
}

function patternProblems(pattern: unknown, path: Path): Problem[] {
  if (typeof pattern !== "string") return [];
  try {
    if (!RE2JS.compile(pattern).matches("")) return [];
    return [problem(path, "must not match the empty text")];
  } catch {
    return [problem(path, "is no pattern of RE2, which has no lookarounds and back references")];
  }
}

function wordProblems(rules: ReturnType<typeof objectsIn>): Problem[] {
  const counts = rules.map(([, { words }]) => Array.isArray(words) ? words.length : 0);
  const sum = counts.reduce((total, count) => total + count, 0);
  return sum <= MAX_WORD_COUNT
    ? []
    : [problem(["privacy", "rules"], `must have at most ${MAX_WORD_COUNT} words together`)];
}

/** Where a policy is selected: each list, and its path. */
function selectors(security: unknown): readonly (readonly [Path, unknown])[] {
  if (!isObject(security)) return [];
  const { api_key, groups, templates } = security;
  return [
    [["security", "api_key", "keys"], isObject(api_key) ? api_key.keys : undefined],
    [["security", "groups"], groups],
    [["security", "templates"], templates],
  ];
}

function selectionProblems(security: unknown, names: readonly string[]): Problem[] {
  return selectors(security).flatMap(([path, list]) =>
    objectsIn(list).flatMap(([index, { privacy }]) =>
      unknownNames([privacy], [...path, index], names, A_POLICY, "privacy")
    )
  );
}

/** Returns a warning for each valid setting of `privacy` that is likely a mistake. */
export function privacyWarnings(config: Config): Problem[] {
  const { privacy, security, state, server, record } = config;
  const { rules, policies } = privacy;
  const used = new Set(policies.flatMap((policy) => policy.rules));
  const selected = new Set(
    [...security.api_key.keys, ...security.groups, ...security.templates, {
      privacy: privacy.default,
    }, { privacy: record.policy }].map((one) => one.privacy),
  );
  const isDivided = server.workers !== 1 || state.store === "valkey";
  const isRandom = privacy.secret === undefined && state.encryption_keys.length === 0;
  const replaces = rules.some(({ action }) => action === "replace");
  return [
    ...isDivided && isRandom && replaces
      ? [problem(
        ["privacy", "rules"],
        "replace values, and without privacy.secret and state.encryption_keys each process makes other tokens",
        "key",
      )]
      : [],
    ...rules.flatMap(({ name }, index) =>
      used.has(name)
        ? []
        : [problem(["privacy", "rules", index, "name"], "has no effect: no policy has this rule")]
    ),
    ...policies.flatMap(({ name }, index) =>
      selected.has(name) ? [] : [problem(
        ["privacy", "policies", index, "name"],
        "has no effect: neither privacy.default nor record.policy nor a key, template or group selects this policy",
      )]
    ),
  ];
}
