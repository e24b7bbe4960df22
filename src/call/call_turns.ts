import type { LoopTurns } from "../traffic/loop_turns.ts";
import type { Call } from "./call.ts";

/** Returns the client by whose turns an admitted call waits; "" for all clients without a key. */
export function turnClient({ client }: Pick<Call, "client">): string {
  return client.key?.caller ?? "";
}

/** Returns the turns as one client has them, which is known once its call is admitted. */
export function clientTurns(turns: LoopTurns, client: () => string): LoopTurns {
  return { next: (kind, cancellation) => turns.next(kind, cancellation, client()) };
}
