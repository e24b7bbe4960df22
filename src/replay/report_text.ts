import { visible } from "../core/visible_text.ts";
import { DIFFERENCE_KINDS } from "./difference.ts";
import type { Group, NamedRecord } from "./groups.ts";
import { type Report, SKIP_REASONS } from "./report.ts";

/** Characters of the column with the kind. */
const KIND_CHARS = 10;

/** Returns a report as text, for people; `namesAll` if each record of a group has a line. */
export function reportText(
  report: Report,
  { showsContent, namesAll }: { readonly showsContent: boolean; readonly namesAll: boolean },
): string {
  const { records, replayed, different, groups } = report;
  const lines = [
    `${counted(records, "record")}, ${number(replayed)} replayed${skippedText(report)}`,
    `same ${number(replayed - different)}   different ${number(different)}${kindsText(report)}`,
    ...skippedLines(report),
    ...groups.flatMap((group) => ["", ...groupLines(group, showsContent, namesAll)]),
  ];
  return lines.map((line) => `${visible(line)}\n`).join("");
}

function skippedText({ skipped }: Report): string {
  const reasons = SKIP_REASONS.flatMap((reason) => {
    const count = skipped.get(reason);
    return count === undefined ? [] : [`${number(count)} ${reason}`];
  });
  const sum = [...skipped.values()].reduce((total, count) => total + count, 0);
  return sum === 0 ? "" : `, ${number(sum)} skipped (${reasons.join(", ")})`;
}

/** Returns a line for each reason, which names the skipped records. */
function skippedLines({ skipped, skippedIds }: Report): string[] {
  return SKIP_REASONS.flatMap((reason) => {
    const ids = skippedIds.get(reason);
    if (ids === undefined) return [];
    const more = (skipped.get(reason) ?? 0) - ids.length;
    const rest = more === 0 ? "" : `, ${number(more)} more`;
    return [`${"skipped".padEnd(KIND_CHARS)}${reason}  ${ids.join(", ")}${rest}`];
  });
}

function kindsText({ counts, cost }: Report): string {
  const kinds = DIFFERENCE_KINDS.flatMap((kind) => {
    const count = counts.get(kind);
    if (count === undefined) return [];
    return [`${kind} ${number(count)}${kind === "cost" ? ` (${costText(cost)})` : ""}`];
  });
  return kinds.length === 0 ? "" : `:  ${kinds.join("  ")}`;
}

function costText({ before, after }: { readonly before: number; readonly after: number }): string {
  const usd = (nanoUsd: number) => {
    const amount = nanoUsd / 1e9;
    if (amount >= 0.1) return amount.toFixed(2);
    return amount.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  };
  const ratio = before === 0 ? null : (after / before - 1) * 100;
  const change = ratio === null ? "" : `, ${ratio < 0 ? "" : "+"}${ratio.toFixed(1)} %`;
  return `${usd(before)} -> ${usd(after)} USD${change}`;
}

function groupLines(
  { kind, paths, before, after, content, count, records, cost }: Group,
  showsContent: boolean,
  namesAll: boolean,
): string[] {
  const label = kind.padEnd(KIND_CHARS);
  const indent = " ".repeat(KIND_CHARS);
  const [first] = records;
  const where = paths.length === 0 ? [] : [paths.join(", ")];
  const sums = cost === null ? [] : [costText(cost)];
  const named = first === undefined || count === 1 ? [] : [`(first ${first.id})`];
  const title = count === 1 && first !== undefined
    ? [nameText(first), ...where, ...sums]
    : [counted(count, "record"), ...where, ...sums, ...named];
  const values = showsContent && content !== undefined ? content : null;
  return [
    `${label}${title.join("  ")}`,
    `${indent}before  ${before}${values === null ? "" : `  ${values.before}`}`,
    `${indent}after   ${after}${values === null ? "" : `  ${values.after}`}`,
    ...(namesAll && count > 1 ? records.map((one) => `${indent}${nameText(one)}`) : []),
  ];
}

function nameText({ id, at, key, path, model }: NamedRecord): string {
  const time = at.slice("2026-11-23T".length, "2026-11-23T14:02:11".length);
  return [id, time, key ?? "no key", path, model ?? "no model"].join("  ");
}

function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function number(count: number): string {
  return count.toLocaleString("en-US");
}
