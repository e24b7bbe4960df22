import type { JsonObject } from "../core/json/json.ts";
import { type Edit, replaceValue, type Span } from "../formats/edit.ts";
import { isWithin, MAX_STEP_COUNT } from "./answer_paths.ts";
import { kindOf } from "./answer_members.ts";
import type { AnswerText } from "./answer_text.ts";
import { type JsonPath, type Objects, type Parents, walkJson } from "./json_strings.ts";
import { type Move, movedPosition, movesOf } from "./moves.ts";
import { newPiecesTest } from "./pace.ts";
import type { AnswerForm } from "./types.ts";

/** Form of a text that may have positions. */
const MAY_HAVE_POSITION = /"annotations?"|"start_char_index"/;

/** Members of an annotation with a position in a text of the answer; true for an end. */
const ANSWER_POSITIONS: ReadonlyMap<string, boolean> = new Map([
  ["start_index", false],
  ["end_index", true],
  ["index", true],
]);

/** Members of a citation with a position in a document of the request. */
const DOCUMENT_POSITIONS: ReadonlyMap<string, boolean> = new Map([
  ["start_char_index", false],
  ["end_char_index", true],
]);

/** A position in a text of an answer, with its place in the JSON text. */
export interface Position extends Span {
  readonly at: number;
  readonly isEnd: boolean;
  /** The path of its annotation. */
  readonly path: JsonPath;
  /** The object that has the annotation; null if none does. */
  readonly holder: JsonObject | null;
}

/** True if a JSON text may have positions. */
export function mayHavePosition(text: string): boolean {
  return MAY_HAVE_POSITION.test(text);
}

/** The same, which can be interrupted. */
export const positionMayBeIn = newPiecesTest(mayHavePosition, "start_char_index".length + 2);

/** True for the name of a position in a document of the request. */
export function isDocumentPosition(name: string): boolean {
  return DOCUMENT_POSITIONS.has(name);
}

/**
 * Calls `edit` with the edits of the positions of a JSON text: those in documents are positions in
 * what the client has sent. `moveIn` moves those in texts of the answer; null for one that stays.
 * Can be interrupted.
 */
export function* positionEdits(
  text: string,
  objects: Objects,
  { documents }: AnswerForm,
  moveIn: (position: Position) => number | null,
  edit: (edit: Edit) => void,
): Generator<void, void, void> {
  yield* walkJson(text, ({ kind, start, end }, path, parents) => {
    if (kind !== "number") return;
    const key = path.at(-1);
    const at = Number(text.slice(start, end));
    if (typeof key !== "string" || !Number.isSafeInteger(at) || at < 0) return;
    const isEndOfPart = ANSWER_POSITIONS.get(key);
    const moved = isEndOfPart === undefined
      ? movedInDocument(parents[parents.length - 1] ?? null, path, at, documents)
      : isAnnotation(path)
      ? moveIn({ start, end, at, isEnd: isEndOfPart, ...annotationAt(path, parents) })
      : null;
    if (moved !== null && moved !== at) edit(replaceValue({ start, end }, String(moved)));
  }, objects);
}

function annotationAt(path: JsonPath, parents: Parents): Pick<Position, "path" | "holder"> {
  const own = path.slice(0, MAX_STEP_COUNT);
  return { path: own, holder: parents[Math.max(0, own.indexOf("annotations"))] ?? null };
}

function isAnnotation(path: JsonPath): boolean {
  return isWithin(path, "annotations") || isWithin(path, "annotation");
}

function isCitation(path: JsonPath): boolean {
  return isWithin(path, "citations") || isWithin(path, "citation");
}

function movedInDocument(
  citation: JsonObject | null,
  path: JsonPath,
  at: number,
  documents: AnswerForm["documents"],
): number | null {
  const isEnd = DOCUMENT_POSITIONS.get(String(path.at(-1)));
  if (isEnd === undefined || !isCitation(path)) return null;
  const index = citation?.document_index;
  const moves = typeof index === "number" ? documents?.get(index) : undefined;
  return moves === undefined ? null : movedPosition(moves, at, isEnd);
}

/** Returns the member of a part that has the text of its annotations. */
export function annotatedKey(holder: JsonObject): "text" | "content" {
  return typeof holder.text === "string" ? "text" : "content";
}

/**
 * Returns what moves the positions of an event whose text is in the same event: in the part that
 * has the annotations. The text is searched when a position asks for it.
 */
export function newWholeMover(
  answer: AnswerText,
  form: AnswerForm,
): (position: Position) => number | null {
  const known = new Map<JsonObject, readonly Move[]>();

  function movesIn(parent: JsonObject, path: JsonPath): readonly Move[] {
    const key = annotatedKey(parent);
    const text = parent[key];
    if (typeof text !== "string") return [];
    const place = { start: 0, end: 0, path: [...path, key], parent, isKey: false, isNumber: false };
    const kind = kindOf(place, text, form);
    return kind === null ? [] : movesOf(text, answer.parts(text, kind));
  }

  return ({ at, isEnd, path, holder }) => {
    if (holder === null) return null;
    const holderPath = path.slice(0, Math.max(0, path.indexOf("annotations")));
    let moves = known.get(holder);
    if (moves === undefined) known.set(holder, moves = movesIn(holder, holderPath));
    return movedPosition(moves, at, isEnd);
  };
}
