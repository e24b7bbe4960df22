import { countMatch, newPrivacyCounts } from "../core/privacy_counts.ts";
import { pushAll } from "../core/push_all.ts";
import type { SearchedString } from "./collect_strings.ts";
import { escapedTexts, joinMatches, outerMatches } from "./escaped_texts.ts";
import { keyOf, type Memo, MIN_KNOWN_CHARS, newMemo } from "./memo.ts";
import { behindEscapes, joinStrings, newSearch } from "./search.ts";
import type { CallPrivacy, Match } from "./types.ts";

/** Work in pieces: at each `yield` other work may have its turn. */
export type Work<Value> = Generator<void, Value, void>;

/** A string with its matches. */
export interface FoundString<Searched extends SearchedString = SearchedString> {
  readonly string: Searched;
  readonly matches: readonly Match[];
}

const memo: Memo = newMemo();

/** Maximum number of places with values in a request, and of those that are only counted. */
export const MAX_MATCH_COUNT = 50_000;

/** Matches for which there is room in a request; less than 0 if it has more. */
export interface Room {
  /** Of rules that do more than count. */
  values: number;
  /** Of rules that only count: further matches are counted where they are found. */
  monitored: number;
}

/** Returns the room of a request. */
export function newRoom(): Room {
  return { values: MAX_MATCH_COUNT, monitored: MAX_MATCH_COUNT };
}

/**
 * Finds the matches of some strings, as many as there is room for. In a text that is JSON values
 * are found with and without escapes; rules that only count see it as it is.
 */
export function* findAll(
  privacy: CallPrivacy,
  strings: readonly SearchedString[],
  room: Room,
): Work<readonly FoundString[]> {
  const found = yield* findMatches(privacy, strings, room);
  const texts = yield* escapedTexts(strings);
  if (texts.length === 0 || room.values < 0) return found;
  const own = newRoom();
  const uncounted = { policy: privacy.policy, counts: newPrivacyCounts() };
  const all = new Map(found.map(({ string, matches }) => [string, matches]));
  for (const one of yield* findMatches(uncounted, texts, own)) {
    const { outer } = one.string;
    yield;
    const before = behindEscapes(outer.text, all.get(outer) ?? []);
    const joined: Match[] = [];
    for (const isKind of [isRefused, isReplaced]) {
      yield;
      const further = yield* outerMatches(one.string, one.matches.filter(isKind));
      yield;
      pushAll(joined, joinMatches([...further, ...before.filter(isKind)]));
    }
    const monitored = before.filter((match) => !isRefused(match) && !isReplaced(match));
    room.values -= joined.length + monitored.length - before.length;
    all.set(outer, [...joined, ...monitored]);
  }
  if (own.values < 0) room.values = -1;
  return [...all].map(([string, matches]) => ({ string, matches }))
    .toSorted((a, b) => a.string.start - b.string.start);
}

/** True if a match refuses the request. */
export function isRefused({ rule }: Match): boolean {
  return rule.action === "refuse";
}

/** True if a token or a mask takes the place of a match. */
export function isReplaced({ rule }: Match): boolean {
  return rule.action === "replace" || rule.action === "mask";
}

/** Finds the matches of some strings, as many as there is room for. */
function* findMatches<Searched extends SearchedString>(
  { policy, counts }: Pick<CallPrivacy, "policy" | "counts">,
  strings: readonly Searched[],
  room: Room,
): Work<readonly FoundString<Searched>[]> {
  const found: FoundString<Searched>[] = [];
  const searched: Searched[] = [];
  const keys = new Map<Searched, string>();

  function isKept({ rule }: Match): boolean {
    const kind = rule.action === "monitor" ? "monitored" : "values";
    room[kind] -= 1;
    if (room.monitored >= 0 || kind === "values") return true;
    countMatch(counts, rule);
    return false;
  }

  for (const string of strings) {
    if (string.text.length < MIN_KNOWN_CHARS) {
      searched.push(string);
      continue;
    }
    const key = yield* keyOf(policy.digest, string.text);
    const known = memo.get(key);
    if (known === undefined) {
      searched.push(string);
      keys.set(string, key);
    } else if (known.length > 0) found.push({ string, matches: known.filter(isKept) });
  }
  const joined = yield* joinStrings(searched.map(({ text }) => text));
  const search = newSearch(joined, policy.request);
  const kept: Match[] = [];
  for (let isDone = false; !isDone && room.values >= 0;) {
    isDone = !search.next();
    for (const match of search.matches()) if (isKept(match)) kept.push(match);
    yield;
  }
  const byString = divide(searched, kept);
  yield;
  const isWhole = room.values >= 0 && room.monitored >= 0;
  if (isWhole) { for (const [string, key] of keys) memo.set(key, byString.get(string) ?? []); }
  for (const [string, matches] of byString) found.push({ string, matches });
  const ordered: FoundString<Searched>[] = [];
  for (const one of found.toSorted((a, b) => a.string.start - b.string.start)) {
    const { string, matches } = one;
    yield;
    ordered.push(
      string.isJson === true ? { string, matches: behindEscapes(string.text, matches) } : one,
    );
  }
  return ordered;
}

/** Divides the matches in a joined text among its strings. */
function divide<Searched>(
  strings: readonly (Searched & Pick<SearchedString, "text">)[],
  matches: readonly Match[],
): ReadonlyMap<Searched, readonly Match[]> {
  const divided = new Map<Searched, Match[]>();
  const ordered = matches.toSorted((a, b) => a.start - b.start);
  let index = 0;
  let offset = 0;
  for (const match of ordered) {
    let string = strings[index];
    while (string !== undefined && match.start >= offset + string.text.length) {
      offset += string.text.length + 1;
      string = strings[++index];
    }
    if (string === undefined) break;
    const { start, end } = match;
    const own = {
      ...match,
      start: start - offset,
      end: Math.min(end - offset, string.text.length),
    };
    const known = divided.get(string);
    if (known === undefined) divided.set(string, [own]);
    else known.push(own);
  }
  return divided;
}
