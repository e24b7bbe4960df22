/** Use of one model of a provider by one client key on one day. */
export interface UsageRow extends UsageCounts {
  /** Date of the day in `security.time_zone`, such as `2026-11-22`. */
  readonly day: string;
  /** Name of the client key, or of the key and its end user. */
  readonly key: string;
  /** True for a client with a token, while the row is not stored: a key may have its name. */
  readonly isToken?: true;
  readonly provider: string;
  readonly model: string;
}

/** Between the names of a key and of its end user. */
const SEPARATOR = "\u001f";

/** Returns the name for the rows of an end user of a key. */
export function userRowName(key: string, user: string): string {
  return `${key}${SEPARATOR}${user}`;
}

/** Returns the client key of a row, and its end user; an empty text without one. */
export function ownersOf({ key }: Pick<UsageRow, "key">) {
  const [name = "", user = ""] = key.split(SEPARATOR, 2);
  return { key: name, user };
}

/** Sums of calls. */
export interface UsageCounts {
  readonly calls: number;
  /** Input tokens, including cached ones. */
  readonly input: number;
  readonly output: number;
  /** Input tokens that were read from the provider's cache. */
  readonly cached: number;
  /** Cost in whole nano-dollars. */
  readonly nanoUsd: number;
  /** Calls with an estimated count of tokens. */
  readonly estimated: number;
}

/** Model of the rows of all models beyond the bound of a day. */
export const OTHER_MODEL = "_dynamic";

/** Client of the rows of all clients beyond the bound of a day. */
export const OTHER_CLIENT = "_other";

/**
 * Returns a row with the names under which it counts if its day has no room for it: as all other
 * models of its client. Of clients that the configuration does not name there may be any number, so
 * those with tokens count together, and so do the end users of a key.
 */
export function rowBeyondBound(row: UsageRow): UsageRow {
  const { key, user } = ownersOf(row);
  const isToken = row.isToken === true;
  const client = isToken ? OTHER_CLIENT : user === "" ? key : userRowName(key, OTHER_CLIENT);
  return { ...row, key: client, model: OTHER_MODEL };
}

/** Returns the sums of two counts. They stay whole numbers that every store can add. */
export function addCounts(one: UsageCounts, other: UsageCounts): UsageCounts {
  return {
    calls: sum(one.calls, other.calls),
    input: sum(one.input, other.input),
    output: sum(one.output, other.output),
    cached: sum(one.cached, other.cached),
    nanoUsd: sum(one.nanoUsd, other.nanoUsd),
    estimated: sum(one.estimated, other.estimated),
  };
}

function sum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** Returns the day this many days before a date. */
export function dayBefore(day: string, days: number): string {
  return Temporal.PlainDate.from(day).subtract({ days }).toString();
}

/** Returns this many days up to `last`, the latest first. */
export function daysUntil(last: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, days) => dayBefore(last, days));
}
