import type { JsonObject } from "../core/json/json.ts";
import { stringPieces } from "../core/json/json_pieces.ts";
import { type Edit, replaceValue, type Span } from "../formats/edit.ts";
import { isNamedByClient } from "./answer_paths.ts";
import { searchedNumber } from "./collect_strings.ts";
import { type JsonPath, type Objects, textOfString, walkJson } from "./json_strings.ts";

/**
 * Place of a string in the JSON text of an answer, with its quotes, valid while it is visited; or
 * of a number in what a tool or a client has named, which is searched as its digits.
 */
export interface StringPlace extends Span {
  /** Keys and indexes that lead to the string; for a key, to its value. */
  readonly path: JsonPath;
  /** The nearest object that holds the string; null if none does. */
  readonly parent: JsonObject | null;
  /** True for the key of a member. */
  readonly isKey: boolean;
  readonly isNumber: boolean;
}

type Visit = (string: string, place: StringPlace) => void;

/**
 * Calls `visit` for each string of a JSON text, keys among them, in the order of the text.
 * `objects` are those of the text. Can be interrupted.
 */
export function walkStrings(
  text: string,
  objects: Objects,
  visit: Visit,
): Generator<void, void, void> {
  return walkJson(text, ({ kind, start, end, text: long }, path, parents) => {
    const isNumber = kind === "number";
    if (isNumber && !isNamedByClient(path)) return;
    const string = isNumber
      ? searchedNumber(text, start, end)
      : long ?? textOfString(text, start, end);
    if (string === null) return;
    visit(string, {
      path,
      parent: parents[parents.length - 1] ?? null,
      isKey: kind === "name",
      isNumber,
      start,
      end,
    });
  }, objects);
}

/** Returns the edit that replaces a string literal, or a number. */
export function replaceString(literal: Span, text: string): Edit {
  return replaceValue(literal, JSON.stringify(text));
}

/** The same for a long text, in pieces. */
export function* replaceStringSteps(
  literal: Span,
  text: string,
): Generator<void, Edit, void> {
  const pieces: string[] = [];
  for (const piece of stringPieces(text)) {
    pieces.push(piece);
    yield;
  }
  return replaceValue(literal, `"${pieces.join("")}"`);
}
