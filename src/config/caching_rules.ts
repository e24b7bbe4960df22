import { isObject } from "../core/json/json.ts";
import { readNumber } from "./fields.ts";
import type { Problem } from "./problems.ts";
import { type Config, LARGEST_CACHE, type WrittenConfig } from "./schema.ts";

/** What is wrong between the keys of `caching`, in the file as it is written. */
export function cachingProblems(caching: unknown): Problem[] {
  if (!isObject(caching) || caching.max_entry_bytes === undefined) return [];
  const { max_entry_bytes, max_bytes } = caching;
  const entry = readNumber(max_entry_bytes);
  const all = readNumber(max_bytes ?? LARGEST_CACHE);
  if (typeof entry !== "number" || typeof all !== "number" || entry <= all) return [];
  return [{
    path: ["caching", "max_entry_bytes"],
    text: max_bytes === undefined
      ? `must be at most max_bytes, which is ${LARGEST_CACHE} unless given`
      : "must be at most max_bytes",
    at: "value",
  }];
}

/** The cache settings with the default of `max_entry_bytes` capped by a smaller `max_bytes`. */
export function completeCaching(caching: WrittenConfig["caching"]): WrittenConfig["caching"] {
  const { max_entry_bytes, max_bytes } = caching;
  return { ...caching, max_entry_bytes: Math.min(max_entry_bytes, max_bytes) };
}

/** Settings of `caching` that are allowed and have no effect. */
export function cachingWarnings({ caching, security }: Config): Problem[] {
  const asksForKeys = security.enabled && security.provider === "api_key";
  if (!caching.per_key || asksForKeys) return [];
  const text = "has no effect while no client keys are asked for (see security.enabled)";
  return [{ path: ["caching", "per_key"], text, at: "value" }];
}
