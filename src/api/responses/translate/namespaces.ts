import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { shortName } from "../../tool_names.ts";
import type { CalledFunction } from "../generate/items.ts";

/** Returns the name of a namespaced function for chat upstreams, which have no namespaces. */
export function flatName(namespace: string, name: string): string {
  return shortName(`${namespace}__${name}`);
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
