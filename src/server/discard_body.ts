import type { Call } from "../call/call.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { World } from "../core/world.ts";
import { heldByBusiest } from "../traffic/busiest.ts";
import { newFairQueue } from "../traffic/fair_queue.ts";
import { newSource } from "./receive_body.ts";

/**
 * Bodies that are discarded at the same time. A further one ends that of which least has come,
 * among those of the client that has most of them; those of client keys end last.
 */
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
 * 1 KiB 30 times slower. A body of which thousands come in a second mostly ends before its first
 * turn.
 */
const MAX_TURN_BYTES = 256 * 1024, MAX_TURN_PIECES = 16;

/**
 * Bytes of the buffer into which a discarded body is read: without one the runtime makes one of
 * 64 KiB for each piece, also of one byte.
 */
const BUFFER_BYTES = 16 * 1024;

interface Discard {
  /** Its key, or its network without one. */
  readonly client: string;
  bytes: number;
  end(): void;
}

/** The bodies that are discarded now, the oldest first. */
const discards = new Set<Discard>();

/** Those that wait for their turn. */
const waiting = newFairQueue();

let hasNextTurn = false;

/**
 * Discards what has not been read of the body of a request that is refused: the connection ends
 * with the response, and a client that is still writing then finds it broken before it reads the
 * response. `length` is the declared one, null for a body in chunks. Clients that wait for
 * permission to send get their response at once. Nothing is discarded of a body whose reader has
 * not given it back.
 */
export async function discardBody(
  call: Call,
  { body }: Request,
  length: number | null,
): Promise<void> {
  const { headers, world, bodyBytes } = call;
  const rest = length === null ? null : length - bodyBytes;
  const isShort = rest !== null && rest <= MAX_BUFFERED_BYTES;
  const isLong = rest !== null && rest > MAX_DISCARDED_BYTES;
  const isHeldBack = bodyBytes === 0 && headers.has("expect");
  if (isShort || isLong || isHeldBack || body === null || body.locked) return;
  const source = newSource(body);
  const cancellation = new Cancellation();
  const client = call.clientOf();
  const discard: Discard = {
    client,
    bytes: 0,
    end() {
      discards.delete(discard);
      cancellation.cancel(null);
      source.cancel();
    },
  };
  const deadlineMs = world.now() + MAX_DISCARDING_MS;
  let cancelCheck = world.after(INTERVAL_MS, () => check(0));

  function check(before: number) {
    const { bytes } = discard;
    if (bytes - before < MIN_INTERVAL_BYTES || world.now() >= deadlineMs) discard.end();
    else cancelCheck = world.after(INTERVAL_MS, () => check(bytes));
  }

  if (discards.size >= MAX_DISCARDS) leastOfMost(discard).end();
  discards.add(discard);
  try {
    let into: Uint8Array<ArrayBuffer> | null = null;
    let turn = { bytes: MAX_TURN_BYTES, pieces: 0 };
    while (discard.bytes <= MAX_DISCARDED_BYTES) {
      if (turn.bytes >= MAX_TURN_BYTES || turn.pieces >= MAX_TURN_PIECES) {
        await new Promise<void>((resolve) => {
          waiting.push({ client, cancellation }, () => resolve());
          planTurn(world);
        });
        turn = { bytes: 0, pieces: 0 };
      }
      if (!discards.has(discard)) return;
      const { done, value } = await source.read(into ?? new Uint8Array(BUFFER_BYTES));
      if (done || value === undefined) return;
      into = source.isBounded ? new Uint8Array(value.buffer) : null;
      discard.bytes += value.length;
      call.bodyBytes += value.length;
      turn.bytes += value.length;
      turn.pieces++;
    }
  } catch {
    // The client has left.
  } finally {
    cancelCheck();
    discard.end();
  }
}

/**
 * Returns the body of which least has come, of the client that has most with this one: one that is
 * written beats one whose client waits.
 */
function leastOfMost(newcomer: Discard): Discard {
  return heldByBusiest([...discards], newcomer, MAX_DISCARDS, () => 1)
    .reduce((least, one) => one.bytes < least.bytes ? one : least);
}

/** Plans the next turn; turns go round among the clients. */
function planTurn(world: Pick<World, "after">) {
  if (hasNextTurn || waiting.size === 0) return;
  hasNextTurn = true;
  world.after(0, () => {
    hasNextTurn = false;
    waiting.shift();
    planTurn(world);
  });
}
