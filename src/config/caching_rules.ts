import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseBoolean, parseNumber } from "./fields.ts";
import { type Problem, problem } from "./problems.ts";
import { identifiesClients } from "./security_rules.ts";
import { type Config, MAX_CACHE_BYTES, type WrittenConfig } from "./schema.ts";

/**
 * Returns the problems between the keys of `caching`, and with `state`. Takes the values before
 * defaults.
 */
export function cachingProblems(caching: unknown, state: unknown): Problem[] {
  if (!isObject(caching)) return [];
  return [...sharedProblems(caching, state), ...sizeProblems(caching)];
}

function sharedProblems({ shared }: JsonObject, state: unknown): Problem[] {
  const isShared = parseBoolean(shared) === true && isObject(state) && state.store === "none";
  return isShared
    ? [
      problem(
        ["caching", "shared"],
        "requires a state store, and state.store is none; set it to sqlite or valkey",
      ),
    ]
    : [];
}

function sizeProblems(caching: JsonObject): Problem[] {
  if (caching.max_entry_bytes === undefined) return [];
  const { max_entry_bytes, max_bytes } = caching;
  const entry = parseNumber(max_entry_bytes);
  const all = parseNumber(max_bytes ?? MAX_CACHE_BYTES);
  if (typeof entry !== "number" || typeof all !== "number" || entry <= all) return [];
  return [{
    path: ["caching", "max_entry_bytes"],
    text: max_bytes === undefined
      ? `must be at most max_bytes, whose default is ${MAX_CACHE_BYTES}`
      : "must be at most max_bytes",
    at: "value",
  }];
}

/**
 * Returns the cache settings with the default of `max_entry_bytes` capped by a smaller `max_bytes`.
 */
export function completeCaching(caching: WrittenConfig["caching"]): WrittenConfig["caching"] {
  const { max_entry_bytes, max_bytes } = caching;
  return { ...caching, max_entry_bytes: Math.min(max_entry_bytes, max_bytes) };
}

/** Returns a warning for each setting of `caching` that is valid but has no effect. */
export function cachingWarnings({ caching, security }: Config): Problem[] {
  if (!caching.per_key || identifiesClients(security)) return [];
  const text = "has no effect while no client keys are required (see security.enabled)";
  return [problem(["caching", "per_key"], text)];
}
