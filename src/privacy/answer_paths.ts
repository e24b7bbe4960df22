import type { JsonPath } from "./json_strings.ts";

/** Members that lead to the parts of an answer, and not into what a tool or a client has named. */
const HOLDERS: ReadonlySet<string> = new Set(
  ("choices content content_block data delta item message output part response").split(" "),
);

/** True for a path in a member of the protocol with this name, or for its own. */
export function isWithin(path: JsonPath, name: string): boolean {
  const at = path.indexOf(name);
  return at >= 0 &&
    path.slice(0, at).every((step) => typeof step === "number" || HOLDERS.has(step));
}
