import type { FinishedCall, KeyView, RunningCall, Snapshot } from "../admin/snapshot.ts";
import { durationText, figure } from "./top_words.ts";

/** A table of texts. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Line in place of rows; null to omit a table without rows. */
  readonly empty: string | null;
}

/** Returns the client keys with their use; no table without keys. */
export function keyTable({ keys }: Snapshot): Table {
  return {
    head: ["KEY", "REQUESTS/MIN", "TOKENS/MIN", "RUNNING", "BUDGETS"],
    rows: keys.map((key) => [
      `${key.name}${key.isDisabled ? " (disabled or expired)" : ""}`,
      limited(key.requestsPerMinute, key.maxRequestsPerMinute),
      [
        limited(key.tokensPerMinute, key.maxTokensPerMinute),
        ...key.groupRates.map((one) =>
          `${one.scope} ${limited(one.tokensPerMinute, one.maxTokensPerMinute)}`
        ),
      ].join(", "),
      limited(key.running, key.maxConcurrent),
      budgetText(key),
    ]),
    empty: null,
  };
}

function limited(value: number, limit: number | null): string {
  return limit === null ? String(value) : `${value}/${limit}`;
}

function budgetText({ budgets, tokenBudgets }: KeyView): string {
  return [
    ...budgets.map((one) =>
      `${one.scope} ${one.period} ${figure(one.spentUsd)}/${figure(one.limitUsd)} USD`
    ),
    ...tokenBudgets.map((one) => `${one.scope} ${one.period} ${one.spent}/${one.limit} tokens`),
  ].join(", ") || "-";
}

/** Maximum number of running calls that are shown. */
const MAX_RUNNING = 15;

/** Returns the running calls. */
export function runningTable({ running }: Snapshot): Table {
  return {
    head: ["RUNNING", "CLIENT", "ROUTE", "TARGET", "PHASE", "RECORDS", "TRIES", "PATH"],
    rows: running.slice(0, MAX_RUNNING).map(runningRow),
    empty: "No call is running.",
  };
}

/** Returns finished calls. */
export function finishedTable(finished: readonly FinishedCall[]): Table {
  return {
    head: ["FINISHED", "STATUS", "END", "CLIENT", "ROUTE", "TARGET", "TOTAL", "TRIES", "PATH"],
    rows: finished.map(finishedRow),
    empty: null,
  };
}

function runningRow(call: RunningCall): readonly string[] {
  return [
    durationText(call.ageMs),
    call.client ?? "-",
    call.route ?? "-",
    targetText(call.provider, call.model),
    call.phase,
    String(call.records),
    String(call.tries),
    call.path,
  ];
}

function finishedRow({ endedAtMs, access, totalMs, attempts }: FinishedCall): readonly string[] {
  return [
    new Date(endedAtMs).toISOString().slice("2026-11-22T".length, "2026-11-22T18:00:00".length),
    textOf(access["status"]),
    textOf(access["end"]),
    textOf(access["client"]),
    textOf(access["route"]),
    targetText(textOf(access["provider"]), textOf(access["model"])),
    durationText(totalMs),
    String(attempts.length),
    textOf(access["path"]),
  ];
}

function targetText(provider: string | null, model: string | null): string {
  return provider === null || provider === "-" ? "-" : `${provider}/${model ?? "-"}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "-";
}
