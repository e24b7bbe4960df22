import type { LoopTurns } from "../traffic/loop_turns.ts";
import type { Call } from "./call.ts";

/** Returns the client by whose turns an admitted call waits; "" for all clients without a key. */
export function turnClient({ client }: Pick<Call, "client">): string {
  return client.key?.caller ?? "";
}

/** Returns the turns of the event loop for the work of one admitted call. */
export function turnsOf(
  call: Pick<Call, "client"> & { readonly state: Pick<Call["state"], "turns"> },
): LoopTurns {
  const { turns } = call.state;
  const client = turnClient(call);
  return { next: (kind, cancellation) => turns.next(kind, cancellation, client) };
}
