import type { JsonObject } from "../core/json/json.ts";
import {
  addCounts,
  ownersOf,
  rowBeyondBound,
  type UsageCounts,
  type UsageRow,
} from "../core/usage_row.ts";
import { atOnce } from "../core/at_once.ts";

/** Columns of a report that is added up by none. */
const ALL_COLUMNS = ["key", "provider", "model", "day"] as const;

/** Columns by which usage is added up. */
export const USAGE_COLUMNS = [...ALL_COLUMNS, "user"] as const;

/** A column by which usage is added up. */
export type UsageColumn = (typeof USAGE_COLUMNS)[number];

/** The values of `by`, in a sentence. */
export const USAGE_COLUMNS_TEXT = "key, model, provider, day or user";

/**
 * Returns a requested number of days, at most those that are stored; null if it is no number from 1
 * on.
 */
export function parseDays(written: string, stored: number): number | null {
  return /^[1-9]\d{0,5}$/.test(written) ? Math.min(Number(written), stored) : null;
}

/** Usage of some days, added up by columns. */
export interface UsageReport {
  /** First and last day, both included. */
  readonly from: string;
  readonly to: string;
  readonly columns: readonly UsageColumn[];
  /** Lines in the order of their columns. */
  readonly lines: readonly UsageLine[];
}

/** The sums of all rows with the same values in the columns of a report. */
export interface UsageLine extends UsageCounts {
  /** Values of the columns of the report, in their order. */
  readonly values: readonly string[];
}

/**
 * Rows that are added up, and lines that are sorted or written, in one step: clients choose the
 * names of models, so a report may have many thousands.
 */
const MAX_STEP_ITEMS = 256;

/**
 * Maximum number of lines besides those of `rowBeyondBound`: as many as all rows of a gateway
 * without a store. The days of a store have more together, of which a report would take seconds.
 */
const MAX_LINES = 50_000;

/**
 * Maximum number of lines with those of `rowBeyondBound` by which clients count for themselves:
 * stored rows do not show which clients have tokens, of whom there may be any number.
 */
const MAX_CLIENT_LINES = 60_000;

/** Returns the report of `usageReportSteps` in one piece. */
export function newUsageReport(...usage: Parameters<typeof usageReportSteps>): UsageReport {
  return atOnce(usageReportSteps(...usage));
}

/**
 * Returns the report of usage by one column, an end user together with its key; by all of them
 * without end users if `column` is null. `key` leaves out the usage of other keys. Other work may
 * be done between two steps.
 */
export function* usageReportSteps(
  rows: readonly UsageRow[],
  { from, to }: Pick<UsageReport, "from" | "to">,
  column: UsageColumn | null,
  key: string | null = null,
): Generator<void, UsageReport, void> {
  const columns = column === null ? ALL_COLUMNS : column === "user" ? USER_COLUMNS : [column];
  const lines = new Map<string, UsageLine>();
  const valuesOf = (row: UsageRow) => {
    const named = { ...row, ...ownersOf(row) };
    return columns.map((name) => named[name]);
  };
  const hasRoom = (name: string, max: number) => lines.size < max || lines.has(name);
  for (const [at, row] of rows.entries()) {
    if (at % MAX_STEP_ITEMS === 0) yield;
    if (key !== null && key !== ownersOf(row).key) continue;
    let values = valuesOf(row);
    let name = JSON.stringify(values);
    if (!hasRoom(name, MAX_LINES)) {
      values = valuesOf(rowBeyondBound(row));
      name = JSON.stringify(values);
    }
    if (!hasRoom(name, MAX_CLIENT_LINES)) {
      values = valuesOf(rowBeyondBound({ ...row, isToken: true }));
      name = JSON.stringify(values);
    }
    const { calls, input, output, cached, nanoUsd, estimated } = row;
    const counts = { calls, input, output, cached, nanoUsd, estimated };
    const known = lines.get(name);
    lines.set(name, { values, ...(known === undefined ? counts : addCounts(known, counts)) });
  }
  return { from, to, columns, lines: yield* sortSteps([...lines.values()]) };
}

const USER_COLUMNS = ["key", "user"] as const;

/** Sorts lines. Two sorted halves are joined with about one comparison for each line. */
function* sortSteps(lines: readonly UsageLine[]): Generator<void, readonly UsageLine[], void> {
  const half = lines.length >> 1;
  const joined = lines.length <= MAX_STEP_ITEMS ? lines : [
    ...(yield* sortSteps(lines.slice(0, half))),
    ...(yield* sortSteps(lines.slice(half))),
  ];
  yield;
  return joined.toSorted(compareLines);
}

function compareLines({ values }: UsageLine, other: UsageLine): number {
  for (const [index, value] of values.entries()) {
    const compared = other.values[index] ?? "";
    if (value !== compared) return value < compared ? -1 : 1;
  }
  return 0;
}

/** Counts of a line by their names in documents. */
function countsOf({ calls, input, output, cached, nanoUsd, estimated }: UsageLine) {
  return {
    calls,
    input_tokens: input,
    output_tokens: output,
    cached_tokens: cached,
    cost_usd: nanoUsd / 1e9,
    estimated_calls: estimated,
  };
}

/** Returns the report as a JSON document. */
export function usageJson({ from, to, columns, lines }: UsageReport): JsonObject {
  return { object: "usage", from, to, data: lines.map((line) => lineJson(columns, line)) };
}

function lineJson(columns: UsageReport["columns"], line: UsageLine): JsonObject {
  return {
    ...Object.fromEntries(columns.map((name, index) => [name, line.values[index] ?? ""])),
    ...countsOf(line),
  };
}

/** Returns the report as a text of JSON or CSV. Other work may be done between two steps. */
export function* usageTextSteps(
  { lines, ...report }: UsageReport,
  format: "json" | "csv",
): Generator<void, string, void> {
  const texts: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (at % MAX_STEP_ITEMS === 0) yield;
    texts.push(
      format === "csv" ? csvLine(fieldsOf(line)) : JSON.stringify(lineJson(report.columns, line)),
    );
  }
  const empty = { ...report, lines: [] };
  if (format === "csv") return [...usageTable(empty).map(csvLine), ...texts].join("");
  return JSON.stringify(usageJson(empty)).replace(/\]}$/, () => `${texts.join()}]}`);
}

/** Names of the count columns of tables. */
const COUNT_NAMES = [
  "calls",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cost_usd",
  "estimated_calls",
];

/** Returns the report as lines of fields with a line of names. Costs have no exponent. */
export function usageTable({ columns, lines }: UsageReport): readonly (readonly string[])[] {
  return [[...columns, ...COUNT_NAMES], ...lines.map(fieldsOf)];
}

function fieldsOf(line: UsageLine): readonly string[] {
  const { cost_usd, ...counts } = countsOf(line);
  const { calls, input_tokens, output_tokens, cached_tokens, estimated_calls } = counts;
  const before = [calls, input_tokens, output_tokens, cached_tokens].map(String);
  return [...line.values, ...before, costText(cost_usd), String(estimated_calls)];
}

function costText(usd: number): string {
  const [whole = "0", decimals = ""] = usd.toFixed(9).split(".");
  const kept = decimals.replace(/0+$/, "");
  return kept === "" ? whole : `${whole}.${kept}`;
}

/** Returns the report as CSV with a line of names (RFC 4180). */
export function usageCsv(report: UsageReport): string {
  return atOnce(usageTextSteps(report, "csv"));
}

function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(",")}\r\n`;
}

/**
 * Returns a field of CSV. Spreadsheets take a text that begins like a formula for one, and clients
 * choose the names of models.
 */
function csvField(text: string): string {
  const isFormula = /^[=+@\t\r-]/.test(text) && !/^-?[\d.]+$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
