import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseExact,
  parseJson,
} from "../core/json/json.ts";
import { type Edit, type Span, splice } from "../formats/edit.ts";
import { pushAll } from "../core/push_all.ts";
import { replaceString, walkStrings } from "./answer_strings.ts";
import { kindOf } from "./answer_members.ts";
import type { AnswerForm } from "./types.ts";
import type { AnswerText, Part, TextKind } from "./answer_text.ts";
import { withoutLogprobs } from "./logprobs.ts";
import { mayHavePosition, newWholeMover, positionEdits } from "./positions.ts";
import { mayHaveToken } from "./restore.ts";

/** Returns a whole text of an answer after a search. Its parts count if `isCounted`. */
export function finishText(
  answer: AnswerText,
  text: string,
  kind: TextKind,
  isCounted = true,
): string {
  return withParts(answer, text, answer.parts(text, kind), isCounted);
}

function withParts(
  answer: AnswerText,
  text: string,
  parts: readonly Part[],
  isCounted = true,
): string {
  let result = "";
  let at = 0;
  for (const part of parts) {
    if (isCounted) answer.count(part);
    if (part.text === null) continue;
    result += text.slice(at, part.start) + part.text;
    at = part.end;
  }
  return at === 0 ? text : result + text.slice(at);
}

/**
 * Returns the JSON text of a whole answer after a search: every other byte stays. A text that is no
 * JSON is searched as a text.
 */
export function finishDocument(answer: AnswerText, text: string, form: AnswerForm): string {
  const work = finishSteps(answer, text, form);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** The same, which can be interrupted. */
export function* finishSteps(
  answer: AnswerText,
  text: string,
  form: AnswerForm,
): Generator<void, string, void> {
  const hasDocuments = form.documents !== undefined && mayHavePosition(text);
  if (!answer.searchesAll && !hasDocuments && !mayHaveToken(text)) return text;
  const value = parseJson(text);
  if (value === undefined) {
    return withParts(answer, text, yield* answer.partSteps(text, "plain"));
  }
  yield;
  const strings: (Span & { readonly string: string; readonly kind: TextKind })[] = [];
  yield* walkStrings(text, value, (string, place) => {
    const kind = kindOf(place, string, form);
    if (kind !== null) strings.push({ string, kind, start: place.start, end: place.end });
  });
  const edits: Edit[] = [];
  for (const { string, kind, start, end } of strings) {
    yield;
    const finished = withParts(answer, string, yield* answer.partSteps(string, kind));
    if (finished !== string) edits.push(replaceString({ start, end }, finished));
  }
  yield;
  if (answer.hidesLogprobs) pushAll(edits, withoutLogprobs(text));
  pushAll(
    edits,
    positionEdits(text, value, formFor(answer, form), newWholeMover(answer, value, form)),
  );
  return edits.length === 0 ? text : splice(text, edits);
}

/** Returns the form of an answer without the documents of the request, if rules search it. */
export function formFor({ searchesAll }: AnswerText, form: AnswerForm): AnswerForm {
  if (!searchesAll || form.documents === undefined) return form;
  const { documents: _documents, ...rest } = form;
  return rest;
}

/** Returns a copy of an object after a search; the object itself if nothing changes. */
export function finishObject(answer: AnswerText, value: JsonObject, form: AnswerForm): JsonObject {
  const text = JSON.stringify(value);
  const finished = finishDocument(answer, text, form);
  const parsed: JsonValue | undefined = finished === text ? value : parseExact(finished);
  return isObject(parsed) ? parsed : value;
}
