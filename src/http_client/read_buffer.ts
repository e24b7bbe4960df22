import { ConnectionError } from "../core/connection_error.ts";
import { findCause } from "./runtime_errors.ts";

/** Room for what is received, in bytes: a stream keeps it for its whole life. */
const MIN_BUFFER_BYTES = 16 * 1024;

/** Bytes that may wait to be taken: the head of an answer is the longest of what is read whole. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Bytes of a connection that were received and not yet taken. */
export interface ReadBuffer {
  /** What is there; good until the next call of `more`. */
  bytes(): Uint8Array<ArrayBuffer>;
  /** The first of them are done with. */
  take(count: number): void;
  /** Waits for more bytes; false at the end of the connection. Throws when too many wait to be taken. */
  more(): Promise<boolean>;
  /** Waits for bytes that nobody has asked for; `gone` runs when some come, or the end. */
  watch(gone: () => void): void;
  /** The number of bytes that have come so far. */
  total(): number;
  /** True once the other side has ended the connection. */
  hasEnded(): boolean;
}

/** Reads a connection into one room that is used again and again. */
export function newReadBuffer(connection: Pick<Deno.Conn, "read">): ReadBuffer {
  let room = new Uint8Array(MIN_BUFFER_BYTES);
  let start = 0, end = 0;
  let ahead: Promise<number | null> | null = null;
  let total = 0;
  let hasEnded = false;

  function makeRoom() {
    if (start === end) start = end = 0;
    if (end < room.length) return;
    if (start === 0 && room.length === MAX_WAITING_BYTES) {
      throw new Error("an answer's line has no end");
    }
    const larger = start === 0 ? new Uint8Array(2 * room.length) : room;
    larger.set(room.subarray(start, end));
    room = larger;
    end -= start;
    start = 0;
  }

  return {
    bytes: () => room.subarray(start, end),
    take(count) {
      start += count;
    },
    async more() {
      // A read that waits already has the whole room.
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
    watch(gone) {
      if (room.length > MIN_BUFFER_BYTES) room = new Uint8Array(MIN_BUFFER_BYTES);
      start = end = 0;
      ahead = connection.read(room);
      ahead.then(gone, gone);
    },
    total: () => total,
    hasEnded: () => hasEnded,
  };
}
