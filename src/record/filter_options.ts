import { type Calendar, isDate } from "../core/calendar.ts";
import { parseDuration } from "../config/units.ts";
import { compileSearch, type RecordFilter } from "./filter.ts";
import { SEARCHED_PARTS, type SearchedPart } from "./searched_texts.ts";

/** An option of a search, on the command line and in the query of the admin listener. */
export interface FilterOption {
  /** Placeholder of the value; null for a flag. */
  readonly value: string | null;
  readonly about: string;
}

/** Options of a search by their names. */
export const FILTER_OPTIONS = {
  since: {
    value: "TIME",
    about: "Calls from this time on: 2026-11-23T14:00, 2026-11-23, 1h or 2d.",
  },
  until: { value: "TIME", about: "Calls before this time." },
  id: { value: "ID", about: "IDs of calls, as in X-Gateway-Request-Id." },
  key: { value: "NAME", about: "Names of client keys." },
  label: { value: "NAME=VALUE", about: "A label of the client key." },
  session: { value: "NAME", about: "Names of sessions." },
  route: { value: "NAME", about: "Names of routes." },
  provider: { value: "ID", about: "Providers of the attempts." },
  model: { value: "MODEL", about: "Requested models, or those of attempts; * matches any text." },
  api: { value: "API", about: "Client APIs, such as messages." },
  end: { value: "END", about: "How calls ended, such as upstream_invalid or client_gone." },
  status: { value: "STATUS", about: "Statuses, such as 429 or 4xx." },
  code: { value: "CODE", about: "Error codes." },
  tool: { value: "NAME", about: "Names of called tools." },
  redacted: { value: "RULE", about: "Names of privacy rules that acted." },
  lossy: { value: null, about: "Calls with fields that the provider received only in part." },
  fallback: { value: null, about: "Calls with a fallback." },
  retried: { value: null, about: "Calls with a retry." },
  stream: { value: null, about: "Calls of streams." },
  "min-ms": { value: "N", about: "Calls of at least this duration." },
  "min-first-ms": { value: "N", about: "Streams with at least this time to their first content." },
  "min-tokens": { value: "N", about: "Calls with at least this number of tokens." },
  "min-cost": { value: "USD", about: "Calls of at least this cost." },
  text: {
    value: "TEXT",
    about: "Text in the content; letter case and the length of white space do not count.",
  },
  regex: {
    value: "RE2",
    about: "Like --text, with a pattern in the syntax of RE2. White space is one space.",
  },
  in: {
    value: "PART",
    about: "Where the text is: request, response, both (default), or tools: calls and results.",
  },
} as const satisfies Readonly<Record<string, FilterOption>>;

/** Name of an option of a search. */
export type FilterName = keyof typeof FILTER_OPTIONS;

/** Every name, in the order of the help. */
export const FILTER_NAMES = Object.keys(FILTER_OPTIONS) as readonly FilterName[];

/** Options whose value is a list with commas; members of the filter have the same names. */
const LISTS = [
  "id",
  "key",
  "session",
  "route",
  "provider",
  "model",
  "api",
  "end",
  "status",
  "code",
  "tool",
  "redacted",
] as const;

const FLAGS = ["lossy", "fallback", "retried", "stream"] as const;

/** Options whose value is a number, with the member of the filter. */
const FIGURES = [
  ["min-ms", "minMs"],
  ["min-first-ms", "minFirstMs"],
  ["min-tokens", "minTokens"],
  ["min-cost", "minCost"],
] as const;

/** Maximum length of a searched text. */
const MAX_TEXT_CHARS = 1_000;

/** A filter, or the problem with an option as a sentence without its name. */
export type ParsedFilter =
  | { readonly ok: true; readonly filter: RecordFilter }
  | { readonly ok: false; readonly option: FilterName; readonly problem: string };

/** The clock by which written times are understood. */
export interface FilterClock {
  readonly wallMs: number;
  readonly calendar: Calendar;
}

/** Returns the filter of written options; `valueOf` returns undefined for an absent one. */
export function parseFilter(
  valueOf: (name: FilterName) => string | undefined,
  clock: FilterClock,
): ParsedFilter {
  const filter: { -readonly [Name in keyof RecordFilter]: RecordFilter[Name] } = {};
  for (const name of ["since", "until"] as const) {
    const written = valueOf(name);
    if (written === undefined) continue;
    const time = parseTime(written, clock);
    if (time === null) return wrong(name, "must be a time such as 2026-11-23T14:00, 1h or 2d.");
    filter[name] = name === "until" ? time - 1 : time;
  }
  for (const name of LISTS) {
    const values = valueOf(name)?.split(",").map((one) => one.trim()).filter(Boolean);
    if (values !== undefined) filter[name] = values;
  }
  if (filter.status?.every((one) => /^\d[\dx]{2}$/i.test(one)) === false) {
    return wrong("status", "must be statuses such as 429 or 4xx, with commas.");
  }
  for (const name of FLAGS) {
    const written = valueOf(name);
    if (written === undefined) continue;
    if (written !== "" && written !== "true") return wrong(name, "can only be true.");
    filter[name] = true;
  }
  for (const [name, member] of FIGURES) {
    const written = valueOf(name);
    if (written === undefined) continue;
    if (!/^\d{1,15}(\.\d{1,9})?$/.test(written)) return wrong(name, "must be a number from 0 on.");
    filter[member] = Number(written);
  }
  const label = valueOf("label");
  if (label !== undefined) {
    const at = label.indexOf("=");
    if (at < 1) return wrong("label", "must be written NAME=VALUE.");
    filter.label = [[label.slice(0, at), label.slice(at + 1)]];
  }
  const text = valueOf("text");
  if (text !== undefined) {
    if (text.trim() === "" || text.length > MAX_TEXT_CHARS) {
      return wrong("text", `must have 1 to ${MAX_TEXT_CHARS} characters.`);
    }
    filter.text = text;
  }
  const regex = valueOf("regex");
  if (regex !== undefined) {
    if (text !== undefined) return wrong("regex", "cannot be together with text.");
    if (!isPattern(regex)) {
      const bounds = `at most ${MAX_TEXT_CHARS} characters and small repetitions`;
      return wrong("regex", `must be a pattern of RE2 with ${bounds}.`);
    }
    filter.regex = regex;
  }
  const parts = valueOf("in");
  if (parts !== undefined) {
    const named = parts.split(",").map((one) => one.trim());
    if (!named.every(isPart)) {
      return wrong("in", "must be request, response or tools, with commas.");
    }
    if ((text ?? regex) === undefined) return wrong("in", "needs text or regex.");
    filter.in = named.filter(isPart);
  }
  return { ok: true, filter };
}

function isPart(name: string): name is SearchedPart {
  return SEARCHED_PARTS.some((part) => part === name);
}

function isPattern(written: string): boolean {
  if (written === "" || written.length > MAX_TEXT_CHARS) return false;
  try {
    compileSearch(written);
    return true;
  } catch {
    return false;
  }
}

function wrong(option: FilterName, problem: string): ParsedFilter {
  return { ok: false, option, problem };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the Unix time in milliseconds of a written time in the time zone of the calendar; null if
 * the text is none. `1h` and `2d` are before now.
 */
export function parseTime(written: string, { wallMs, calendar }: FilterClock): number | null {
  const [, days] = /^(\d{1,4})d$/.exec(written) ?? [];
  if (days !== undefined) return wallMs - Number(days) * DAY_MS;
  const ago = parseDuration(written);
  if (ago !== null) return wallMs - ago;
  const [, date, hours = "00", minutes = "00", seconds = "00"] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(written) ?? [];
  if (
    date === undefined || !isDate(date) ||
    Number.isNaN(Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`))
  ) {
    const exact = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(written)
      ? Date.parse(written)
      : NaN;
    return Number.isNaN(exact) ? null : exact;
  }
  const sinceMidnight = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  const time = calendar.startOfDay(date) + sinceMidnight;
  // A day with a change of the clock has an hour more or less before this time.
  const hour = Number(
    calendar.windowOf("hour", time).name.slice("h:2026-11-22T".length).slice(0, 2),
  );
  const shift = hour - Number(hours);
  return time - (shift > 12 ? shift - 24 : shift < -12 ? shift + 24 : shift) * 3_600_000;
}
