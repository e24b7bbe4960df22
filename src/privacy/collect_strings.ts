import { isObject, type JsonObject } from "../core/json/json.ts";
import type { Span } from "../formats/edit.ts";
import { isArguments } from "./answer_paths.ts";
import {
  classOf,
  isBase64,
  isEncrypted,
  isIdentifier,
  isKnownMember,
  isMedia,
  isOpaque,
  isShared,
  isTag,
  textOfDataUrl,
  withoutMadeNumbers,
} from "./classes.ts";
import { documentAt } from "./documents.ts";
import {
  type JsonPath,
  type JsonToken,
  objectsOf,
  type Parents,
  textOfString,
  walkJson,
} from "./json_strings.ts";
import { type SealedString, sealedStrings } from "./seals.ts";

/** A string of a request that is searched, with its place in the JSON text and its quotes. */
export interface SearchedString extends Span {
  readonly text: string;
  /** False for names and numbers, in whose place no token can be. */
  readonly isReplaceable: boolean;
  /** True if all conversations of an application share it. */
  readonly isShared: boolean;
  /** True for arguments of a tool, which are JSON: what a value has in them is escaped. */
  readonly isJson?: true;
  /** The document whose text the string is; absent for any other string. */
  readonly document?: JsonObject;
  /** Where it is in thinking that the gateway has sealed; absent for any other string. */
  readonly sealed?: SealedString;
}

/** Receives the next strings of a request, in their order. Can be interrupted. */
export type TakeStrings = (strings: readonly SearchedString[]) => Generator<void, void, void>;

/** Number of strings that are taken at a time, and of their characters: few are kept longer. */
const TAKEN_COUNT = 4_096, TAKEN_CHARS = 256 * 1024;

/** Digits from which a number is searched as text. */
const MIN_NUMBER_CHARS = 9;

const NUMBER = /\d{9}/;

/**
 * Collects the strings of a request; returns where the parts begin that no rule can read. Yields
 * now and then, so that it can be interrupted.
 */
export function* collectStrings(
  text: string,
  value: JsonObject,
  take: TakeStrings,
): Generator<void, readonly number[], void> {
  let strings: SearchedString[] = [];
  let chars = 0;
  const unread: number[] = [];
  const names = new Set<string>();
  let hasTokenList = false;

  function add(string: SearchedString): void {
    strings.push(string);
    chars += string.text.length;
  }

  function visit(
    { kind, start, end, text: long }: JsonToken,
    path: JsonPath,
    parents: Parents,
  ): void {
    if (kind === "number") {
      const digits = searchedNumber(text, start, end);
      if (digits !== null) {
        add({ text: digits, start, end, isReplaceable: false, isShared: false });
      } else if (isTokenList(path)) {
        if (!hasTokenList) unread.push(start);
        hasTokenList = true;
      }
      return;
    }
    const string = kind === "name" ? String(path.at(-1)) : long ?? textOfString(text, start, end);
    if (kind === "name") {
      // Each name is searched once.
      if (isKnownMember(string) || names.has(string)) return;
      names.add(string);
      add({ text: string, start, end, isReplaceable: false, isShared: true });
      return;
    }
    if (string === "") return;
    const dataUrl = textOfDataUrl(string);
    if (dataUrl !== null) unread.push(start);
    const document = documentAt(value, path);
    const kindOfString = document === null ? classOf(path) : "text";
    const isText = kindOfString === "text" || kindOfString === "signed";
    if (!isText) {
      if (kindOfString === "tag" && isTag(string)) return;
      const sealed = kindOfString === "opaque" ? sealedStrings(string) : [];
      if (sealed === null) unread.push(start);
      for (const one of sealed ?? []) {
        add({ text: one.text, start, end, isReplaceable: true, isShared: false, sealed: one });
      }
      if (kindOfString === "opaque" && isOpaque(string)) {
        // Other data in its place is that of the client.
        if (path.at(-1) === "data" && !isEncrypted(parents.at(-1)?.type)) unread.push(start);
        return;
      }
      if (kindOfString === "unread" && dataUrl === null) {
        const isData = isBase64(string);
        // Any other one may be a value, or data that a lenient provider reads; a result, a word.
        if (isData || path.at(-1) !== "result") unread.push(start);
        if (isData) return;
      }
    }
    if (kindOfString === "signed" && isSigned(parents[parents.length - 1])) return;
    if (isText && isMedia(string)) unread.push(start);
    const shared = isShared(path) || isInstructions(value, path);
    const isId = kindOfString === "name" && isIdentifier(path);
    add({
      text: isId ? withoutMadeNumbers(string) : dataUrl ?? string,
      start,
      end,
      isReplaceable: isText,
      isShared: shared,
      ...isArguments(path) && { isJson: true },
      ...document !== null && { document },
    });
  }

  const walk = walkJson(text, visit, objectsOf(value));
  for (let isDone = false; !isDone;) {
    isDone = walk.next().done === true;
    if (!isDone && strings.length < TAKEN_COUNT && chars < TAKEN_CHARS) {
      yield;
      continue;
    }
    yield* take(strings);
    strings = [];
    chars = 0;
  }
  return unread;
}

/** Returns the digits of a number that is searched as text; null for any other number. */
export function searchedNumber(text: string, start: number, end: number): string | null {
  if (end - start < MIN_NUMBER_CHARS) return null;
  const digits = digitsOf(text.slice(start, end));
  return NUMBER.test(digits) ? digits : null;
}

const WITH_POINT = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Maximum number of digits of a number that is written without its point and exponent. */
const MAX_DIGITS = 64;

/**
 * Returns the digits of a whole number that is written with a point or an exponent, as a card
 * number may be; any other number as it is. Doubles would not have the digits of the longest.
 */
function digitsOf(written: string): string {
  const parts = /[.eE]/.test(written) ? WITH_POINT.exec(written) : null;
  if (parts === null) return written;
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const isWhole = point > 0 && point <= MAX_DIGITS && /^0*$/.test(digits.slice(point));
  return isWhole ? digits.slice(0, point).padEnd(point, "0").replace(/^0+/, "") : written;
}

/** True for an element of the input of embeddings or completions that is a list of tokens. */
function isTokenList(path: JsonPath): boolean {
  const [member, first, second = 0] = path;
  return (member === "input" || member === "prompt") && path.length < 4 &&
    typeof first === "number" && typeof second === "number";
}

const SYSTEM_ROLES: readonly unknown[] = ["system", "developer"];

/** True for a path in an item of a dialogue that has instructions. */
function isInstructions(value: JsonObject, [list, index]: JsonPath): boolean {
  if (list !== "messages" && list !== "input" && list !== "items") return false;
  const items = value[list];
  const item = Array.isArray(items) && typeof index === "number" ? items[index] : undefined;
  return isObject(item) && SYSTEM_ROLES.includes(item.role);
}

/** True if the thinking of an object has a signature of its provider, which a change breaks. */
function isSigned(parent: JsonObject | null | undefined): boolean {
  const signature = parent?.signature;
  return typeof signature === "string" && isBase64(signature);
}
