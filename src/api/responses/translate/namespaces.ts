import { shortName } from "../../tool_names.ts";

/** Returns the name of a namespaced function for chat upstreams, which have no namespaces. */
export function flatName(namespace: string, name: string): string {
  return shortName(`${namespace}__${name}`);
}
