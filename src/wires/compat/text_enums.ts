import {
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  parseJson,
} from "../../core/json/json.ts";

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
  return numbersOf(all, enums).size < numberTexts(all, enums).size;
}

/** Returns a schema with its alternatives, which hold of the same value. */
function alternatives(schema: JsonObject): readonly JsonObject[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf)
    ? [schema, ...anyOf.filter(isObject).flatMap(alternatives)]
    : [schema];
}

/** True if a schema without a list permits any text. */
function permitsTexts({ type, anyOf }: JsonObject): boolean {
  return type === "string" || type === undefined && anyOf === undefined;
}

/**
 * A place in the arguments of a function, with what its schemas and their alternatives permit. Made
 * once for each place that has a schema, because a model may write a place any number of times.
 */
interface Place {
  /** Texts that write a number here, and are not permitted themselves. */
  readonly numbers: ReadonlySet<string>;
  member(name: string): Place;
  items(): Place;
}

/** A place without a schema. */
const NOWHERE: Place = {
  numbers: new Set(),
  member: () => NOWHERE,
  items: () => NOWHERE,
};

function newPlace(given: readonly JsonObject[], enums: TextEnums): Place {
  if (given.length === 0) return NOWHERE;
  const schemas = given.flatMap(alternatives);
  const members = new Map<string, JsonObject[]>();
  for (const { properties } of schemas) {
    if (!isObject(properties)) continue;
    for (const [name, inner] of Object.entries(properties)) {
      if (!isObject(inner)) continue;
      const known = members.get(name);
      if (known === undefined) members.set(name, [inner]);
      else known.push(inner);
    }
  }
  const places = new Map<string, Place>();
  let items: Place | null = null;
  return {
    numbers: numbersOf(schemas, enums),
    member(name) {
      const place = places.get(name) ?? newPlace(members.get(name) ?? [], enums);
      if (place !== NOWHERE) places.set(name, place);
      return place;
    },
    items() {
      items ??= newPlace(schemas.flatMap(({ items }) => isObject(items) ? [items] : []), enums);
      return items;
    },
  };
}

/** Returns the texts of the numbers in the lists of the schemas. */
function numberTexts(schemas: readonly JsonObject[], enums: TextEnums): Set<string> {
  return new Set(schemas.flatMap(({ enum: list = null }) => [...enums.get(list) ?? []]));
}

/** Returns the texts that write a number in one of the schemas, and are a text in none. */
function numbersOf(schemas: readonly JsonObject[], enums: TextEnums): ReadonlySet<string> {
  const numbers = numberTexts(schemas, enums);
  for (const schema of schemas) {
    const { enum: list = null } = schema;
    if (!Array.isArray(list)) {
      if (permitsTexts(schema)) return new Set();
      continue;
    }
    const own = enums.get(list);
    for (const text of list) {
      if (typeof text === "string" && own?.has(text) !== true) numbers.delete(text);
    }
  }
  return numbers;
}

/** The facts that the readers of all calls of a function share: a response may have thousands. */
interface FunctionPlaces {
  readonly outermost: Place;
  /** Most characters of the text of a number, as `longest` returns them. */
  readonly maxLength: number;
}

const PLACES = new WeakMap<TextNumbers, FunctionPlaces>();

function readOnce(numbers: TextNumbers): FunctionPlaces {
  const { schema, enums } = numbers;
  const places = PLACES.get(numbers) ??
    { outermost: newPlace([schema], enums), maxLength: longest(enums) };
  PLACES.set(numbers, places);
  return places;
}

/** An object or array whose end has not come. */
interface Level {
  readonly isObject: boolean;
  readonly place: Place;
  /** Name of the member whose value comes next. */
  key: string;
  isKeyNext: boolean;
}

/**
 * Returns the reader of the arguments of one call. A text becomes a number if it is one in the
 * schema of its place, unless the schema also permits the text. All else stays as it is, also if it
 * is no JSON, and all that follows more than `MAX_LEVELS` levels.
 */
export function newNumberReader(numbers: TextNumbers): NumberReader {
  const levels: Level[] = [];
  const { outermost, maxLength } = readOnce(numbers);
  /** The text that is being read, with its quotes; null outside of texts. */
  let token: string | null = null;
  let isKey = false;
  let isEscaped = false;
  /** Place of the text, which may write a number; null if it is passed on. */
  let place: Place | null = null;
  let isTooDeep = false;

  function begin(): Place {
    const level = levels.at(-1);
    if (level === undefined) return outermost;
    return level.isObject ? level.place.member(level.key) : level.place.items();
  }

  function open(isObject: boolean): void {
    isTooDeep = levels.length === MAX_LEVELS;
    if (isTooDeep) levels.length = 0;
    else levels.push({ isObject, place: begin(), key: "", isKeyNext: isObject });
  }

  /** Returns what the client gets for a character outside of texts. */
  function plain(char: string): string {
    const level = levels.at(-1);
    if (char === '"') {
      token = char;
      isKey = level?.isKeyNext === true;
      const next = isKey ? NOWHERE : begin();
      place = next.numbers.size > 0 ? next : null;
      return place === null ? char : "";
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
    const isHeld = place !== null;
    token = isHeld || isKey && text.length < MAX_KEY_CHARS ? text + char : text;
    if (isEnd) return end(token);
    if (!isHeld || token.length <= maxLength) return isHeld ? "" : char;
    // Too long for a number: the rest is passed on.
    place = null;
    return token;
  }

  function end(text: string): string {
    token = null;
    if (place !== null) return turnedBack(text, place);
    const level = levels.at(-1);
    if (isKey && level !== undefined) {
      level.key = parsedText(text) ?? "";
      level.isKeyNext = false;
    }
    return '"';
  }

  return {
    push(piece) {
      const written: string[] = [];
      /** Where what is passed on begins. */
      let from = 0;
      for (let at = 0; at < piece.length && !isTooDeep; at++) {
        const char = piece.charAt(at);
        const out = token === null ? plain(char) : inText(token, char);
        if (out === char) continue;
        written.push(piece.slice(from, at), out);
        from = at + 1;
      }
      written.push(piece.slice(from));
      return written.join("");
    },
    heldBytes: () => levels.length * LEVEL_BYTES,
  };
}

/** Returns the number that a text writes, or the text. */
function turnedBack(token: string, { numbers }: Place): string {
  const text = parsedText(token);
  return text !== null && numbers.has(text) ? text : token;
}

/** Returns the most characters of the text of a number, written with escapes in quotes. */
function longest(enums: TextEnums): number {
  const texts = [...enums.values()].flatMap((numbers) => [...numbers]);
  return texts.reduce((most, { length }) => Math.max(most, length * ESCAPED_CHARS + 2), 0);
}

/** Length of a character as an escape (`\u0031`). */
const ESCAPED_CHARS = 6;

/** Returns the text of a JSON string; null if it is none. */
function parsedText(token: string): string | null {
  const value = parseJson(token);
  return typeof value === "string" ? value : null;
}
