import type { JsonPath } from "./json_strings.ts";

/** Members that lead to the parts of an answer, and not into what a tool or a client has named. */
const HOLDERS: ReadonlySet<string> = new Set(
  ("choices content content_block data delta item message output part response results").split(" "),
);

/** Steps after which a path is not one of a protocol any more: an answer may have any depth. */
export const MAX_STEP_COUNT = 32;

/** Members of the protocol whose own members a tool or a client has named. */
const NAMING: ReadonlySet<string> = new Set(["attributes", "document", "input", "metadata"]);

/**
 * Returns the index of the first step of a path that is a member of the protocol and leads to no
 * part of an answer; -1 if there is none.
 */
function memberIndex(path: JsonPath): number {
  for (let at = 0; at < path.length && at < MAX_STEP_COUNT; at++) {
    const step = path[at];
    if (typeof step === "string" && !HOLDERS.has(step)) return at;
  }
  return -1;
}

/** True for a path behind a name that a tool or a client has given. */
export function isNamedByClient(path: JsonPath): boolean {
  const at = memberIndex(path);
  const member = path[at];
  const isVariable = member === "prompt" && path[at + 1] === "variables" && path.length === at + 3;
  return isVariable ||
    typeof member === "string" && NAMING.has(member) && typeof path[at + 1] === "string";
}

/**
 * True for the path of the arguments of a tool call, which are JSON. A member with this name in the
 * input of a tool is none.
 */
export function isArguments(path: JsonPath): boolean {
  const isInNamed = (step: string | number, at: number) =>
    NAMING.has(String(step)) && typeof path[at + 1] === "string";
  return path.at(-1) === "arguments" && !isNamedByClient(path) &&
    !path.slice(0, MAX_STEP_COUNT).some(isInNamed);
}

/** True for a path in a member of the protocol with this name, or for its own. */
export function isWithin(path: JsonPath, name: string): boolean {
  return path[memberIndex(path)] === name;
}
