import { endOfValue, skipBlanks } from "../core/json/scan.ts";
import type { Edit } from "../formats/edit.ts";
import { type JsonPath, walkJson } from "./json_strings.ts";

const LOGPROBS = "logprobs";

/** Members that lead to log probabilities, and not to what a tool or a schema calls so. */
const HOLDERS: ReadonlySet<string> = new Set(
  ["choices", "content", "data", "delta", "item", "message", "output", "part", "response"],
);

/** True for a path in the log probabilities of an answer, or for their own. */
export function isInLogprobs(path: JsonPath): boolean {
  const at = path.indexOf(LOGPROBS);
  return at >= 0 &&
    path.slice(0, at).every((step) => typeof step === "number" || HOLDERS.has(step));
}

/** Returns the edits that empty the log probabilities of a JSON text. */
export function withoutLogprobs(text: string): readonly Edit[] {
  // The name may have escapes.
  if (!text.includes(LOGPROBS) && !text.includes("\\u")) return [];
  const edits: Edit[] = [];
  const walk = walkJson(text, ({ kind, end: nameEnd }, path) => {
    if (kind !== "name" || path.at(-1) !== LOGPROBS || !isInLogprobs(path)) return;
    if (path.indexOf(LOGPROBS) < path.length - 1) return;
    const start = skipBlanks(text, skipBlanks(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    const empty = text[start] === "[" ? "[]" : "null";
    if (text.slice(start, end) !== empty) edits.push({ start, end, text: empty });
  });
  while (walk.next().done !== true) { /* the whole text */ }
  return edits;
}
