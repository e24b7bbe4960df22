import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads a body piece by piece; every failure is thrown. */
export interface RawReader {
  /** The next bytes; null at the end. May use the buffer of the read before again. */
  next(used: ArrayBuffer | undefined): Promise<Bytes | null>;
  cancel(): Promise<void>;
}

/** Content codings in lower case; `x-gzip` is an old name (RFC 9110, section 8.4.1). */
const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/**
 * The body without its content coding, where it has a usual one: nobody asked for it, but some
 * upstreams compress all the same. A body that breaks off fails. One without any bytes is empty.
 */
export function unpacked(packed: RawReader, coding: string | null): RawReader {
  const unpacker = UNPACKERS.get(coding?.trim().toLowerCase() ?? "");
  if (unpacker === undefined) return packed;
  let reader: RawReader | null = null;
  return {
    async next() {
      if (reader === null) {
        const first = await packed.next(undefined);
        if (first === null) return null;
        reader = through(unpacker(), pieces(first.slice(), packed));
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
    // Its buffer is used again.
    yield piece.slice();
  }
}

function through(unpacker: Transform, packed: AsyncIterable<Bytes>): RawReader {
  // What goes wrong on either side comes out where the unpacked bytes are read.
  pipeline(Readable.from(packed, { objectMode: false }), unpacker, () => {});
  const read = unpacker[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await read.next();
      return done === true ? null : new Uint8Array(value);
    },
    cancel() {
      unpacker.destroy();
      return Promise.resolve();
    },
  };
}
