import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MATCH_CHARS } from "../config/privacy_schema.ts";
import { newPrivacyCounts } from "../core/privacy_counts.ts";
import { parseEncryptionKey } from "../formats/encryption_key.ts";
import { CHECKS } from "./checks.ts";
import { DETECTORS } from "./detectors/detectors.ts";
import { newPatternFinder } from "./patterns.ts";
import { MAX_LABEL_CHARS, MIN_LABEL_CHARS } from "./token_form.ts";
import { newTokens } from "./tokens.ts";
import type { CallPrivacy, Finder, Policy, Rule } from "./types.ts";
import { newWordFinder } from "./words.ts";

type Settings = Pick<Config, "privacy" | "state">;
/** A rule as the configuration has it. */
export type RuleSettings = Config["privacy"]["rules"][number];

/** The policies of a configuration. */
export interface CompiledPrivacy {
  /** Returns the sum of the default policy and of those with these names. */
  policyFor(names: readonly string[]): Policy | null;
  /** Returns what a call with a policy carries, before it is searched. */
  newCall(policy: Policy): CallPrivacy;
  readonly maxSearchMs: number;
}

/** Secret of a process whose configuration has none. */
let randomSecret: Uint8Array | null = null;

/** Compiles the policies of a configuration; null if it has none. */
export function compilePrivacy({ privacy, state }: Settings): CompiledPrivacy | null {
  if (privacy.policies.length === 0) return null;
  const secret = secretOf({ privacy, state });
  const rules = compileRules(privacy.rules);
  const sums = new Map<string, Policy | null>();

  function sumOf(names: readonly string[]): Policy | null {
    const wanted = new Set(privacy.default === undefined ? names : [privacy.default, ...names]);
    const policies = privacy.policies.filter(({ name }) => wanted.has(name));
    if (policies.length === 0) return null;
    const ruleNames = new Set(policies.flatMap((policy) => policy.rules));
    const own = rules.filter(({ name }) => ruleNames.has(name));
    const settings = privacy.rules.filter(({ name }) => ruleNames.has(name));
    const refusesUnread = policies.some(({ unread }) => unread === "refuse");
    return {
      names: policies.map(({ name }) => name),
      request: own.filter(({ phase }) => phase === "request"),
      response: own.filter(({ phase }) => phase === "response"),
      refusesUnread,
      digest: createHash("sha256").update(secret)
        .update(JSON.stringify([settings, refusesUnread])).digest("base64url"),
    };
  }

  return {
    maxSearchMs: privacy.max_search_time,
    policyFor(names) {
      const key = JSON.stringify(names);
      let sum = sums.get(key);
      if (sum === undefined) sums.set(key, sum = sumOf(names));
      return sum;
    },
    newCall: (policy) => ({
      policy,
      tokens: newTokens(secret),
      scopes: null,
      counts: newPrivacyCounts(),
      earlier: new Map(),
      conversation: null,
      lossyWithTokens: [],
      answer: { isJsonText: false, isThinkingSigned: false },
      held: [],
      grown: () => {},
    }),
  };
}

function secretOf({ privacy, state }: Settings): Uint8Array {
  const own = privacy.secret === undefined ? null : parseEncryptionKey(privacy.secret);
  if (own !== null) return own;
  const [key] = state.encryption_keys;
  const bytes = key === undefined ? null : parseEncryptionKey(key);
  if (bytes !== null) return createHmac("sha256", bytes).update("switchyard.privacy").digest();
  return randomSecret ??= new Uint8Array(randomBytes(32));
}

/** Compiles the rules of a configuration, in its order. */
export function compileRules(rules: readonly RuleSettings[]): readonly Rule[] {
  return rules.map(compileRule);
}

function compileRule(settings: RuleSettings, order: number): Rule {
  const { name, phase, action, except } = settings;
  return { name, order, phase, action, finders: newFinders(settings), except: new Set(except) };
}

function newFinders(settings: RuleSettings): readonly Finder[] {
  const { name, find = [], words, pattern } = settings;
  const { label = labelOf(name) } = settings;
  if (words !== undefined) return [newWordFinder(label, words)];
  if (pattern !== undefined) {
    const { contains = [], check, max_length: maxChars = DEFAULT_MATCH_CHARS } = settings;
    const options = { contains, check: check === undefined ? null : CHECKS[check], maxChars };
    return [newPatternFinder(label, pattern, options)];
  }
  return find.map((one) => DETECTORS[one](settings.label ?? labelOf(one)));
}

/** Returns the letters of a name as a label. */
function labelOf(name: string): string {
  const letters = name.toLowerCase().replace(/[^a-z]/g, "").slice(0, MAX_LABEL_CHARS);
  return letters.length < MIN_LABEL_CHARS ? "value" : letters;
}
