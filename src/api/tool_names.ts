import { createHash } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import type { CalledFunction } from "./responses/generate/items.ts";

/** Maximum length of a function name in characters (Chat Completions, tools). */
const MAX_NAME_CHARS = 64;

/**
 * Returns the name of a namespaced function for chat upstreams, which have no namespaces. A name that
 * is too long is truncated and made distinct by its hash.
 */
export function flatName(namespace: string, name: string): string {
  const whole = `${namespace}__${name}`;
  if (whole.length <= MAX_NAME_CHARS) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${whole.slice(0, MAX_NAME_CHARS - hash.length - 1)}_${hash}`;
}

/** Returns the namespaced functions among a request's tools, by their flat names. */
export function namespacedFunctions(
  tools: JsonValue | undefined,
): ReadonlyMap<string, CalledFunction> {
  const functions = new Map<string, CalledFunction>();
  for (const { type, name: namespace, tools: inner } of objectsIn(tools)) {
    if (type !== "namespace" || typeof namespace !== "string") continue;
    for (const { name } of objectsIn(inner)) {
      if (typeof name === "string") functions.set(flatName(namespace, name), { name, namespace });
    }
  }
  return functions;
}

function objectsIn(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
