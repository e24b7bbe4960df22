import { parseJson } from "../core/json/json.ts";
import { newPrivacyCounts } from "../core/privacy_counts.ts";
import { atOnce } from "../formats/at_once.ts";
import { type Edit, splice } from "../formats/edit.ts";
import { isArguments } from "./answer_paths.ts";
import { replaceString, walkStrings } from "./answer_strings.ts";
import { newTokenText } from "./answer_text.ts";
import { finishText } from "./finish.ts";
import { objectsOf } from "./json_strings.ts";
import type { TokenMap } from "./types.ts";

/**
 * Returns a JSON text with the values of its tokens, as the client wrote them: the inverse of what
 * `replaceJson` does. What is no JSON may be lines of it.
 */
export function restoreJson(text: string, tokens: TokenMap): string {
  const answer = newTokenText(tokens, newPrivacyCounts());
  // Only the arguments of tools are JSON inside the JSON.
  const value = text.includes('"arguments"') ? parseJson(text) : undefined;
  if (value === undefined) return finishText(answer, text, "json");
  const edits: Edit[] = [];
  const walk = walkStrings(text, objectsOf(value), (string, place) => {
    const kind = isArguments(place.path) && !place.isKey ? "json" : "plain";
    const restored = finishText(answer, string, kind);
    if (restored !== string) edits.push(replaceString(place, restored));
  });
  atOnce(walk);
  return splice(text, edits);
}

/** The same for a text. */
export function restoreText(text: string, tokens: TokenMap): string {
  return finishText(newTokenText(tokens, newPrivacyCounts()), text, "plain");
}
