import { visible } from "../core/visible_text.ts";
import type { CallRecord } from "../record/record.ts";
import type { Hit } from "../record/record_file.ts";
import { durationText } from "./top_words.ts";

/** Columns of the table, with their widths. */
const COLUMNS = [
  ["time (UTC)", 19],
  ["status", 6],
  ["key", 14],
  ["route", 14],
  ["model", 24],
  ["provider", 14],
  ["took", 8],
  ["tokens", 7],
  ["end", 18],
  ["id", 36],
] as const;

/** Header line of the table. */
export const LOG_HEADER = row(COLUMNS.map(([name]) => name));

/** Returns a record as a line of the table, without its content. */
export function hitLine(hit: Hit): string {
  if (!("record" in hit)) {
    const key = hit.keyNumber === null ? "" : ` (key ${hit.keyNumber})`;
    return `${timeText(new Date(hit.at).toISOString())}  unreadable${key}\n`;
  }
  const { id, at, head } = hit.record;
  const last = head.attempts.at(-1);
  const tokens = head.usage === null ? "-" : String(head.usage.input + head.usage.output);
  return row([
    timeText(at),
    String(head.status),
    head.key ?? "-",
    head.route ?? "-",
    head.model_requested ?? last?.model ?? "-",
    last?.provider ?? "-",
    durationText(head.ms.total),
    tokens,
    head.end,
    id,
  ]);
}

function timeText(at: string): string {
  return at.slice(0, 19).replace("T", " ");
}

function row(fields: readonly string[]): string {
  const cells = fields.map((field, index) => {
    const width = COLUMNS[index]?.[1] ?? 0;
    const text = visible(field);
    return (text.length > width ? `${text.slice(0, width - 1)}…` : text).padEnd(width);
  });
  return `${cells.join("  ").trimEnd()}\n`;
}

/** Returns the head of a record as lines, with its attempts in order. */
export function recordLines({ id, at, head, request }: CallRecord): string {
  const facts: readonly (readonly [string, string | number | null])[] = [
    ["id", id],
    ["time", at],
    ["request", `${head.method} ${head.path}`],
    ["key", head.key],
    ["session", head.session],
    ["route", head.route],
    ["model", head.model_requested],
    ["status", head.status],
    ["end", head.end],
    ["code", head.code],
    ["finish", head.finish],
    ["tools offered", head.tools_offered.join(", ")],
    ["tools called", head.tools_called.join(", ")],
    ["lossy", head.lossy.join(", ")],
    ["verified", head.verified.join(", ")],
    ["redacted", Object.entries(head.redacted).map((one) => one.join("=")).join(", ")],
    ["cache", head.cache],
    ["tokens", head.usage === null ? null : `${head.usage.input} in, ${head.usage.output} out`],
    ["cost", head.cost === null ? null : `${head.cost} USD`],
    ["first content", head.ms.first === null ? null : durationText(head.ms.first)],
    ["took", durationText(head.ms.total)],
    ["configuration", head.generation],
    ["content", request === undefined ? null : head.cut.length === 0 ? "whole" : "cut"],
    ["cut", head.cut.join(", ")],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null || value === "" ? [] : [`${name.padEnd(14)} ${visible(String(value))}`]
  );
  const attempts = head.attempts.map(({ provider, key, model, outcome, began, ended }) => {
    const account = key === null ? provider : `${provider}(${key})`;
    const times = `${durationText(began)} to ${durationText(ended)}`;
    return `  ${visible(`${account}/${model}: ${outcome}`)}, ${times}`;
  });
  return `${[...lines, ...attempts.length === 0 ? [] : ["attempts", ...attempts]].join("\n")}\n`;
}
