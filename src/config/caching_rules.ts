import { isObject } from "../core/json.ts";
import { readNumber } from "./fields.ts";
import type { Problem } from "./problems.ts";
import { type Config, LARGEST_CACHE, LARGEST_ENTRY } from "./schema.ts";

/** What is wrong between the keys of `caching`, in the file as it is written. */
export function cachingProblems(caching: unknown): Problem[] {
  if (!isObject(caching)) return [];
  const { max_entry_bytes, max_bytes } = caching;
  const entry = readNumber(max_entry_bytes ?? LARGEST_ENTRY);
  const all = readNumber(max_bytes ?? LARGEST_CACHE);
  if (typeof entry !== "number" || typeof all !== "number" || entry <= all) return [];
  return max_entry_bytes === undefined
    ? [{
      path: ["caching", "max_bytes"],
      text: `must be at least max_entry_bytes, which is ${LARGEST_ENTRY} unless given`,
      at: "value",
    }]
    : [{
      path: ["caching", "max_entry_bytes"],
      text: max_bytes === undefined
        ? `must be at most max_bytes, which is ${LARGEST_CACHE} unless given`
        : "must be at most max_bytes",
      at: "value",
    }];
}

/** Settings of `caching` that are allowed and have no effect. */
export function cachingWarnings({ caching, security }: Config): Problem[] {
  const asksForKeys = security.enabled && security.provider === "api_key";
  if (!caching.per_key || asksForKeys) return [];
  const text = "has no effect while no client keys are asked for (see security.enabled)";
  return [{ path: ["caching", "per_key"], text, at: "value" }];
}
