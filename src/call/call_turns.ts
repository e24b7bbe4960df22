import { cancelled, type Failed } from "../core/failure/result.ts";
import { refuseFullHeap } from "../traffic/call_memory.ts";
import { type LoopTurns, turnForText } from "../traffic/loop_turns.ts";
import type { Call } from "./call.ts";

/** Returns the turns as one client has them, which is known once its call is admitted. */
export function clientTurns(turns: LoopTurns, client: () => string): LoopTurns {
  return { next: (kind, cancellation) => turns.next(kind, cancellation, client) };
}

/**
 * Waits for a turn of a call; null if its work may be done now. Returns the end of a call that was
 * cancelled by then, also without a wait; null for any other.
 */
export async function awaitTurn(
  { cancellation }: Pick<Call, "cancellation">,
  turn: Promise<void> | null,
): Promise<Failed | null> {
  await turn;
  return cancellation.isCancelled ? cancelled(cancellation.reason) : null;
}

/**
 * Waits for the turn in which the request of a call is translated again, as for another key: many
 * calls may be refused at the same time. Returns the end of a call that was cancelled by then, or
 * its refusal while the heap is nearly full.
 */
export async function awaitTranslation(call: Call): Promise<Failed | null> {
  const { id, turns, cancellation, state: { admission } } = call;
  const turn = turnForText(turns, admission.bodyBytesOf(id), "entering", cancellation);
  return (turn === null ? null : await awaitTurn(call, turn)) ?? refuseFullHeap(call);
}
