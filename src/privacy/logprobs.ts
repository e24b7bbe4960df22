import { skipBlanks } from "../core/json/scan.ts";
import type { Edit } from "../formats/edit.ts";
import { isWithin } from "./answer_paths.ts";
import { type JsonPath, type Objects, walkJson } from "./json_strings.ts";

/** The member with the log probabilities of an answer. */
export const LOGPROBS = "logprobs";

/** True for a path in the log probabilities of an answer, or for their own. */
export function isInLogprobs(path: JsonPath): boolean {
  return isWithin(path, LOGPROBS);
}

/** True if a JSON text may have log probabilities: their name may have escapes. */
export function mayHaveLogprobs(text: string): boolean {
  return text.includes(LOGPROBS) || text.includes("\\u");
}

/**
 * Calls `edit` with the edits that empty the log probabilities of a JSON text. Can be interrupted.
 */
export function* withoutLogprobs(
  text: string,
  edit: (edit: Edit) => void,
): Generator<void, void, void> {
  /** The log probabilities whose end is looked for, and the level of the object that has them. */
  let begun: { readonly start: number; readonly level: number } | null = null;
  let level = 0;

  function endAt(end: number): void {
    if (begun === null || begun.level !== level) return;
    const { start } = begun;
    begun = null;
    const empty = text[start] === "[" ? "[]" : "null";
    if (end - start !== empty.length) edit({ start, end, text: empty });
  }

  const objects: Objects = {
    open: () => {
      level += 1;
      return null;
    },
    close(end) {
      level -= 1;
      endAt(end);
    },
  };
  yield* walkJson(text, ({ kind, end }, path) => {
    if (kind !== "name") return endAt(end);
    if (begun !== null || path[path.length - 1] !== LOGPROBS || !isInLogprobs(path)) return;
    begun = { start: skipBlanks(text, skipBlanks(text, end) + 1), level };
  }, objects);
}
