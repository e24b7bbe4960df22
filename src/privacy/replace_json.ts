import { type JsonDocument, type JsonObject, parseJson } from "../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { countMatch } from "../core/privacy_counts.ts";
import { pushAll } from "../core/push_all.ts";
import { parseDocument } from "../formats/document.ts";
import { type Edit, replaceValue, splice } from "../formats/edit.ts";
import { sealText } from "../core/stream/sealed_text.ts";
import type { Part } from "./answer_text.ts";
import { collectStrings, type SearchedString } from "./collect_strings.ts";
import { documentsIn } from "./documents.ts";
import { beginsAsJson, isJson } from "./escaped_texts.ts";
import {
  findAll,
  type FoundString,
  isRefused,
  isReplaced,
  MAX_MATCH_COUNT,
  newRoom,
  type Room,
  type Work,
} from "./find_matches.ts";
import { type JsonPath, newPositions, walkJson, writePath } from "./json_strings.ts";
import type { Pace } from "./pace.ts";
import { inverted, type Move, movesOf } from "./moves.ts";
import type { OpenedSeal } from "./seals.ts";
import { insideTexts } from "./search.ts";
import { MAX_VALUE_COUNT } from "./tokens.ts";
import type { CallPrivacy, Match, Scopes } from "./types.ts";

/** How a request is searched. */
export interface ReplaceOptions {
  readonly pace: Pace;
  readonly scopes: Scopes;
  /** True where a token would be drawn or spoken: values are masked instead. */
  readonly masks?: boolean;
  /** The room of a request that is searched in several texts. */
  readonly room?: Room;
  /** Receives each match with its path, for people who try rules. */
  readonly onMatch?: (match: Match, path: string) => void;
  /** Receives the path of each part that no rule can read, for the same people. */
  readonly onUnread?: (path: string) => void;
}

/**
 * Returns a JSON text in which the rules of a call have replaced values: only string literals with
 * a match differ. Refused if a rule says so, or if a value is where no other text can be.
 */
export async function replaceJson(
  privacy: CallPrivacy,
  text: string,
  value: JsonObject,
  options: ReplaceOptions,
): Promise<Result<string>> {
  const { pace } = options;
  const work = replaceValues(privacy, text, value, options);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    const turn = pace.next();
    if (turn !== null) await turn;
    if (pace.isOver()) return tooSlow();
  }
}

function* replaceValues(
  privacy: CallPrivacy,
  text: string,
  value: JsonObject,
  options: ReplaceOptions,
): Work<Result<string>> {
  const { policy, counts } = privacy;
  const found: FoundString[] = [];
  const { room = newRoom() } = options;
  const unread = yield* collectStrings(text, value, function* (strings) {
    if (room.values < 0) return;
    pushAll(found, yield* findAll(privacy, strings, room));
  });
  counts.unread += unread.length;
  const [firstUnread] = unread;
  if (options.onUnread !== undefined) {
    for (const start of unread) options.onUnread(yield* shownPath(text, start, found));
  }
  if (policy.refusesUnread && firstUnread !== undefined) {
    return refuse("privacy_unread", UNREAD, yield* shownPath(text, firstUnread, found));
  }
  if (room.values < 0) return tooManyValues();
  count(privacy, found);
  if (options.onMatch !== undefined) {
    for (const { string, matches } of found) {
      const path = yield* shownPath(text, string.start, found);
      for (const match of matches) options.onMatch(match, path);
    }
  }
  return (yield* refuseMatches(text, found)) ??
    (yield* edit(privacy, { text, value }, yield* insideTheirTexts(found), options));
}

/** Returns the document like `replaceJson`; the same one if no value was replaced. */
export async function replaceInDocument(
  privacy: CallPrivacy,
  document: JsonDocument,
  options: ReplaceOptions,
): Promise<Result<JsonDocument>> {
  const text = await replaceJson(privacy, document.text, document.value, options);
  if (!text.ok) return text;
  return text.value === document.text ? success(document) : parseDocument(text.value);
}

/** Why data that no rule can read is refused. */
export const UNREAD = {
  kind: "rule",
  rule: "has data that the privacy rules of this gateway cannot read; omit it",
} as const;

function count({ counts }: CallPrivacy, found: readonly FoundString[]): void {
  for (const { matches } of found) {
    for (const { rule } of matches) countMatch(counts, rule);
  }
}

function* refuseMatches(text: string, found: readonly FoundString[]): Work<Failed | null> {
  const refused = findString(found, isRefused);
  if (refused !== null) {
    const rule = `has a value that the privacy rule '${refused.match.rule.name}' refuses`;
    return refuse(
      "privacy_rule_matched",
      { kind: "rule", rule },
      yield* shownPath(text, refused.string.start, found),
    );
  }
  const names = found.filter(({ string }) => !string.isReplaceable);
  const fixed = findString(names, ({ rule }) => rule.action !== "monitor");
  if (fixed === null) return null;
  const rule = `has a value of the privacy rule '${fixed.match.rule.name}' in a name or a number`;
  return refuse(
    "privacy_unreplaceable",
    { kind: "rule", rule },
    yield* shownPath(text, fixed.string.start, found),
  );
}

/** Returns strings with the parts of their matches that are replaced. */
function* insideTheirTexts(found: readonly FoundString[]): Work<readonly FoundString[]> {
  const inside: FoundString[] = [];
  for (const { string, matches } of found) {
    if (string.isJson !== true) {
      inside.push({ string, matches });
      continue;
    }
    const parts: Match[] = [];
    for (const match of matches) {
      pushAll(parts, insideTexts(string.text, match));
      yield;
    }
    inside.push({ string, matches: parts });
  }
  return inside;
}

function findString(
  found: readonly FoundString[],
  isWanted: (match: Match) => boolean,
): { readonly string: SearchedString; readonly match: Match } | null {
  for (const { string, matches } of found) {
    const match = matches.find(isWanted);
    if (match !== undefined) return { string, match };
  }
  return null;
}

function* edit(
  { tokens, answer, earlier }: CallPrivacy,
  { text, value: request }: { readonly text: string; readonly value: JsonObject },
  found: readonly FoundString[],
  { scopes, masks = false }: ReplaceOptions,
): Work<Result<string>> {
  const getsToken = ({ rule }: Match) => rule.action === "replace" && !masks;
  const known = new Map([...earlier.values()].map((one) => [one.value, one]));
  // A value that conversations share has one token, wherever else it is.
  const ordered = found.toSorted((a, b) => Number(b.string.isShared) - Number(a.string.isShared));
  for (const { string, matches } of ordered) {
    const scope = string.isShared ? scopes.client : scopes.conversation;
    for (const match of matches.filter(getsToken)) {
      const value = valueOf(string, match);
      const kept = string.isShared ? undefined : known.get(value);
      if (tokens.take(value, match.label, scope, kept) === null) return tooManyValues();
      yield;
    }
  }
  const edits: Edit[] = [];
  const inSeals = new Map<OpenedSeal, { readonly place: SearchedString; readonly edits: Edit[] }>();
  const documents = new Map<number, readonly Move[]>();
  let numbers: ReadonlyMap<JsonObject, number> | null = null;
  for (const { string, matches } of found) {
    yield;
    const parts: (Part & Edit)[] = [];
    const { sealed } = string;
    const position = sealed === undefined
      ? newPositions(text, string.start, string.end)
      : newPositions(sealed.seal.text, sealed.start, sealed.end);
    const own: Edit[] = [];
    /** True if a value was found without its escapes, and if one has any in JSON. */
    let [isEscaped, isSpecial] = [false, false];
    for (const match of matches) {
      // Of arguments that are no JSON each may be parsed in vain.
      yield;
      if (!isReplaced(match)) continue;
      const value = valueOf(string, match);
      const token = getsToken(match) ? tokens.take(value, match.label, "") : null;
      const { start, end, rule } = match;
      const written = token === null ? `[${match.label}]` : token.core + token.label;
      isEscaped ||= value !== string.text.slice(start, end);
      isSpecial ||= JSON.stringify(value) !== `"${value}"`;
      own.push({ start: yield* position(start), end: yield* position(end), text: written });
      parts.push({ start, end, text: written, rule });
    }
    if (sealed === undefined) pushAll(edits, own);
    else if (own.length > 0) {
      const known = inSeals.get(sealed.seal);
      if (known === undefined) inSeals.set(sealed.seal, { place: string, edits: own });
      else pushAll(known.edits, own);
    }
    if (parts.length === 0) continue;
    if (beginsAsJson(string.text) && (isEscaped || isSpecial)) {
      const written = splice(string.text, parts);
      if (isJson(written) !== isEscaped) (answer.jsonTexts ??= new Map()).set(written, isEscaped);
    }
    if (string.document === undefined) continue;
    numbers ??= new Map(documentsIn(request).map((one, at) => [one, at]));
    const number = numbers.get(string.document);
    if (number !== undefined) documents.set(number, inverted(movesOf(string.text, parts)));
  }
  for (const [{ text: opened }, { place, edits: own }] of inSeals) {
    edits.push(replaceValue(place, JSON.stringify(sealText(splice(opened, own)))));
  }
  if (documents.size > 0) answer.documents = documents;
  return success(edits.length === 0 ? text : splice(text, edits));
}

/**
 * Returns the value of a match. In the arguments of a tool it is without their escapes, as a
 * restored one is put there: a key of several lines has the token that it has in a text.
 */
function valueOf({ text, isJson }: SearchedString, { start, end, isEscaped }: Match): string {
  const written = text.slice(start, end);
  if ((isJson !== true && isEscaped !== true) || !written.includes("\\")) return written;
  const value = parseJson(`"${written}"`);
  return typeof value === "string" ? value : written;
}

function tooManyValues(): Failed {
  return refuse(
    "privacy_too_many_values",
    `The request has more than ${MAX_VALUE_COUNT} different values that privacy rules replace, or more than ${MAX_MATCH_COUNT} in all; send fewer.`,
  );
}

function tooSlow(): Failed {
  return refuse(
    "privacy_search_timeout",
    "The privacy rules of this gateway took longer than privacy.max_search_time; send a smaller request.",
  );
}

function* pathAt(text: string, start: number): Work<JsonPath> {
  let found: JsonPath = [];
  yield* walkJson(text, (token, path) => {
    if (token.start === start) found = [...path];
  });
  return found;
}

/** Length limit of a name in an error message: a longer one may be content. */
const MAX_SHOWN_CHARS = 64;

/** Returns a path without the names in it that are values themselves. */
function* shownPath(
  text: string,
  start: number,
  found: readonly FoundString[],
): Work<string> {
  const hidden = new Set(
    found.filter(({ string }) => !string.isReplaceable).map(({ string }) => string.text),
  );
  const isHidden = (step: string | number) =>
    hidden.has(String(step)) || String(step).length > MAX_SHOWN_CHARS;
  const path = yield* pathAt(text, start);
  return writePath(path.map((step) => isHidden(step) ? "*" : step));
}
