import {
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  parseJson,
} from "../../core/json/json.ts";
import type { Optional } from "../../prompt/refusals.ts";

/**
 * The lists `enum` of a rewritten schema of which the host gets numbers as texts, with the texts of
 * these numbers.
 */
export type TextEnums = Map<JsonValue, ReadonlySet<string>>;

/** A rewritten schema of a function with its lists of numbers as texts. */
export interface TextNumbers {
  readonly schema: JsonObject;
  readonly enums: TextEnums;
}

/** The functions of a request whose numbers the host gets as texts, by their names. */
export type NumberedFunctions = ReadonlyMap<string, TextNumbers>;

/** Turns the texts of one call's arguments back to numbers, in pieces of any size. */
export interface NumberReader {
  /** Returns the next piece for the client. It waits only for the end of a text. */
  push(piece: string): string;
  /** Returns the bytes of the levels that are open. */
  heldBytes(): number;
}

/** Longest name of a member that is read, with its quotes and escapes. */
const MAX_KEY_CHARS = 1_024;

/** Size in memory of a level, with the longest name. */
const LEVEL_BYTES = 2_048;

/** True if the schema has a list of numbers as texts. */
export function hasNumbers({ enum: list = null }: JsonObject, enums: TextEnums): boolean {
  return enums.has(list);
}

/** True if a text of a number in one schema is also a text in another one. */
export function textsAccepted(schemas: readonly JsonObject[], enums: TextEnums): boolean {
  const all = schemas.flatMap(alternatives);
  const acceptsText = newTextCheck(enums);
  const numbers = new Set(all.flatMap(({ enum: list = null }) => [...enums.get(list) ?? []]));
  if (numbers.size === 0) return false;
  // What one list has is looked for in all numbers, not each number in all lists.
  return all.some((schema) =>
    Array.isArray(schema.enum)
      ? schema.enum.some((text) => isIn(numbers, text) && acceptsText(schema, text))
      : acceptsText(schema, "")
  );
}

function isIn(texts: ReadonlySet<string>, text: JsonValue): text is string {
  return typeof text === "string" && texts.has(text);
}

/** Returns a schema with its alternatives, which hold of the same value. */
function alternatives(schema: JsonObject): readonly JsonObject[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf)
    ? [schema, ...anyOf.filter(isObject).flatMap(alternatives)]
    : [schema];
}

/**
 * Returns the check of a schema and a text: true if a value may be this text, and not the number
 * that it writes. Each list is made a set once: both it and the texts may be many.
 */
function newTextCheck(enums: TextEnums): (schema: JsonObject, text: string) => boolean {
  const sets = new Map<JsonValue, ReadonlySet<JsonValue>>();
  return ({ type, enum: list = null, anyOf }, text) => {
    if (!Array.isArray(list)) {
      return type === "string" || type === undefined && anyOf === undefined;
    }
    const texts = sets.get(list) ?? new Set(list);
    sets.set(list, texts);
    return texts.has(text) && enums.get(list)?.has(text) !== true;
  };
}

/** An object or array whose end has not come. */
interface Level {
  readonly isObject: boolean;
  /** Schemas of the container. */
  readonly schemas: readonly JsonObject[];
  /** Name of the member whose value comes next. */
  key: string;
  isKeyNext: boolean;
}

/**
 * Returns the reader of the arguments of one call. A text becomes a number if it is one in the
 * schema of its place, unless the schema also permits the text. All else stays as it is, also if it
 * is no JSON, and all that follows more than `MAX_LEVELS` levels.
 */
export function newNumberReader({ schema, enums }: TextNumbers): NumberReader {
  const levels: Level[] = [];
  const maxLength = longest(enums);
  const acceptsText = newTextCheck(enums);
  /** The text that is being read, with its quotes; null outside of texts. */
  let token: string | null = null;
  let isKey = false;
  let isEscaped = false;
  /** Schemas of the text, of which one has a list of numbers; empty if it is passed on. */
  let schemas: readonly JsonObject[] = [];
  let isTooDeep = false;

  function begin(): readonly JsonObject[] {
    const level = levels.at(-1);
    if (level === undefined) return alternatives(schema);
    return level.schemas.flatMap(({ properties, items }) => {
      const inner = level.isObject ? memberOf(properties, level.key) : items;
      return isObject(inner) ? alternatives(inner) : [];
    });
  }

  function open(isObject: boolean): void {
    isTooDeep = levels.length === MAX_LEVELS;
    if (isTooDeep) levels.length = 0;
    else levels.push({ isObject, schemas: begin(), key: "", isKeyNext: isObject });
  }

  /** Returns what the client gets for a character outside of texts. */
  function plain(char: string): string {
    const level = levels.at(-1);
    if (char === '"') {
      token = char;
      isKey = level?.isKeyNext === true;
      const all = isKey ? [] : begin();
      schemas = all.some((one) => hasNumbers(one, enums)) ? all : [];
      return schemas.length > 0 ? "" : char;
    }
    if (char === "{" || char === "[") open(char === "{");
    else if (char === "}" || char === "]") levels.pop();
    else if (char === "," && level !== undefined) level.isKeyNext = level.isObject;
    return char;
  }

  /** Returns what the client gets for a character of a text. */
  function inText(text: string, char: string): string {
    const isEnd = char === '"' && !isEscaped;
    isEscaped = char === "\\" && !isEscaped;
    const isHeld = schemas.length > 0;
    token = isHeld || isKey && text.length < MAX_KEY_CHARS ? text + char : text;
    if (isEnd) return end(token);
    if (!isHeld || token.length <= maxLength) return isHeld ? "" : char;
    // Too long for a number: the rest is passed on.
    schemas = [];
    return token;
  }

  function end(text: string): string {
    token = null;
    if (schemas.length > 0) return turnedBack(text);
    const level = levels.at(-1);
    if (isKey && level !== undefined) {
      level.key = parsedText(text) ?? "";
      level.isKeyNext = false;
    }
    return '"';
  }

  /** Returns the number that a text writes, or the text. */
  function turnedBack(token: string): string {
    const text = parsedText(token);
    const isNumber = text !== null &&
      schemas.some(({ enum: list = null }) => enums.get(list)?.has(text) === true) &&
      !schemas.some((schema) => acceptsText(schema, text));
    return isNumber ? text : token;
  }

  return {
    push(piece) {
      const written: string[] = [];
      for (const char of piece) {
        written.push(isTooDeep ? char : token === null ? plain(char) : inText(token, char));
      }
      return written.join("");
    },
    heldBytes: () => levels.length * LEVEL_BYTES,
  };
}

/** Returns the most characters of the text of a number, written with escapes in quotes. */
function longest(enums: TextEnums): number {
  const texts = [...enums.values()].flatMap((numbers) => [...numbers]);
  return texts.reduce((most, { length }) => Math.max(most, length * ESCAPED_CHARS + 2), 0);
}

/** Length of a character as an escape (`\u0031`). */
const ESCAPED_CHARS = 6;

function memberOf(object: Optional, key: string): Optional {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Returns the text of a JSON string; null if it is none. */
function parsedText(token: string): string | null {
  const value = parseJson(token);
  return typeof value === "string" ? value : null;
}
