import { ConnectionError } from "../core/failure/connection_error.ts";
import { findCause } from "./runtime_errors.ts";

/**
 * Initial size of the receive buffer in bytes. A stream holds its buffer for its whole life, and
 * the records of most streams are small.
 */
const MIN_BUFFER_BYTES = 4 * 1024;

/** Size of the buffer after a read has filled a smaller one: large bodies need fewer reads. */
const FILLED_BUFFER_BYTES = 16 * 1024;

/** Limit of unconsumed bytes: the head of a response is the longest part that is buffered whole. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Buffer of received bytes that are not consumed yet. */
export type ReadBuffer = ReturnType<typeof newReadBuffer>;

/** Returns a buffer that reads a connection into memory that is reused. */
export function newReadBuffer(connection: Pick<Deno.Conn, "read">) {
  let room = new Uint8Array(MIN_BUFFER_BYTES);
  let start = 0, end = 0;
  let ahead: Promise<number | null> | null = null;
  let total = 0;
  let hasEnded = false;

  function makeRoom() {
    if (start === end) {
      const wasFilled = end === room.length;
      if (wasFilled && end < FILLED_BUFFER_BYTES) room = new Uint8Array(FILLED_BUFFER_BYTES);
      start = end = 0;
    }
    if (end < room.length) return;
    if (start === 0 && room.length === MAX_WAITING_BYTES) {
      throw new Error("a line of the response has no end");
    }
    const larger = start === 0 ? new Uint8Array(2 * room.length) : room;
    larger.set(room.subarray(start, end));
    room = larger;
    end -= start;
    start = 0;
  }

  return {
    /** Returns the buffered bytes, valid until the next call of `more`. */
    bytes: (): Uint8Array<ArrayBuffer> => room.subarray(start, end),
    /** Consumes the first `count` bytes. */
    take(count: number): void {
      start += count;
    },
    /**
     * Waits for more bytes; false at the end of the connection. Throws if too many bytes are
     * unconsumed.
     */
    async more(): Promise<boolean> {
      // A pending read already uses the free part of the buffer.
      if (ahead === null) makeRoom();
      let count: number | null;
      try {
        count = await (ahead ?? connection.read(room.subarray(end)));
      } catch (error) {
        throw new ConnectionError(findCause(error), "the connection failed while it was read");
      }
      ahead = null;
      if (count === null) {
        hasEnded = true;
        return false;
      }
      end += count;
      total += count;
      return true;
    },
    /** Watches an idle connection; calls `gone` when unexpected bytes or its end arrive. */
    watch(gone: () => void): void {
      if (room.length > FILLED_BUFFER_BYTES) room = new Uint8Array(MIN_BUFFER_BYTES);
      start = end = 0;
      ahead = connection.read(room);
      ahead.then(gone, gone);
    },
    /** Returns the number of bytes received so far. */
    total: (): number => total,
    /** True after the server has ended the connection. */
    hasEnded: (): boolean => hasEnded,
  };
}
