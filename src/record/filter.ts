import { RE2JS } from "re2js";
import { compileGlob } from "../core/glob.ts";
import type { RecordHead } from "./record.ts";
import { comparable, type SearchedPart, searchedTexts, singleSpaced } from "./searched_texts.ts";
import type { StoredBody, StoredHead } from "./written_record.ts";

/** Conditions of a search, as plain data. Absent members match every record. */
export interface RecordFilter {
  /** Unix times in milliseconds between which the call began. */
  readonly since?: number;
  readonly until?: number;
  readonly id?: readonly string[];
  readonly key?: readonly string[];
  readonly session?: readonly string[];
  readonly route?: readonly string[];
  readonly provider?: readonly string[];
  /** Requested models, or those of attempts; `*` matches any text. */
  readonly model?: readonly string[];
  readonly api?: readonly string[];
  readonly end?: readonly string[];
  /** Such as `429` or `4xx`. */
  readonly status?: readonly string[];
  readonly code?: readonly string[];
  readonly label?: readonly (readonly [name: string, value: string])[];
  /** Names of called tools. */
  readonly tool?: readonly string[];
  /** Names of privacy rules that acted. */
  readonly redacted?: readonly string[];
  readonly lossy?: boolean;
  readonly fallback?: boolean;
  readonly retried?: boolean;
  readonly stream?: boolean;
  readonly minMs?: number;
  readonly minFirstMs?: number;
  readonly minTokens?: number;
  readonly minCost?: number;
  /** Text in the content; letter case and the length of white space do not count. */
  readonly text?: string;
  /** Pattern of RE2 in the content; letter case and the length of white space do not count. */
  readonly regex?: string;
  /** Where the text is; in request and response if absent. */
  readonly in?: readonly SearchedPart[];
}

/** A test of records. */
export interface RecordMatcher {
  head(stored: StoredHead): boolean;
  /** Null if the filter does not look at the content. */
  readonly body: ((body: StoredBody) => string | null) | null;
  /** True if a record that cannot be opened is shown. */
  readonly showsUnreadable: boolean;
}

/** Returns the test of a filter without its times, which the file compares itself. */
export function newMatcher(filter: RecordFilter): RecordMatcher {
  const tests = headTests(filter);
  const find = newFind(filter);
  return {
    head: ({ id, head }) => tests.every((test) => test(head, id)),
    body: find === null ? null : bodyTest(find, filter.in ?? ["request", "response"]),
    showsUnreadable: tests.length === 0 && find === null,
  };
}

type HeadTest = (head: RecordHead, id: string) => boolean;

function headTests(filter: RecordFilter): HeadTest[] {
  const { model, status, label, tool, retried, stream } = filter;
  const models = model?.map(compileGlob);
  const statuses = status?.map((one) => compileGlob(one.toLowerCase().replaceAll("x", "*")));
  return [
    ...oneOf(filter.id, (_, id) => [id]),
    ...oneOf(filter.key, ({ key }) => [key]),
    ...oneOf(filter.session, ({ session }) => [session]),
    ...oneOf(filter.route, ({ route }) => [route]),
    ...oneOf(filter.provider, ({ attempts }) => attempts.map(({ provider }) => provider)),
    ...oneOf(filter.api, ({ api }) => [api]),
    ...oneOf(filter.end, ({ end }) => [end]),
    ...oneOf(filter.code, ({ code }) => [code]),
    ...oneOf(filter.redacted, ({ redacted }) => Object.keys(redacted)),
    ...oneOf(tool, ({ tools_called }) => tools_called),
    ...models === undefined ? [] : [(head: RecordHead) => {
      const names = [head.model_requested ?? "", ...head.attempts.map((one) => one.model)];
      return models.some((isMeant) => names.some(isMeant));
    }],
    ...statuses === undefined
      ? []
      : [(head: RecordHead) => statuses.some((isMeant) => isMeant(String(head.status)))],
    ...label === undefined
      ? []
      : [(head: RecordHead) => label.every(([name, value]) => head.labels[name] === value)],
    ...isSet(filter.lossy, ({ lossy }) => lossy.length > 0),
    ...isSet(filter.fallback, ({ fallbacks }) => fallbacks > 0),
    ...isSet(retried, ({ attempts, fallbacks }) => attempts.length > fallbacks + 1),
    ...isSet(stream, (head) => head.stream),
    ...atLeast(filter.minMs, ({ ms }) => ms.total),
    ...atLeast(filter.minFirstMs, ({ ms }) => ms.first),
    ...atLeast(filter.minTokens, ({ usage }) => usage === null ? null : usage.input + usage.output),
    ...atLeast(filter.minCost, ({ cost }) => cost),
  ];
}

function oneOf(
  wanted: readonly string[] | undefined,
  valuesOf: (head: RecordHead, id: string) => readonly (string | null)[],
): HeadTest[] {
  if (wanted === undefined) return [];
  return [
    (head, id) => valuesOf(head, id).some((value) => value !== null && wanted.includes(value)),
  ];
}

function isSet(wanted: boolean | undefined, has: HeadTest): HeadTest[] {
  return wanted === undefined ? [] : [(head, id) => has(head, id) === wanted];
}

function atLeast(least: number | undefined, valueOf: (head: RecordHead) => number | null) {
  if (least === undefined) return [];
  return [(head: RecordHead) => (valueOf(head) ?? -Infinity) >= least];
}

/** Characters of a hit on each side of the found text, and of the text of a pattern. */
const CONTEXT_CHARS = 40, MAX_HIT_CHARS = 1_000;

/** Returns where the searched text is in a text with single spaces; null if it is not there. */
type Find = (text: string) => { readonly start: number; readonly end: number } | null;

function newFind({ text, regex }: RecordFilter): Find | null {
  if (regex !== undefined) {
    const pattern = compileSearch(regex);
    return (one) => {
      const matcher = pattern.matcher(one);
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : null;
    };
  }
  if (text === undefined) return null;
  const wanted = comparable(text);
  return (one) => {
    const start = one.toLowerCase().indexOf(wanted);
    return start < 0 ? null : { start, end: start + wanted.length };
  };
}

/** Maximum size of a compiled pattern: a character of a text takes a step for each part of it. */
const MAX_PATTERN_STEPS = 250;

/**
 * Compiles a pattern of a search, which takes linear time. Throws if it is none of RE2, or so large
 * that the thread of the records would do nothing else.
 */
export function compileSearch(pattern: string): RE2JS {
  const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  if (compiled.programSize() > MAX_PATTERN_STEPS) throw new RangeError("the pattern is too large");
  return compiled;
}

function bodyTest(find: Find, parts: readonly SearchedPart[]) {
  return (body: StoredBody): string | null => {
    for (const part of parts) {
      for (const one of searchedTexts(body, part)) {
        const text = singleSpaced(one);
        const found = find(text);
        if (found === null) continue;
        const { start, end } = found;
        return text.slice(
          Math.max(0, start - CONTEXT_CHARS),
          Math.min(end, start + MAX_HIT_CHARS) +
            CONTEXT_CHARS,
        );
      }
    }
    return null;
  };
}
