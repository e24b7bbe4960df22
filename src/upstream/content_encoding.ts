import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

type Bytes = Uint8Array<ArrayBuffer>;

/** Reader of body bytes that throws on failure. */
export interface RawReader {
  /** Returns the next bytes; null at the end. May reuse `used`, the buffer of the previous read. */
  next(used: ArrayBuffer | undefined): Promise<Bytes | null>;
  cancel(): Promise<void>;
}

/** Content codings in lower case; `x-gzip` is an old name (RFC 9110, section 8.4.1). */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** Decompressed bytes after which other tasks have their turn. */
const MAX_UNINTERRUPTED_BYTES = 1024 * 1024;

/**
 * How a body is received: not compressed, decompressed by the gateway, or in a coding that it does
 * not know.
 */
export type Coding = "none" | "known" | "unknown";

/** Returns how a body with this `Content-Encoding` is received; null for a body without one. */
export function codingOf(written: string | null): Coding {
  const coding = nameOf(written);
  if (coding === "" || coding === "identity") return "none";
  return DECODERS.has(coding) ? "known" : "unknown";
}

function nameOf(coding: string | null): string {
  return coding?.trim().toLowerCase() ?? "";
}

/**
 * Returns a reader of the decompressed body; an unknown content coding is passed through. The
 * gateway requests `identity`, but some upstreams compress regardless. A truncated body fails; a
 * body without bytes is empty.
 */
export function decoded(packed: RawReader, coding: string | null): RawReader {
  const unpacker = DECODERS.get(nameOf(coding));
  if (unpacker === undefined) return packed;
  let reader: RawReader | null = null;
  return {
    async next() {
      if (reader === null) {
        const first = await packed.next(undefined);
        if (first === null) return null;
        reader = decompress(unpacker(), pieces(first.slice(), packed));
      }
      return await reader.next(undefined);
    },
    async cancel() {
      await reader?.cancel();
      await packed.cancel();
    },
  };
}

async function* pieces(first: Bytes, { next }: RawReader): AsyncGenerator<Bytes, void, void> {
  yield first;
  for (;;) {
    const piece = await next(undefined);
    if (piece === null) return;
    // The next read reuses the buffer.
    yield piece.slice();
  }
}

function decompress(unpacker: Transform, packed: AsyncIterable<Bytes>): RawReader {
  // An error of either stream is thrown by the read of the decompressed bytes.
  pipeline(Readable.from(packed, { objectMode: false }), unpacker, () => {});
  const read = unpacker[Symbol.asyncIterator]();
  let size = 0;
  return {
    async next() {
      // The runtime decompresses in the event loop, and 16 kB can become 16 MB.
      if (size >= MAX_UNINTERRUPTED_BYTES) {
        size = 0;
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      const { done, value } = await read.next();
      if (done === true) return null;
      size += value.length;
      return new Uint8Array(value);
    },
    cancel() {
      unpacker.destroy();
      return Promise.resolve();
    },
  };
}
