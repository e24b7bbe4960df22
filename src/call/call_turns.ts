import { type Awaitable, cancelled, type Failed } from "../core/failure/result.ts";
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
 * Returns the turn of the next piece of work on all of the request of a call; null for now, as
 * always if the request is short.
 */
export function turnForRequest(
  { id, turns, cancellation, state: { admission } }: Call,
  kind: "large" | "entering" = "large",
): Promise<void> | null {
  return turnForText(turns, admission.bodyBytesOf(id), kind, cancellation);
}

/**
 * Waits for the turn in which the request of a call is translated again. `kind` is `entering` if
 * many calls may be at this point at the same time, as when a provider refuses a key. Returns the
 * end of a call that was cancelled by then, or its refusal while the heap is nearly full; null at
 * once for a short request.
 */
export function awaitTranslation(
  call: Call,
  kind: "large" | "entering",
): Awaitable<Failed | null> {
  const turn = turnForRequest(call, kind);
  return turn === null
    ? refuseFullHeap(call)
    : awaitTurn(call, turn).then((stopped) => stopped ?? refuseFullHeap(call));
}
