import type { Call } from "../call/call.ts";
import type { World } from "../core/world.ts";

/** Bodies that are discarded at the same time. A further one ends that of which least has come. */
const MAX_DISCARDS = 64;

/**
 * Largest body of a declared length that is not discarded: the systems take it. Measured: clients
 * that write first lost no response to bodies of 300 kB, and most to bodies of 5 MB.
 */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** Bytes of a body that are discarded, and time for it in milliseconds. */
const MAX_DISCARDED_BYTES = 12 * 1024 * 1024, MAX_DISCARDING_MS = 5_000;

/**
 * Bytes that come in each interval, in milliseconds: the response to a client that sends less, or
 * waits for it, is not delayed for longer.
 */
const MIN_INTERVAL_BYTES = 8 * 1024, INTERVAL_MS = 500;

/**
 * Bytes and pieces of one body that are read in a turn of the event loop, which is the only one:
 * strangers have such bodies too. Measured: 64 of them with a turn each made an upload in chunks of
 * 1 KiB 30 times slower.
 */
const MAX_TURN_BYTES = 256 * 1024, MAX_TURN_PIECES = 16;

interface Discard {
  bytes: number;
  end(): void;
}

/** The bodies that are discarded now, the oldest first. */
const discards = new Set<Discard>();

/** Those that wait for their turn. */
const waiting = new Set<() => void>();

let hasNextTurn = false;

/**
 * Discards the body of a request that is refused without it: the connection ends with the response,
 * and a client that is still writing then finds it broken before it reads the response. `length` is
 * the declared one, null for a body in chunks. Clients that wait for permission to send get their
 * response at once.
 */
export async function discardBody(
  { headers, world }: Call,
  { body }: Request,
  length: number | null,
): Promise<void> {
  const isShort = length !== null && length <= MAX_BUFFERED_BYTES;
  const isLong = length !== null && length > MAX_DISCARDED_BYTES;
  if (isShort || isLong || headers.has("expect") || body === null) return;
  const reader = body.getReader();
  let go = () => {};
  const discard: Discard = {
    bytes: 0,
    end() {
      discards.delete(discard);
      waiting.delete(go);
      go();
      reader.cancel().catch(() => {});
    },
  };
  const deadlineMs = world.now() + MAX_DISCARDING_MS;
  let cancelCheck = world.after(INTERVAL_MS, () => check(0));

  function check(before: number) {
    const { bytes } = discard;
    if (bytes - before < MIN_INTERVAL_BYTES || world.now() >= deadlineMs) discard.end();
    else cancelCheck = world.after(INTERVAL_MS, () => check(bytes));
  }

  if (discards.size >= MAX_DISCARDS) leastOf(discards).end();
  discards.add(discard);
  try {
    let turn = { bytes: 0, pieces: 0 };
    while (discards.has(discard) && discard.bytes <= MAX_DISCARDED_BYTES) {
      const { done, value } = await reader.read();
      if (done) return;
      discard.bytes += value.length;
      turn.bytes += value.length;
      turn.pieces++;
      if (turn.bytes < MAX_TURN_BYTES && turn.pieces < MAX_TURN_PIECES) continue;
      await new Promise<void>((resolve) => {
        go = resolve;
        waiting.add(go);
        planTurn(world);
      });
      turn = { bytes: 0, pieces: 0 };
    }
  } catch {
    // The client has left.
  } finally {
    cancelCheck();
    discard.end();
  }
}

/** Returns the body of which least has come: one that is written beats one whose client waits. */
function leastOf(all: ReadonlySet<Discard>): Discard {
  return [...all].reduce((least, one) => one.bytes < least.bytes ? one : least);
}

/** Plans the next turn, which is that of the body that waits longest. */
function planTurn(world: Pick<World, "after">) {
  if (hasNextTurn || waiting.size === 0) return;
  hasNextTurn = true;
  world.after(0, () => {
    hasNextTurn = false;
    const [go] = waiting;
    if (go !== undefined) {
      waiting.delete(go);
      go();
    }
    planTurn(world);
  });
}
