import { type Member, parseJson } from "../core/json/json.ts";
import { pushAll } from "../core/push_all.ts";
import { endOfString, endOfValue, skipBlanks } from "../core/json/scan.ts";

/** A part of a text: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a text and what stands there afterwards. */
export interface Edit extends Span {
  readonly text: string;
}

/** A key and the JSON text of its value. */
export type Entry = readonly [key: string, valueText: string];

/**
 * Members of the object that begins at `start`, in the order of the text, with their keys decoded; a
 * key may come twice. Empty when no object begins there. The text must be one that `JSON.parse`
 * accepts.
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
 * Elements of the array that begins at `start`. Empty when no array begins there. The text must be
 * one that `JSON.parse` accepts.
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
 * Where the value at the path stands, with the last of equal keys as `JSON.parse` takes it; null
 * when there is none. Values beside the path are only skipped.
 */
export function findValue(text: string, path: readonly (string | number)[]): Span | null {
  const start = skipBlanks(text, 0);
  let span: Span | undefined = { start, end: endOfValue(text, start) };
  for (const step of path) {
    span = typeof step === "number"
      ? parseElements(text, span.start)[step]
      : parseMembers(text, span.start).findLast((member) => member.key === step);
    if (span === undefined) return null;
  }
  return { start: span.start, end: span.end };
}

/** The text with all edits made; they come in any order and do not overlap. */
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

/** Gives a member another value. */
export function replaceValue(member: Span, text: string): Edit {
  return { start: member.start, end: member.end, text };
}

/**
 * Puts members in front of those of the object that begins at `objectStart`. Where the same object
 * also loses members, use `changeMembers`.
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

/** Takes away every member of an object whose key is among the keys, with the commas left over. */
export function removeMembers(members: readonly Member[], keys: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let at = 0;
  while (at < members.length) {
    const first = at;
    while (isAmong(keys, members[at])) at++;
    if (at > first) edits.push(removal(members, first, at));
    at++;
  }
  return edits;
}

function isAmong(keys: readonly string[], member: Member | undefined): boolean {
  return member !== undefined && keys.includes(member.key);
}

/** Neighbours go together: their commas then belong to one edit. `behind` is the first that stays. */
function removal(members: readonly Member[], first: number, behind: number): Edit {
  const next = members[behind];
  const start = next === undefined ? members[first - 1]?.end : undefined;
  return {
    start: start ?? members[first]?.keyStart ?? 0,
    end: next?.keyStart ?? members[behind - 1]?.end ?? 0,
    text: "",
  };
}

/**
 * Sets members of the object that begins at `objectStart`: null takes one away, a key that is there
 * gets another value, a new one goes in front. `members` are all members of that object.
 */
export function changeMembers(
  objectStart: number,
  members: readonly Member[],
  changes: readonly (readonly [key: string, valueText: string | null])[],
): Edit[] {
  const removed: string[] = [];
  const added: Entry[] = [];
  const edits: Edit[] = [];
  for (const [key, text] of changes) {
    const present = members.filter((member) => member.key === key);
    if (text === null) removed.push(key);
    else if (present.length === 0) added.push([key, text]);
    else pushAll(edits, present.map((member) => replaceValue(member, text)));
  }
  pushAll(edits, removeMembers(members, removed));
  if (added.length > 0) {
    const isEmpty = members.every((member) => removed.includes(member.key));
    edits.push(insertion(objectStart, added, isEmpty));
  }
  return edits;
}
