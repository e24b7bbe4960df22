import type { Call } from "../call/call.ts";

/** Bodies that are discarded at the same time; the response to any other one does not wait. */
const MAX_DISCARDED_BODIES = 64;

/**
 * Largest body of a declared length that is not discarded: the systems take it. Measured: clients
 * that write first lost no response to bodies of 300 kB, and most to bodies of 5 MB.
 */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** Bytes and pieces of a body that are discarded. */
const MAX_DISCARDED_BYTES = 12 * 1024 * 1024, MAX_DISCARDED_PIECES = 16 * 1024;

/** Time for which a body is discarded, and for which none of it may come, in milliseconds. */
const MAX_DISCARDING_MS = 5_000, MAX_SILENT_MS = 500;

/** Number of bodies that are discarded now. */
let discarding = 0;

/**
 * Discards the body of a request that is refused without it: the connection ends with the response,
 * and a client that is still writing then finds it broken before it reads the response. `length` is
 * the declared one, null for a body in chunks. Clients that wait for permission to send, and those
 * that do not send, get their response at once.
 */
export async function discardBody(
  { headers, world, turns, cancellation }: Call,
  { body }: Request,
  length: number | null,
): Promise<void> {
  const isShort = length !== null && length <= MAX_BUFFERED_BYTES;
  const isLong = length !== null && length > MAX_DISCARDED_BYTES;
  if (isShort || isLong || headers.has("expect") || body === null) return;
  if (discarding >= MAX_DISCARDED_BODIES) return;
  discarding++;
  const reader = body.getReader();
  const end = () => void reader.cancel().catch(() => {});
  const cancelTimeout = world.after(MAX_DISCARDING_MS, end);
  let cancelSilence = () => {};
  try {
    for (let bytes = 0, pieces = 0; bytes <= MAX_DISCARDED_BYTES; pieces++) {
      if (pieces >= MAX_DISCARDED_PIECES) return;
      cancelSilence = world.after(MAX_SILENT_MS, end);
      const { done, value } = await reader.read();
      cancelSilence();
      if (done) return;
      bytes += value.length;
      await turns.next("rest", cancellation);
    }
  } catch {
    // The client has left.
  } finally {
    cancelTimeout();
    cancelSilence();
    end();
    discarding--;
  }
}
