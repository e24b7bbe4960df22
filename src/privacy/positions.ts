import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { type Edit, replaceValue, type Span } from "../formats/edit.ts";
import { isWithin } from "./answer_paths.ts";
import { kindOf } from "./answer_members.ts";
import type { AnswerText } from "./answer_text.ts";
import { type JsonPath, valueAt, walkJson } from "./json_strings.ts";
import { type Move, movedPosition, movesOf } from "./moves.ts";
import type { AnswerForm } from "./types.ts";

/** What only a text with positions has. */
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
}

/** True if a JSON text may have positions. */
export function mayHavePosition(text: string): boolean {
  return MAY_HAVE_POSITION.test(text);
}

/**
 * Returns the edits of the positions of a JSON text: those in documents are positions in what the
 * client has sent. `moveIn` moves those in texts of the answer; null for one that stays.
 */
export function positionEdits(
  text: string,
  value: JsonValue,
  { documents }: AnswerForm,
  moveIn: (position: Position) => number | null,
): readonly Edit[] {
  if (!mayHavePosition(text)) return [];
  const edits: Edit[] = [];
  const walk = walkJson(text, ({ kind, start, end }, path) => {
    if (kind !== "number") return;
    const key = path.at(-1);
    const at = Number(text.slice(start, end));
    if (typeof key !== "string" || !Number.isSafeInteger(at) || at < 0) return;
    const isEndOfPart = ANSWER_POSITIONS.get(key);
    const moved = isEndOfPart === undefined
      ? movedInDocument(value, path, at, documents)
      : isAnnotation(path)
      ? moveIn({ start, end, at, isEnd: isEndOfPart, path: [...path] })
      : null;
    if (moved !== null && moved !== at) edits.push(replaceValue({ start, end }, String(moved)));
  });
  while (walk.next().done !== true) { /* the whole text */ }
  return edits;
}

function isAnnotation(path: JsonPath): boolean {
  return isWithin(path, "annotations") || isWithin(path, "annotation");
}

function isCitation(path: JsonPath): boolean {
  return isWithin(path, "citations") || isWithin(path, "citation");
}

function movedInDocument(
  value: JsonValue,
  path: JsonPath,
  at: number,
  documents: AnswerForm["documents"],
): number | null {
  const isEnd = DOCUMENT_POSITIONS.get(String(path.at(-1)));
  if (isEnd === undefined || !isCitation(path)) return null;
  const citation = valueAt(value, path.slice(0, -1));
  const index = isObject(citation) ? citation.document_index : null;
  const moves = typeof index === "number" ? documents?.get(index) : undefined;
  return moves === undefined ? null : movedPosition(moves, at, isEnd);
}

/**
 * Returns what moves the positions whose text is in the same JSON: the part that has the
 * annotations.
 */
export function newWholeMover(
  answer: AnswerText,
  value: JsonValue,
  form: AnswerForm,
): (position: Position) => number | null {
  const known = new Map<JsonObject, readonly Move[]>();

  function movesIn(holder: JsonObject, path: JsonPath): readonly Move[] {
    const [key, text] = typeof holder.text === "string"
      ? ["text", holder.text]
      : ["content", holder.content];
    if (typeof text !== "string") return [];
    const place = { start: 0, end: 0, path: [...path, key], parent: holder, isKey: false };
    const kind = kindOf(place, text, form);
    return kind === null ? [] : movesOf(text, answer.parts(text, kind));
  }

  return ({ at, isEnd, path }) => {
    const holderPath = path.slice(0, Math.max(0, path.indexOf("annotations")));
    const holder = valueAt(value, holderPath);
    if (!isObject(holder)) return null;
    let moves = known.get(holder);
    if (moves === undefined) known.set(holder, moves = movesIn(holder, holderPath));
    return movedPosition(moves, at, isEnd);
  };
}
