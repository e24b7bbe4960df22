import { createHash } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import type { CalledFunction } from "../generate/items.ts";

/** Longest name of a function (Chat Completions, tools). */
const LONGEST_NAME = 64;

/**
 * The name under which a function of a namespace is known to chat upstreams, which have no
 * namespaces; one that is too long is cut and made distinct by its hash.
 */
export function flatName(namespace: string, name: string): string {
  const whole = `${namespace}__${name}`;
  if (whole.length <= LONGEST_NAME) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${whole.slice(0, LONGEST_NAME - hash.length - 1)}_${hash}`;
}

/** The functions out of namespaces among a request's tools, by their flat names. */
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
