import { type Member, parseJson } from "../core/json/json.ts";
import { pushAll } from "../core/push_all.ts";
import { endOfString, endOfValue, skipBlanks } from "../core/json/scan.ts";

/** Part of a text: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Replacement of a part of a text. */
export interface Edit extends Span {
  readonly text: string;
}

/** Key of a new member and the JSON text of its value. */
export type Entry = readonly [key: string, valueText: string];

/**
 * Returns the members of the JSON object at `start` in the order of the text, with decoded keys and
 * including repeated keys. Empty if no object begins there. The text must be valid for
 * `JSON.parse`.
 */
export function parseMembers(text: string, start = skipBlanks(text, 0)): readonly Member[] {
  const members: Member[] = [];
  if (text[start] !== "{") return members;
  let at = skipBlanks(text, start + 1);
  while (text[at] === '"') {
    const keyStart = at;
    const keyEnd = endOfString(text, keyStart);
    const valueStart = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    members.push({ key: decodeKey(text, keyStart, keyEnd), keyStart, start: valueStart, end });
    at = skipBlanks(text, skipBlanks(text, end) + 1);
  }
  return members;
}

function decodeKey(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end - 1);
  if (!plain.includes("\\")) return plain;
  const key = parseJson(text.slice(start, end));
  return typeof key === "string" ? key : plain;
}

/**
 * Returns the elements of the JSON array at `start`. Empty if no array begins there. The text must
 * be valid for `JSON.parse`.
 */
export function parseElements(text: string, start = skipBlanks(text, 0)): readonly Span[] {
  const elements: Span[] = [];
  if (text[start] !== "[") return elements;
  let at = skipBlanks(text, start + 1);
  while (at < text.length && text[at] !== "]") {
    const end = endOfValue(text, at);
    elements.push({ start: at, end });
    const separator = skipBlanks(text, end);
    if (text[separator] !== ",") break;
    at = skipBlanks(text, separator + 1);
  }
  return elements;
}

/**
 * Returns a member of the JSON object at `start`; undefined without it. Of repeated keys the last
 * one counts, as in `JSON.parse`.
 */
export function findMember(text: string, start: number, key: string): Member | undefined {
  return parseMembers(text, start).findLast((member) => member.key === key);
}

/**
 * Returns the position of the JSON value at the path. Of repeated keys the last one counts, as in
 * `JSON.parse`. Values outside the path are skipped.
 */
export function findValue(text: string, path: readonly (string | number)[]): Span | null {
  const start = skipBlanks(text, 0);
  let span: Span | undefined = { start, end: endOfValue(text, start) };
  for (const step of path) {
    span = typeof step === "number"
      ? parseElements(text, span.start)[step]
      : findMember(text, span.start, step);
    if (span === undefined) return null;
  }
  return { start: span.start, end: span.end };
}

/** Returns the text with all edits applied. Edits may come in any order and must not overlap. */
export function splice(text: string, edits: readonly Edit[]): string {
  const ordered = edits.length < 2
    ? edits
    : edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let result = "";
  let at = 0;
  for (const edit of ordered) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** Pieces of a text that are joined at a time. */
const JOINED_PIECE_COUNT = 2_048;

/** Length of the longest text that edits make. */
export const MAX_SPLICED_CHARS = 128 * 1024 * 1024;

/** A text that gets its edits one by one. */
export interface Splicer {
  /** Applies the next edit, in the order of the text. Throws a RangeError for too long a text. */
  add(edit: Edit): void;
  /** Returns the text with all edits. */
  text(): string;
}

/** Returns a text without edits, which keeps none of them: there may be millions. */
export function newSplicer(text: string): Splicer {
  const joined: string[] = [];
  let pieces: string[] = [];
  let at = 0;
  let chars = 0;

  function join(): void {
    const piece = pieces.join("");
    chars += piece.length;
    if (chars > MAX_SPLICED_CHARS) throw new RangeError("the text becomes too long");
    joined.push(piece);
    pieces = [];
  }

  return {
    add(edit) {
      pieces.push(text.slice(at, edit.start), edit.text);
      at = edit.end;
      if (pieces.length >= JOINED_PIECE_COUNT) join();
    },
    text() {
      if (at === 0 && pieces.length === 0) return text;
      pieces.push(text.slice(at));
      join();
      return joined.join("");
    },
  };
}

/** Returns the edit that replaces the value of a member. */
export function replaceValue(member: Span, text: string): Edit {
  return { start: member.start, end: member.end, text };
}

/**
 * Returns the edit that inserts members at the front of the object at `objectStart`. If the same
 * object also loses members, use `changeMembers`.
 */
export function insertMembers(text: string, objectStart: number, entries: readonly Entry[]): Edit {
  const isEmpty = text[skipBlanks(text, objectStart + 1)] === "}";
  return insertion(objectStart, entries, isEmpty);
}

function insertion(objectStart: number, entries: readonly Entry[], isEmpty: boolean): Edit {
  const separator = isEmpty || entries.length === 0 ? "" : ",";
  return { start: objectStart + 1, end: objectStart + 1, text: writeEntries(entries) + separator };
}

function writeEntries(entries: readonly Entry[]): string {
  return entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",");
}

/** Returns the edits that remove every member with one of these keys, and the commas left over. */
export function removeMembers(members: readonly Member[], keys: readonly string[]): Edit[] {
  if (keys.length === 0) return [];
  const removed = new Set(keys);
  const spans = members.map(({ keyStart, end }) => ({ start: keyStart, end }));
  return removeElements(spans, (index) => removed.has(members[index]?.key ?? ""));
}

/**
 * Returns the edits that remove every element for which `isRemoved` is true, and the commas left
 * over. `elements` are all elements of their array.
 */
export function removeElements(
  elements: readonly Span[],
  isRemoved: (index: number) => boolean,
): Edit[] {
  const edits: Edit[] = [];
  let at = 0;
  while (at < elements.length) {
    const first = at;
    while (at < elements.length && isRemoved(at)) at++;
    if (at > first) edits.push(removal(elements, first, at));
    at++;
  }
  return edits;
}

/**
 * Returns the edit that removes adjacent elements with their commas. `behind` is the index of the
 * first element that stays.
 */
function removal(elements: readonly Span[], first: number, behind: number): Edit {
  const next = elements[behind];
  const start = next === undefined ? elements[first - 1]?.end : undefined;
  return {
    start: start ?? elements[first]?.start ?? 0,
    end: next?.start ?? elements[behind - 1]?.end ?? 0,
    text: "",
  };
}

/**
 * Returns the edits that set members of the object at `objectStart`. A null value removes a member,
 * an existing key gets the new value, and a new key is inserted at the front. `members` are all
 * members of that object.
 */
export function changeMembers(
  objectStart: number,
  members: readonly Member[],
  changes: readonly (readonly [key: string, valueText: string | null])[],
): Edit[] {
  const removed: string[] = [];
  const added: Entry[] = [];
  const edits: Edit[] = [];
  const find = memberFinder(members, changes.length);
  for (const [key, text] of changes) {
    const present = find(key);
    if (text === null) removed.push(key);
    else if (present.length === 0) added.push([key, text]);
    else pushAll(edits, present.map((member) => replaceValue(member, text)));
  }
  pushAll(edits, removeMembers(members, removed));
  if (added.length > 0) {
    const all = new Set(removed);
    const isEmpty = members.every((member) => all.has(member.key));
    edits.push(insertion(objectStart, added, isEmpty));
  }
  return edits;
}

/** Number of changes up to which a search of all members for each is cheaper than a table. */
const MAX_SEARCHED_CHANGES = 16;

/** Returns a function that finds the members with a key. Clients choose how many are changed. */
function memberFinder(members: readonly Member[], changes: number) {
  if (changes <= MAX_SEARCHED_CHANGES) {
    return (wanted: string): readonly Member[] => members.filter(({ key }) => key === wanted);
  }
  const byKey = Map.groupBy(members, ({ key }) => key);
  return (wanted: string): readonly Member[] => byKey.get(wanted) ?? [];
}

/**
 * Returns the text of an object after changes as those of `changeMembers`, with its members: their
 * places are known, so that a long text is neither scanned nor copied for them.
 */
export function changedObject(
  text: string,
  members: readonly Member[],
  changes: readonly (readonly [key: string, valueText: string | null])[],
): { readonly text: string; readonly members: readonly Member[] } {
  const objectStart = skipBlanks(text, 0);
  const edits = changeMembers(objectStart, members, changes);
  const values = new Map(changes);
  const known = new Set(members.map(({ key }) => key));
  const added: Member[] = [];
  let at = objectStart + 1;
  for (const [key, value] of changes) {
    if (value === null || known.has(key)) continue;
    const start = at + JSON.stringify(key).length + 1;
    added.push({ key, keyStart: at, start, end: start + value.length });
    at = start + value.length + 1;
  }
  const kept = members.filter(({ key }) => values.get(key) !== null).map((member) => {
    const shift = edits.reduce(
      (sum, { start, end, text }) =>
        end <= member.keyStart ? sum + text.length - (end - start) : sum,
      0,
    );
    const { key } = member;
    const start = member.start + shift;
    const value = values.get(key) ?? null;
    const end = value === null ? member.end + shift : start + value.length;
    return { key, keyStart: member.keyStart + shift, start, end };
  });
  return { text: splice(text, edits), members: [...added, ...kept] };
}
