import { accessFields } from "../../../src/observe/access_log.ts";
import { assertEquals } from "../../support/assert.ts";
import type { Break } from "./break.ts";
import { BREAKS } from "./breaks.ts";
import { type Column, COLUMNS, type Mode, STREAM_COLUMNS } from "./columns.ts";
import { type BreakingGateway, checkOutcome, newBreakingGateway, type Outcome } from "./matrix.ts";
import { checkMode, isInMode } from "./modes.ts";

/** Cell of the page: one break in one kind of call. */
export interface Cell {
  readonly column: Column;
  readonly broken: Break;
  /** View of the client if every attempt breaks. */
  readonly seen: string;
  readonly isRetried: boolean;
  readonly fallsBack: boolean;
  readonly end: string;
  /** Cause of the failed connection in the access line. */
  readonly cause: string | null;
  /** Outcome of each attempt in `tries`, without the provider. */
  readonly tried: string;
  /** Outcome of the call. */
  readonly outcome: Outcome;
}

/** Most attempts of a call: two at the target, two at its fallback. */
const MAX_ATTEMPTS = 4;

/** The cells of a run, and what is wrong with them. */
export interface MatrixRun {
  readonly cells: readonly Cell[];
  /** Broken promises, each with its cell. */
  readonly problems: readonly string[];
}

/**
 * Runs every cell of the matrix and checks its promises; the kinds of call run side by side. In a
 * mode only streams are run.
 */
export async function runMatrix(mode: Mode | null = null): Promise<MatrixRun> {
  const columns = mode === null ? COLUMNS : STREAM_COLUMNS;
  const runs = await Promise.all(columns.map((column) => runColumn(column, mode)));
  return {
    cells: runs.flatMap(({ cells }) => cells),
    problems: runs.flatMap(({ problems }) => problems),
  };
}

async function runColumn(column: Column, mode: Mode | null): Promise<MatrixRun> {
  await using gateway = newBreakingGateway(column, mode);
  const cells: Cell[] = [];
  const problems: string[] = [];
  const healthy = await gateway.run(null, 0);
  const healed = new Set<string>();
  if (!healthy.seen.isComplete) problems.push(`${column.call}: ${healthy.seen.text}`);
  for (const broken of BREAKS.filter((one) => one.fits(column) && isInMode(mode, one))) {
    try {
      const cell = await runCell(gateway, column, broken, healthy, healed);
      if (mode !== null) checkMode(mode, cell);
      cells.push(cell);
    } catch (error) {
      const { call, type } = column;
      problems.push(`${call} over ${type}: ${broken.name}, ${broken.phase}: ${error}`);
    }
  }
  return { cells, problems };
}

/**
 * Runs a break in every attempt, and, if the call is sent again, in the first attempt alone: the
 * latter for one break of each phase with each outcome, because an attempt knows nothing else of
 * the one before it. `healed` has those that were run.
 */
async function runCell(
  gateway: BreakingGateway,
  column: Column,
  broken: Break,
  healthy: Outcome,
  healed: Set<string>,
): Promise<Cell> {
  const outcome = await gateway.run(broken, MAX_ATTEMPTS);
  checkOutcome(column, broken, outcome, healthy.seen);
  const { report, seen } = outcome;
  const tried = [...new Set(report.attempts.map((attempt) => attempt.outcome))].join(", ");
  const kind = `${broken.phase}: ${tried}`;
  if (outcome.sentCount > 1 && !healed.has(kind)) {
    healed.add(kind);
    // An upstream that breaks once: what is sent again is answered, once and completely.
    const again = await gateway.run(broken, 1);
    checkOutcome(column, broken, again, healthy.seen);
    assertEquals([again.sentCount, again.seen.isComplete], [2, true]);
    if (column.format === null && column.delivery !== "JSON") {
      assertEquals(again.seen.content.length, healthy.seen.content.length);
    }
  }
  return {
    column,
    broken,
    // Statuses have one row where each of them reaches the client.
    seen: broken.name === `status ${report.status}`
      ? seen.text.replace(String(report.status), "the same status,")
      : seen.text,
    isRetried: report.attempts.some(({ number }) => number > 1),
    fallsBack: report.fallbacks > 0,
    end: outcome.end,
    cause: accessFields(report).upstream_cause,
    outcome,
    tried,
  };
}
