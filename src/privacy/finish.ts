import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseExact,
  parseJson,
} from "../core/json/json.ts";
import { jsonPieces } from "../core/json/json_pieces.ts";
import { type Edit, type Span, splice, spliceSteps } from "../formats/edit.ts";
import { pushAll } from "../core/push_all.ts";
import type { ScanProblem } from "../formats/json_scan.ts";
import { type StringPlace, walkStrings } from "./answer_strings.ts";
import { kindOf } from "./answer_members.ts";
import { newPositions, type Objects, objectsOf } from "./json_strings.ts";
import type { AnswerForm } from "./types.ts";
import type { AnswerText, Part, TextKind } from "./answer_text.ts";
import { withoutLogprobs } from "./logprobs.ts";
import { movedPosition, type Moves, newMoves } from "./moves.ts";
import { annotatedKey, mayHavePosition, positionEdits } from "./positions.ts";
import { atOnce } from "./pace.ts";
import { tokenMayBeIn } from "./restore.ts";
import { tellObjects, toldObjects } from "./told_objects.ts";

/** Returns a whole text of an answer after a search. Its parts count if `isCounted`. */
export function finishText(
  answer: AnswerText,
  text: string,
  kind: TextKind,
  isCounted = true,
): string {
  const parts = answer.parts(text, kind);
  if (isCounted) { for (const part of parts) answer.count(part); }
  return splice(text, parts.flatMap(editOf));
}

/** The same, which can be interrupted. */
export function* textSteps(
  answer: AnswerText,
  text: string,
  kind: TextKind,
): Generator<void, string, void> {
  const edits: Edit[] = [];
  for (const parts of answer.partSteps(text, kind)) {
    for (const part of parts) answer.count(part);
    pushAll(edits, parts.flatMap(editOf));
    yield;
  }
  return yield* spliceSteps(text, edits);
}

function editOf({ start, end, text }: Part): Edit[] {
  return text === null ? [] : [{ start, end, text }];
}

/**
 * Returns the JSON text of a whole answer after a search: every other byte stays. A text that is no
 * JSON is searched as a text.
 */
export function finishDocument(answer: AnswerText, text: string, form: AnswerForm): string {
  return atOnce(finishSteps(answer, text, form));
}

/**
 * The same, which can be interrupted. `problem` is that of the text, which undefined says is short
 * enough to be parsed at once. What other members say of a text that is too large to be parsed does
 * not count, and positions stay.
 */
export function* finishSteps(
  answer: AnswerText,
  text: string,
  form: AnswerForm,
  problem?: ScanProblem | null,
): Generator<void, string, void> {
  const hasDocuments = form.documents !== undefined && mayHavePosition(text);
  if (!answer.searchesAll && !hasDocuments && !(yield* tokenMayBeIn(text))) return text;
  if (problem === undefined) {
    const value = parseJson(text);
    return value === undefined
      ? yield* textSteps(answer, text, "plain")
      : yield* finishJson(answer, text, form, () => objectsOf(value));
  }
  if (problem === "invalid") return yield* textSteps(answer, text, "plain");
  const told = problem === null ? yield* tellObjects(text) : [];
  return yield* finishJson(answer, text, form, () => toldObjects(told));
}

/** Characters that are searched before other work may have its turn. */
const STEP_CHARS = 64 * 1024;

/** `newObjects` returns the objects of the text for one walk. */
function* finishJson(
  answer: AnswerText,
  text: string,
  form: AnswerForm,
  newObjects: () => Objects,
): Generator<void, string, void> {
  const edits: Edit[] = [];
  // Positions are moved by what is found here: a second search would be one piece.
  const annotated = new Map<JsonObject, Moves>();
  const written = new Map<string, string>();
  let strings: SearchedString[] = [];
  let chars = 0;

  function* searchString({ string, kind, holder, start, end }: SearchedString) {
    const moves = holder === null ? null : newMoves(string);
    if (holder !== null && moves !== null) annotated.set(holder, moves);
    let position: ReturnType<typeof newPositions> | null = null;
    for (const parts of answer.partSteps(string, kind)) {
      for (const part of parts) {
        answer.count(part);
        if (part.text === null) continue;
        position ??= newPositions(text, start, end);
        const escaped = written.get(part.text) ?? JSON.stringify(part.text).slice(1, -1);
        written.set(part.text, escaped);
        edits.push({
          start: yield* position(part.start),
          end: yield* position(part.end),
          text: escaped,
        });
      }
      moves?.add(parts);
      chars += string.length;
      if (chars < STEP_CHARS) continue;
      chars = 0;
      yield;
    }
  }

  const walk = walkStrings(text, newObjects(), (string, place) => {
    const kind = kindOf(place, string, form);
    if (kind === null) return;
    const { start, end } = place;
    strings.push({ string, kind, start, end, holder: annotatedBy(place) });
  });
  for (let isDone = false; !isDone;) {
    isDone = walk.next().done === true;
    for (const one of strings) yield* searchString(one);
    strings = [];
    yield;
  }
  if (answer.hidesLogprobs) pushAll(edits, yield* withoutLogprobs(text));
  const documentForm = formFor(answer, form);
  if (annotated.size > 0 || documentForm.documents !== undefined) {
    const moved = yield* positionEdits(text, newObjects(), documentForm, (position) => {
      const moves = position.holder === null ? undefined : annotated.get(position.holder);
      return movedPosition(moves?.all ?? [], position.at, position.isEnd);
    });
    pushAll(edits, moved);
  }
  return yield* spliceSteps(text, edits);
}

/** A string of a whole answer that is searched. */
interface SearchedString extends Span {
  readonly string: string;
  readonly kind: TextKind;
  /** The part with annotations whose text it is; null for any other string. */
  readonly holder: JsonObject | null;
}

function annotatedBy({ path, parent, isKey }: StringPlace): JsonObject | null {
  if (isKey || parent === null || !("annotations" in parent)) return null;
  return path[path.length - 1] === annotatedKey(parent) ? parent : null;
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
  const pieces: string[] = [];
  for (const piece of jsonPieces(value)) {
    pieces.push(piece);
    if (pieces.length % WRITTEN_PIECE_COUNT === 0) yield;
  }
  const text = pieces.join("");
  const finished = yield* finishJson(answer, text, form, () => objectsOf(value));
  const parsed: JsonValue | undefined = finished === text ? value : parseExact(finished);
  return isObject(parsed) ? parsed : value;
}

/** Pieces of a JSON text that are written in one step. */
const WRITTEN_PIECE_COUNT = 64;
