import { PROFILE_NAMES } from "../data/hosts.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseBoolean, parseNumber } from "./fields.ts";
import { nearest, type Problem, problem } from "./problems.ts";
import { typeOf } from "./provider_rules.ts";
import { PROVIDER_TYPES } from "./provider_schema.ts";
import type { ProviderType } from "./schema.ts";

type Types = readonly ProviderType[];

/** Provider keys that only some types use. */
const KEYS: readonly (readonly [key: string, types: Types])[] = [
  ["top_k", ["local"]],
  ["organization", ["compat"]],
  ["api_version", ["messages"]],
  ["compatibility_profile", ["compat"]],
  ["normalize_developer_role", ["compat"]],
];

/** Provider types that use each capability. */
const CAPABILITIES: readonly (readonly [name: string, types: Types])[] = [
  ["chat_completions_lifecycle", ["compat"]],
  ["responses_lifecycle", ["compat"]],
  ["conversations", ["compat"]],
  ["background_responses", ["compat"]],
  ["response_cancellation", ["compat"]],
  ["response_compaction", ["compat"]],
  ["response_input_tokens", ["compat"]],
  ["hosted_tools", ["compat"]],
  ["relay", ["compat"]],
  ["embeddings_base64", ["compat"]],
  ["custom_tools", ["compat"]],
  ["structured_outputs", PROVIDER_TYPES],
  ["reasoning_effort", PROVIDER_TYPES],
  ["reasoning_effort_levels", PROVIDER_TYPES],
  ["adaptive_thinking", ["messages"]],
];

/** A provider key without effect: its path below the provider, and the reason. */
interface Unused {
  readonly path: readonly string[];
  readonly text: string;
}

/** Returns the capabilities that a provider of this type uses. */
export function usedCapabilities(type: ProviderType): readonly string[] {
  return CAPABILITIES.filter(([, types]) => types.includes(type)).map(([name]) => name);
}

/** Returns a warning for each key that is allowed at a provider and has no effect there. */
export function unusedWarnings(providers: unknown): Problem[] {
  if (!isObject(providers)) return [];
  return Object.entries(providers).flatMap(([id, written]) =>
    unusedKeys(id, written).map(({ path, text }): Problem => {
      return problem(["providers", id, ...path], text, "key");
    })
  );
}

/**
 * Returns the file without the provider keys that have no effect, so that no later code can send or
 * compare them. Returns the same object if there are none.
 */
export function withoutUnused(value: JsonObject): JsonObject {
  const { providers } = value;
  if (!isObject(providers)) return value;
  let isChanged = false;
  const used = Object.entries(providers).map(([id, written]) => {
    const unused = unusedKeys(id, written);
    if (unused.length === 0 || !isObject(written)) return [id, written] as const;
    isChanged = true;
    const places = new Set(unused.map(({ path }) => JSON.stringify(path)));
    return [id, withoutPlaces(written, [], places)] as const;
  });
  return isChanged ? { ...value, providers: Object.fromEntries(used) } : value;
}

function withoutPlaces(
  written: JsonObject,
  path: readonly string[],
  places: ReadonlySet<string>,
): JsonObject {
  const used = Object.entries(written).flatMap(([key, value]) => {
    const inner = [...path, key];
    if (places.has(JSON.stringify(inner))) return [];
    // Keys without effect are at most two levels below the provider.
    const isSection = isObject(value) && path.length === 0;
    return [[key, isSection ? withoutPlaces(value, inner, places) : value] as const];
  });
  return Object.fromEntries(used);
}

function unusedKeys(id: string, written: unknown): Unused[] {
  const type = isObject(written) ? typeOf(id, written) : null;
  if (!isObject(written) || type === null) return [];
  return [
    ...KEYS.flatMap(([key, types]): Unused[] =>
      written[key] === undefined || types.includes(type)
        ? []
        : [{ path: [key], text: foreign(type, types) }]
    ),
    ...type === "compat" ? unknownProfile(written.compatibility_profile) : [],
    ...unusedCapabilities(written.capabilities, type),
    ...unusedExtra(written.extra, type),
    ...unusedModels(written.models),
    ...unusedQueue(written),
    ...unusedRest(written),
  ];
}

function foreign(type: ProviderType, types: Types): string {
  return `has no effect for type ${type}; only type ${types.join(" or ")} uses it`;
}

function unknownProfile(profile: unknown): Unused[] {
  if (typeof profile !== "string" || PROFILE_NAMES.includes(profile)) return [];
  const likely = nearest(profile, PROFILE_NAMES);
  const hint = likely === null
    ? `; known: ${PROFILE_NAMES.join(", ")}`
    : `; did you mean "${likely}"?`;
  return [{
    path: ["compatibility_profile"],
    text: `has no effect: this profile is unknown${hint}`,
  }];
}

/** Returns the enabled capabilities that the provider type does not use. */
function unusedCapabilities(capabilities: unknown, type: ProviderType): Unused[] {
  if (!isObject(capabilities)) return [];
  return CAPABILITIES.flatMap(([name, types]): Unused[] => {
    const value = capabilities[name];
    const isOn = Array.isArray(value) ? value.length > 0 : parseBoolean(value) === true;
    if (!isOn || types.includes(type)) return [];
    return [{ path: ["capabilities", name], text: foreign(type, types) }];
  });
}

function unusedExtra(extra: unknown, type: ProviderType): Unused[] {
  if (!isObject(extra)) return [];
  return Object.entries(extra).flatMap(([key, value]): Unused[] => {
    const text = key !== "max_tokens"
      ? type === "local"
        ? null
        : `has no effect: max_tokens is the only extra setting that type ${type} uses`
      : /^0*[1-9]\d{0,9}$/.test(String(value))
      ? null
      : "has no effect: it is not a whole number of at least 1";
    return text === null ? [] : [{ path: ["extra", key], text }];
  });
}

/** Returns the setting of resting keys of a provider without a second key. */
function unusedRest({ api_keys: keys, key_rest }: JsonObject): Unused[] {
  const hasPool = Array.isArray(keys) && keys.length > 1;
  const text = "has no effect: api_keys does not have several keys";
  return key_rest === undefined || hasPool ? [] : [{ path: ["key_rest"], text }];
}

/** Returns the queue settings of a provider without a queue. */
function unusedQueue({ max_concurrent, max_queued, queue_timeout }: JsonObject): Unused[] {
  const missing = max_concurrent === undefined
    ? "max_concurrent"
    : max_queued === undefined || parseNumber(max_queued) === 0
    ? "max_queued"
    : null;
  const written = { max_queued, queue_timeout };
  return Object.entries(written).flatMap(([key, value]): Unused[] =>
    value === undefined || missing === null || missing === key
      ? []
      : [{ path: [key], text: `has no effect: ${missing} is not set` }]
  );
}

/** Returns the model list settings that belong to a mode that is not set. */
function unusedModels(models: unknown): Unused[] {
  if (!isObject(models)) return [];
  return (["static", "fetch"] as const).flatMap((key): Unused[] => {
    if (models[key] === undefined || models.mode === key) return [];
    return [{ path: ["models", key], text: `has no effect: it applies to mode ${key} only` }];
  });
}
