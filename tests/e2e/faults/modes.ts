import { assert, assertEquals } from "../../support/assert.ts";
import { type Break, type Phase, PHASES } from "./break.ts";
import type { Cell } from "./cells.ts";
import type { Mode } from "./columns.ts";

/**
 * The first phase in which a held stream breaks otherwise than any stream, and one with an early
 * head as any.
 */
const HELD_FROM: Phase = "within the content";

/** Breaks that are run behind the content that follows an early head: the page has them all. */
const LATE_EARLY: readonly string[] = ["the connection is reset", "silence", "an error event"];

/** True if a break is run in the mode. */
export function isInMode(mode: Mode | null, { phase, name }: Break): boolean {
  if (mode === null) return true;
  const isLate = PHASES.indexOf(phase) >= PHASES.indexOf(HELD_FROM);
  return mode === "held" ? isLate : !isLate || LATE_EARLY.includes(name);
}

/** Throws unless a call whose head was sent early, or whose stream was held, keeps its promises. */
export function checkMode(mode: Mode, { column, outcome, seen }: Cell): void {
  const { report, seen: { isComplete, content } } = outcome;
  if (mode === "early") {
    const isSilent = column.delivery === "WebSocket" && column.type === "native";
    assertEquals(report.ms.earlyHead === null, isSilent);
    if (column.delivery !== "WebSocket") assertEquals(report.status, 200);
    return;
  }
  // The whole answer, or one error without a part of it.
  assert(isComplete || content === "", seen);
  assertEquals(report.held, isComplete ? "complete" : null);
  assertEquals(report.brokeOff, false);
}
