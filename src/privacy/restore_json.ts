import { type JsonObject, parseJson } from "../core/json/json.ts";
import { newPrivacyCounts } from "../core/privacy_counts.ts";
import { atOnce } from "../core/at_once.ts";
import { newSplicer, type Span } from "../formats/edit.ts";
import { isArguments } from "./answer_paths.ts";
import { replaceStringSteps, walkStrings } from "./answer_strings.ts";
import { newTokenText } from "./answer_text.ts";
import { isWrittenAsJson } from "./escaped_texts.ts";
import { changedObject, finishText, textSteps } from "./finish.ts";
import type { Objects } from "./json_strings.ts";
import type { AnswerForm, TokenMap } from "./types.ts";

/**
 * Returns a JSON text with the values of its tokens, as the client wrote them: the inverse of what
 * `replaceJson` does. What is no JSON may be lines of it.
 */
export function restoreJson(text: string, tokens: TokenMap, form: WrittenForm = {}): string {
  return parseJson(text) === undefined
    ? finishText(newTokenText(tokens, newPrivacyCounts()), text, "json")
    : atOnce(restoreSteps(text, tokens, form));
}

/** The same for an object. Can be interrupted. */
export function restoreObject(
  value: JsonObject,
  tokens: TokenMap,
  form: WrittenForm,
): Generator<void, JsonObject, void> {
  return changedObject(value, (text) => restoreSteps(text, tokens, form));
}

type WrittenForm = Pick<AnswerForm, "jsonTexts">;

/** Says nothing of the objects that a walk enters. */
const NO_OBJECTS: Objects = { open: () => null, close: () => {} };

function* restoreSteps(
  text: string,
  tokens: TokenMap,
  form: WrittenForm,
): Generator<void, string, void> {
  const answer = newTokenText(tokens, newPrivacyCounts());
  // Without a quote in a text only the arguments of tools are JSON inside the JSON.
  if (!/"arguments"|\\"/.test(text)) return yield* textSteps(answer, text, "json");
  const strings = newSplicer(text);
  let waiting: (Span & { readonly string: string; readonly isInner: boolean })[] = [];
  const walk = walkStrings(text, NO_OBJECTS, (string, { isKey, path, start, end }) => {
    const isInner = !isKey && (isArguments(path) || isWrittenAsJson(string, form));
    waiting.push({ start, end, string: isInner ? string : text.slice(start, end), isInner });
  });
  for (let isDone = false; !isDone;) {
    isDone = walk.next().done === true;
    for (const { string, isInner, start, end } of waiting) {
      const restored = yield* textSteps(answer, string, "json");
      if (restored === string) continue;
      strings.add(
        isInner
          ? yield* replaceStringSteps({ start, end }, restored)
          : { start, end, text: restored },
      );
    }
    waiting = [];
    yield;
  }
  return strings.text();
}

/** The same for a text. */
export function restoreText(text: string, tokens: TokenMap): string {
  return finishText(newTokenText(tokens, newPrivacyCounts()), text, "plain");
}
