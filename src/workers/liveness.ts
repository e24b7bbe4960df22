import type { World } from "../core/world.ts";

/** Time between two messages that ask a worker whether it responds. */
const PING_INTERVAL_MS = 5_000;

/** Number of these messages in succession without a response after which a worker hangs. */
const MAX_UNANSWERED_PINGS = 6;

/** Dependencies of a liveness check. */
export interface LivenessDeps {
  readonly world: Pick<World, "after">;
  /** Sends a message to which the process responds. */
  ping(): void;
  /** Receives the reason once the process has not responded for 30 s. */
  hung(reason: string): void;
}

/**
 * Returns the check of one process. It counts messages instead of time: a parent that was stopped,
 * or a machine that slept, has not sent any meanwhile, and must not take its workers for hung.
 */
export function newLiveness({ world, ping, hung }: LivenessDeps) {
  let unanswered = 0;
  let cancel = () => {};

  function check(): void {
    if (unanswered >= MAX_UNANSWERED_PINGS) {
      return hung(`no response for ${MAX_UNANSWERED_PINGS * PING_INTERVAL_MS / 1_000} s`);
    }
    unanswered++;
    ping();
    cancel = world.after(PING_INTERVAL_MS, check);
  }

  return {
    /** Begins with the messages. */
    begin: check,
    /** Notes a message of the process, whichever it is. */
    heard: (): void => void (unanswered = 0),
    end: (): void => cancel(),
  };
}
