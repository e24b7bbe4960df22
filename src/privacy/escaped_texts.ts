import type { SearchedString } from "./collect_strings.ts";
import { decodeSteps, newPositions } from "./json_strings.ts";
import type { AnswerForm, Match } from "./types.ts";

/** A searched string that is JSON, without its escapes. */
export interface EscapedText extends SearchedString {
  readonly outer: SearchedString;
}

/** Length of a text up to which it is parsed to see whether it is JSON. */
const MAX_PARSED_CHARS = 256 * 1024;

/** The escapes of JSON with one character, besides that of a backslash. */
const ESCAPES: readonly (readonly [escape: string, sign: string])[] = [
  ["\\n", "\n"],
  ['\\"', '"'],
  ["\\t", "\t"],
  ["\\r", "\r"],
  ["\\/", "/"],
  ["\\b", "\b"],
  ["\\f", "\f"],
];

const SIGNS: ReadonlyMap<string, string> = new Map(ESCAPES);

/**
 * Returns the strings with escapes that are JSON, such as the arguments of a tool, without them: a
 * value that the gateway has put back there is escaped. Can be interrupted.
 */
export function* escapedTexts(
  strings: readonly SearchedString[],
): Generator<void, readonly EscapedText[], void> {
  const found: EscapedText[] = [];
  for (const outer of strings) {
    const { text, start, end, isReplaceable, isShared } = outer;
    if (!text.includes("\\")) continue;
    if (outer.isJson !== true && !isJson(text)) continue;
    let plain: string;
    try {
      plain = yield* decodeSteps(text, withoutEscapes);
    } catch {
      // A text with other escapes is no JSON; but models write some into arguments, or are cut.
      if (outer.isJson !== true) continue;
      plain = yield* decodeSteps(text, withoutAnyEscapes);
    }
    found.push({ text: plain, start, end, isReplaceable, isShared, outer });
  }
  return found;
}

/** True for a text that begins as an object or a list of JSON does. */
export function beginsAsJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
}

/** True for an object or a list of JSON. Of a long text only the ends are looked at. */
export function isJson(text: string): boolean {
  return beginsAsJson(text) && /[}\]]/.test(text.trimEnd().slice(-1)) &&
    (text.length > MAX_PARSED_CHARS || canBeParsed(text));
}

/** Without `parseJson`, whose look at escaped keys may take a hundred times as long. */
function canBeParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** True for a text, with tokens, in which the client has written its values as JSON does. */
export function isWrittenAsJson(
  text: string,
  { jsonTexts }: Pick<AnswerForm, "jsonTexts">,
): boolean {
  return jsonTexts?.get(text) ?? isJson(text);
}

/**
 * Returns a text without escapes; several times as fast as a function for each of them. Throws for
 * one that JSON does not have.
 */
function withoutEscapes(text: string): string {
  return text.split("\\\\").map((part) => part.includes("\\") ? withSigns(part) : part).join("\\");
}

function withSigns(part: string): string {
  const plain = ESCAPES.reduce((one, [escape, sign]) => one.replaceAll(escape, sign), part);
  if (/\\(?!u[0-9a-fA-F]{4})/.test(plain)) throw new Error("not an escape of JSON");
  return plain.replace(
    /\\u([0-9a-fA-F]{4})/g,
    (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns any text without escapes: each is one character, also one that JSON does not have. */
function withoutAnyEscapes(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|u[^]{0,4}|[^]?)/g,
    (escape, code?: string) =>
      code === undefined
        ? SIGNS.get(escape) ?? escape.charAt(1)
        : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/**
 * Returns matches in such a text, of which no two overlap, as matches in the string. Can be
 * interrupted.
 */
export function* outerMatches(
  { outer: { text } }: EscapedText,
  matches: readonly Match[],
): Generator<void, readonly Match[], void> {
  const quoted = `"${text}"`;
  const position = newPositions(quoted, 0, quoted.length);
  const found: Match[] = [];
  for (const match of matches) {
    const start = (yield* position(match.start)) - 1;
    const end = Math.min((yield* position(match.end)) - 1, text.length);
    found.push({ ...match, start, end });
  }
  return found;
}

/**
 * Returns matches of a text that was searched without its escapes too, in their order; those that
 * overlap are one value.
 */
export function joinMatches(matches: readonly Match[]): readonly Match[] {
  const joined: Match[] = [];
  for (const match of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined[joined.length - 1];
    if (last === undefined || last.end <= match.start) joined.push({ ...match, isEscaped: true });
    else if (last.end < match.end) joined[joined.length - 1] = { ...last, end: match.end };
  }
  return joined;
}
