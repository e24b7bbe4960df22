import type { LoopTurns } from "../traffic/loop_turns.ts";

/** Returns the turns as one client has them, which is known once its call is admitted. */
export function clientTurns(turns: LoopTurns, client: () => string): LoopTurns {
  return { next: (kind, cancellation) => turns.next(kind, cancellation, client) };
}
