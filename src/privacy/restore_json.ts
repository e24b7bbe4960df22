import { parseJson } from "../core/json/json.ts";
import { newPrivacyCounts } from "../core/privacy_counts.ts";
import { atOnce } from "../core/at_once.ts";
import { type Edit, splice } from "../formats/edit.ts";
import { isArguments } from "./answer_paths.ts";
import { replaceString, walkStrings } from "./answer_strings.ts";
import { newTokenText } from "./answer_text.ts";
import { isWrittenAsJson } from "./escaped_texts.ts";
import { finishText } from "./finish.ts";
import { objectsOf } from "./json_strings.ts";
import type { AnswerForm, TokenMap } from "./types.ts";

/**
 * Returns a JSON text with the values of its tokens, as the client wrote them: the inverse of what
 * `replaceJson` does. What is no JSON may be lines of it.
 */
export function restoreJson(
  text: string,
  tokens: TokenMap,
  form: Pick<AnswerForm, "jsonTexts"> = {},
): string {
  const answer = newTokenText(tokens, newPrivacyCounts());
  // Without a quote in a text only the arguments of tools are JSON inside the JSON.
  const value = /"arguments"|\\"/.test(text) ? parseJson(text) : undefined;
  if (value === undefined) return finishText(answer, text, "json");
  const edits: Edit[] = [];
  const walk = walkStrings(text, objectsOf(value), (string, place) => {
    const isInner = !place.isKey &&
      (isArguments(place.path) || isWrittenAsJson(string, form));
    const { start, end } = place;
    const own = isInner ? string : text.slice(start, end);
    const restored = finishText(answer, own, "json");
    if (restored === own) return;
    edits.push(isInner ? replaceString(place, restored) : { start, end, text: restored });
  });
  atOnce(walk);
  return splice(text, edits);
}

/** The same for a text. */
export function restoreText(text: string, tokens: TokenMap): string {
  return finishText(newTokenText(tokens, newPrivacyCounts()), text, "plain");
}
