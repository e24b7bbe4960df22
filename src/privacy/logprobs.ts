import { endOfValue, skipBlanks } from "../core/json/scan.ts";
import type { Edit } from "../formats/edit.ts";
import { isWithin } from "./answer_paths.ts";
import { type JsonPath, walkJson } from "./json_strings.ts";

const LOGPROBS = "logprobs";

/** True for a path in the log probabilities of an answer, or for their own. */
export function isInLogprobs(path: JsonPath): boolean {
  return isWithin(path, LOGPROBS);
}

/** Returns the edits that empty the log probabilities of a JSON text. Can be interrupted. */
export function* withoutLogprobs(text: string): Generator<void, readonly Edit[], void> {
  // The name may have escapes.
  if (!text.includes(LOGPROBS) && !text.includes("\\u")) return [];
  const edits: Edit[] = [];
  yield* walkJson(text, ({ kind, end: nameEnd }, path) => {
    if (kind !== "name" || path.at(-1) !== LOGPROBS || !isInLogprobs(path)) return;
    if (path.indexOf(LOGPROBS) < path.length - 1) return;
    const start = skipBlanks(text, skipBlanks(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    const empty = text[start] === "[" ? "[]" : "null";
    if (text.slice(start, end) !== empty) edits.push({ start, end, text: empty });
  });
  return edits;
}
