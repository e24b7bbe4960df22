import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseExact,
  parseJson,
} from "../core/json/json.ts";
import { type Edit, type Span, splice } from "../formats/edit.ts";
import { pushAll } from "../core/push_all.ts";
import { replaceString, type StringPlace, walkStrings } from "./answer_strings.ts";
import { kindOf } from "./answer_members.ts";
import type { AnswerForm } from "./types.ts";
import type { AnswerText, Part, TextKind } from "./answer_text.ts";
import { withoutLogprobs } from "./logprobs.ts";
import { annotatedKey, mayHavePosition, newWholeMover, positionEdits } from "./positions.ts";
import { atOnce } from "./pace.ts";
import { tokenMayBeIn } from "./restore.ts";

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
  return atOnce(finishSteps(answer, text, form));
}

/**
 * The same, which can be interrupted. JSON that is too large to be parsed is only walked: what
 * other members say of a text does not count then, and positions stay.
 */
export function* finishSteps(
  answer: AnswerText,
  text: string,
  form: AnswerForm,
  isTooLarge = false,
): Generator<void, string, void> {
  const hasDocuments = form.documents !== undefined && mayHavePosition(text);
  if (!answer.searchesAll && !hasDocuments && !(yield* tokenMayBeIn(text))) return text;
  const value = isTooLarge ? null : parseJson(text);
  if (value === undefined) {
    return withParts(answer, text, yield* answer.partSteps(text, "plain"));
  }
  yield;
  const edits: Edit[] = [];
  // Positions are moved by what is found here: a second search would be one piece.
  const annotated = new Map<JsonObject, readonly Part[]>();
  let strings: SearchedString[] = [];
  const walk = walkStrings(text, value, (string, place) => {
    const kind = kindOf(place, string, form);
    if (kind === null) return;
    const { start, end } = place;
    strings.push({ string, kind, start, end, annotated: annotatedBy(place) });
  });
  for (let isDone = false; !isDone;) {
    isDone = walk.next().done === true;
    for (const one of strings) {
      const { string, kind } = one;
      const parts = yield* answer.partSteps(string, kind);
      if (one.annotated !== null) annotated.set(one.annotated, parts);
      const finished = withParts(answer, string, parts);
      if (finished !== string) edits.push(replaceString(one, finished));
    }
    strings = [];
    yield;
  }
  if (answer.hidesLogprobs) pushAll(edits, yield* withoutLogprobs(text));
  const moveIn = newWholeMover(value, (holder) => annotated.get(holder) ?? []);
  pushAll(edits, yield* positionEdits(text, value, formFor(answer, form), moveIn));
  return edits.length === 0 ? text : splice(text, edits);
}

/** A string of a whole answer that is searched. */
interface SearchedString extends Span {
  readonly string: string;
  readonly kind: TextKind;
  /** The part with annotations whose text it is; null for any other string. */
  readonly annotated: JsonObject | null;
}

function annotatedBy({ path, parent, isKey }: StringPlace): JsonObject | null {
  if (isKey || parent === null || !("annotations" in parent)) return null;
  return path.at(-1) === annotatedKey(parent) ? parent : null;
}

/** Returns the form of an answer without the documents of the request, if rules search it. */
export function formFor({ searchesAll }: AnswerText, form: AnswerForm): AnswerForm {
  if (!searchesAll || form.documents === undefined) return form;
  const { documents: _documents, ...rest } = form;
  return rest;
}

/**
 * Returns a copy of an object after a search; the object itself if nothing changes. Can be
 * interrupted.
 */
export function* finishObject(
  answer: AnswerText,
  value: JsonObject,
  form: AnswerForm,
): Generator<void, JsonObject, void> {
  const text = JSON.stringify(value);
  yield;
  const finished = yield* finishSteps(answer, text, form);
  const parsed: JsonValue | undefined = finished === text ? value : parseExact(finished);
  return isObject(parsed) ? parsed : value;
}
