import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { jsonPieces } from "../core/json/json_pieces.ts";
import { newSplicer, type Span, type Splicer } from "../formats/edit.ts";
import type { ScanProblem } from "../formats/json_scan.ts";
import { sealText } from "../core/stream/sealed_text.ts";
import { replaceString, type StringPlace, walkStrings } from "./answer_strings.ts";
import { kindOf } from "./answer_members.ts";
import { newPositions, parseSteps } from "./json_strings.ts";
import type { AnswerForm } from "./types.ts";
import type { AnswerText, Part, TextKind } from "./answer_text.ts";
import { LOGPROBS, withoutLogprobs } from "./logprobs.ts";
import { movedPosition, type Moves, newMoves } from "./moves.ts";
import {
  annotatedKey,
  isDocumentPosition,
  type Position,
  positionEdits,
  positionMayBeIn,
} from "./positions.ts";
import { atOnce } from "../core/at_once.ts";
import { tokenMayBeIn } from "./restore.ts";
import { openSeal } from "./seals.ts";
import { joinStrings } from "./search.ts";
import { withoutBordersSteps } from "./text_borders.ts";
import { knownObjects, readObjects } from "./read_objects.ts";

/** Characters that are searched before other work may have its turn. */
const STEP_CHARS = 64 * 1024;

/**
 * Returns a whole text of an answer after a search. Its parts do not count if it repeats texts
 * before it.
 */
export function finishText(
  answer: AnswerText,
  text: string,
  kind: TextKind,
  isRepetition = false,
): string {
  if (kind === "sealed") return atOnce(sealedSteps(answer, text));
  const parts = answer.parts(text, kind);
  return parts.length === 0 ? text : addParts(answer, newSplicer(text), parts, isRepetition).text();
}

/** The same, which can be interrupted. */
export function* textSteps(
  answer: AnswerText,
  text: string,
  kind: TextKind,
  isRepetition = false,
): Generator<void, string, void> {
  if (kind === "sealed") return yield* sealedSteps(answer, text);
  const splicer = newSplicer(text);
  for (const parts of answer.partSteps(yield* withoutBordersSteps(text), kind)) {
    addParts(answer, splicer, parts, isRepetition);
    yield;
  }
  return splicer.text();
}

/** The form of what the gateway seals, whose objects say all. */
const SEAL_FORM: AnswerForm = { isJsonText: false, isThinkingSigned: false };

/**
 * Returns sealed thinking after a search for the matches of rules, which count where the thinking
 * is visible. Its tokens stay: it goes back to the provider. Can be interrupted.
 */
function* sealedSteps(answer: AnswerText, sealed: string): Generator<void, string, void> {
  const opened = answer.searchesAll ? openSeal(sealed) : null;
  if (opened === null || opened === "too_large") return sealed;
  const { text, isSigned } = opened;
  const own: AnswerText = { ...answer, count: (part) => answer.count(part, true) };
  const finished = isSigned
    ? yield* textSteps(own, text, "signed")
    : yield* finishSteps(own, text, SEAL_FORM);
  return finished === text ? sealed : sealText(finished);
}

function addParts(
  answer: AnswerText,
  splicer: Splicer,
  parts: readonly Part[],
  isRepetition: boolean,
): Splicer {
  for (const part of parts) {
    answer.count(part, isRepetition);
    const { start, end, text } = part;
    if (text !== null) splicer.add({ start, end, text });
  }
  return splicer;
}

/** True if a text is JSON. `problem` is that of the text, as `finishSteps` gets it. */
export function isJsonText(text: string, problem: ScanProblem | null | undefined): boolean {
  return problem === undefined ? parseJson(text) !== undefined : problem !== "invalid";
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
  const isSearched = answer.searchesAll || (yield* tokenMayBeIn(text)) ||
    form.documents !== undefined && (yield* positionMayBeIn(text));
  if (!isSearched) return text;
  return isJsonText(text, problem)
    ? yield* finishJson(answer, text, form, problem === "too_large")
    : yield* textSteps(answer, text, "plain");
}

function* finishJson(
  answer: AnswerText,
  text: string,
  form: AnswerForm,
  isTooLarge = false,
): Generator<void, string, void> {
  const objects = isTooLarge ? [] : yield* readObjects(text);
  const strings = newSplicer(text);
  // Positions are moved by what is found here: a second search would be one piece.
  const annotated = new Map<JsonObject, Moves>();
  const written = new Map<string, string>();
  let waiting: SearchedString[] = [];
  let chars = 0;

  /** Searches strings of one kind in one text, as those of a request. */
  function* searchStrings(group: readonly SearchedString[]) {
    const [first] = group;
    if (first === undefined) return;
    const { holder } = first;
    if (first.isNumber || first.kind === "sealed") {
      const finished = yield* textSteps(answer, first.string, first.kind);
      if (finished !== first.string) strings.add(replaceString(first, finished));
      return;
    }
    const joined = yield* joinStrings(group.map(({ string }) => string));
    const moves = holder === null ? null : newMoves(joined);
    if (holder !== null && moves !== null) annotated.set(holder, moves);
    let [index, offset] = [0, 0];
    let position: ReturnType<typeof newPositions> | null = null;
    for (const parts of answer.partSteps(joined, first.kind)) {
      for (const part of parts) {
        answer.count(part);
        if (part.text === null) continue;
        let one = group[index] ?? first;
        while (part.start >= offset + one.string.length && index < group.length - 1) {
          offset += one.string.length + 1;
          one = group[++index] ?? first;
          position = null;
        }
        position ??= newPositions(text, one.start, one.end);
        const escaped = written.get(part.text) ?? JSON.stringify(part.text).slice(1, -1);
        written.set(part.text, escaped);
        strings.add({
          start: yield* position(part.start - offset),
          end: yield* position(Math.min(part.end - offset, one.string.length)),
          text: escaped,
        });
      }
      if (moves !== null) yield* moves.add(parts);
      chars += joined.length;
      if (chars < STEP_CHARS) continue;
      chars = 0;
      yield;
    }
  }

  const documentForm = formFor(answer, form);
  let [hasLogprobs, hasPositions] = [false, false];
  const walk = walkStrings(text, knownObjects(objects), (string, place) => {
    if (place.isKey) {
      hasLogprobs ||= string === LOGPROBS;
      hasPositions ||= documentForm.documents !== undefined && isDocumentPosition(string);
    }
    const kind = kindOf(place, string, form);
    if (kind === null) return;
    const { start, end, isNumber } = place;
    waiting.push({ string, kind, start, end, isNumber, holder: annotatedBy(place) });
  });
  for (let isDone = false; !isDone;) {
    isDone = walk.next().done === true;
    for (const group of groupsOf(waiting)) yield* searchStrings(group);
    waiting = [];
    yield;
  }
  // What follows is in what the search has written: its objects are the same ones.
  let finished = strings.text();
  if (hasPositions || annotated.size > 0) {
    const moveIn = ({ holder, at, isEnd }: Position) => {
      const moves = holder === null ? undefined : annotated.get(holder);
      return movedPosition(moves?.all ?? [], at, isEnd);
    };
    const positions = newSplicer(finished);
    yield* positionEdits(finished, knownObjects(objects), documentForm, moveIn, positions.add);
    finished = positions.text();
  }
  if (answer.hidesLogprobs && hasLogprobs) {
    const rest = newSplicer(finished);
    yield* withoutLogprobs(finished, rest.add);
    finished = rest.text();
  }
  return finished;
}

/** Divides strings into those that are searched together: others have positions or are numbers. */
function groupsOf(strings: readonly SearchedString[]): readonly (readonly SearchedString[])[] {
  const groups: SearchedString[][] = [];
  let last: SearchedString[] | undefined;
  for (const one of strings) {
    const [first] = last ?? [];
    const isOpen = first?.kind === one.kind && !isAlone(first) && !isAlone(one);
    if (isOpen) last?.push(one);
    else groups.push(last = [one]);
  }
  return groups;
}

function isAlone({ holder, isNumber, kind }: SearchedString): boolean {
  return holder !== null || isNumber || kind === "sealed";
}

/** A string of a whole answer that is searched. */
interface SearchedString extends Span {
  readonly string: string;
  readonly kind: TextKind;
  readonly isNumber: boolean;
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

/** Returns an object of an answer after a search, as `changedObject` does. */
export function finishObject(
  answer: AnswerText,
  value: JsonObject,
  form: AnswerForm,
): Generator<void, JsonObject, void> {
  return changedObject(value, (text) => finishJson(answer, text, form));
}

/**
 * Returns a copy of an object whose JSON text is changed; the object itself if nothing changes. Can
 * be interrupted.
 */
export function* changedObject(
  value: JsonObject,
  change: (text: string) => Generator<void, string, void>,
): Generator<void, JsonObject, void> {
  const pieces: string[] = [];
  for (const piece of jsonPieces(value)) {
    pieces.push(piece);
    if (pieces.length % WRITTEN_PIECE_COUNT === 0) yield;
  }
  const text = pieces.join("");
  const finished = yield* change(text);
  if (finished === text) return value;
  const parsed = yield* parseSteps(finished);
  return isObject(parsed) ? parsed : value;
}

/** Pieces of a JSON text that are written in one step. */
const WRITTEN_PIECE_COUNT = 64;
