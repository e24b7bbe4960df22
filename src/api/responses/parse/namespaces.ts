import type { Optional } from "../../../prompt/refusals.ts";
import { shortName } from "../../generate/tool_names.ts";

/** Returns the name of a function for chat upstreams, which have no namespaces. */
export function flatNameIn(namespace: Optional, name: string): string {
  return typeof namespace === "string" ? shortName(`${namespace}__${name}`) : name;
}
