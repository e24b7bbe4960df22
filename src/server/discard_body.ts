import type { Call } from "../call/call.ts";

/** Bodies that are discarded at the same time; the response to any other one does not wait. */
const MAX_DISCARDED_BODIES = 64;

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
const MIN_PROGRESS_BYTES = 64 * 1024, PROGRESS_MS = 500;

/** Number of bodies that are discarded now. */
let discarding = 0;

/** Resolves when the next piece may be read. */
let next: Promise<void> = Promise.resolve();

/**
 * Discards the body of a request that is refused without it: the connection ends with the response,
 * and a client that is still writing then finds it broken before it reads the response. `length` is
 * the declared one, null for a body in chunks. One piece of all such bodies is read in a turn of
 * the event loop, because strangers have them too. Clients that wait for permission to send get
 * their response at once.
 */
export async function discardBody(
  { headers, world }: Call,
  { body }: Request,
  length: number | null,
): Promise<void> {
  const isShort = length !== null && length <= MAX_BUFFERED_BYTES;
  const isLong = length !== null && length > MAX_DISCARDED_BYTES;
  if (isShort || isLong || headers.has("expect") || body === null) return;
  if (discarding >= MAX_DISCARDED_BODIES) return;
  discarding++;
  const reader = body.getReader();
  const deadlineMs = world.now() + MAX_DISCARDING_MS;
  const over = Promise.withResolvers<void>();
  let bytes = 0, isOver = false;
  let cancelCheck = world.after(PROGRESS_MS, () => check(0));

  function check(before: number) {
    if (bytes - before < MIN_PROGRESS_BYTES || world.now() >= deadlineMs) return end();
    const now = bytes;
    cancelCheck = world.after(PROGRESS_MS, () => check(now));
  }

  function end() {
    isOver = true;
    over.resolve();
    reader.cancel().catch(() => {});
  }

  try {
    while (!isOver && bytes <= MAX_DISCARDED_BYTES) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.length;
      next = next.then(() => new Promise((go) => void world.after(0, go)));
      await Promise.race([next, over.promise]);
    }
  } catch {
    // The client has left.
  } finally {
    cancelCheck();
    end();
    discarding--;
  }
}
