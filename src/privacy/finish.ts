import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseExact,
  parseJson,
} from "../core/json/json.ts";
import { type Edit, splice } from "../formats/edit.ts";
import { replaceString, visitStrings } from "../formats/json_strings.ts";
import { type AnswerForm, kindOf } from "./answer_members.ts";
import type { AnswerText, TextKind } from "./answer_text.ts";
import { isRefused } from "./channel.ts";
import { mayHaveToken, replaceParts } from "./restore.ts";

/** Returns a whole text of an answer as the client gets it. Its parts count if `isCounted`. */
export function finishText(
  answer: AnswerText,
  text: string,
  kind: TextKind,
  isCounted: boolean,
): string {
  const parts = answer.parts(text, kind);
  if (parts.length === 0) return text;
  for (const part of parts) {
    if (isCounted) answer.count(part);
    if (isRefused(part, kind)) answer.refuse(part.rule);
  }
  return replaceParts(
    text,
    parts.flatMap((part) => part.text === null ? [] : [{ ...part, text: part.text }]),
  );
}

/**
 * Returns the JSON text of a whole answer as the client gets it: every other byte stays. A text
 * that is no JSON is finished as a text.
 */
export function finishDocument(
  answer: AnswerText,
  text: string,
  form: AnswerForm,
  isCounted = true,
): string {
  if (!answer.hasRules && !mayHaveToken(text)) return text;
  const value = parseJson(text);
  if (value === undefined) return finishText(answer, text, "plain", isCounted);
  const edits: Edit[] = [];
  visitStrings(text, value, (string, place) => {
    const kind = kindOf(place, string, form);
    const finished = kind === null ? string : finishText(answer, string, kind, isCounted);
    if (finished !== string) edits.push(replaceString(place, finished));
  });
  return edits.length === 0 ? text : splice(text, edits);
}

/** Returns a copy of an object as the client gets it; the object itself if nothing changes. */
export function finishObject(answer: AnswerText, value: JsonObject, form: AnswerForm): JsonObject {
  const text = JSON.stringify(value);
  const finished = finishDocument(answer, text, form, false);
  const parsed: JsonValue | undefined = finished === text ? value : parseExact(finished);
  return isObject(parsed) ? parsed : value;
}
