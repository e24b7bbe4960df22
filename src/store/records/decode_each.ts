import { allOf, type Result, success } from "../../core/failure/result.ts";
import type { World } from "../../core/world.ts";

/** Bytes of records that are decoded in one piece; a larger record is one piece too. */
const MAX_PIECE_BYTES = 512 * 1024;

/** Pause after a piece of a large object, as a multiple of the time that the piece has taken. */
const PAUSE_RATIO = 2;

/**
 * Decodes the records of an object. More than `MAX_PIECE_BYTES` are decoded in pieces, of which
 * only one of all objects is in work at a time, with pauses for other work. Returns the first
 * failure.
 */
export type DecodeEach = <Record, Value>(
  records: readonly Record[],
  bytesOf: (record: Record) => number,
  decode: (record: Record, index: number) => Result<Value> | Promise<Result<Value>>,
) => Promise<Result<readonly Value[]>>;

/** Returns the decoding of the objects of one store, with pauses by this clock. */
export function newDecodeEach(world: Pick<World, "now" | "after">): DecodeEach {
  // The end of the last piece: resolves with the time at which its pause is over.
  let lane: Promise<number> = Promise.resolve(0);

  /** Runs a task when the pieces before it and their pauses are over. */
  async function inLane<Value>(run: () => Promise<Value>): Promise<Value> {
    const before = lane;
    const { promise, resolve } = Promise.withResolvers<number>();
    lane = promise;
    const pauseMs = await before - world.now();
    if (pauseMs > 0) await new Promise<void>((over) => void world.after(pauseMs, over));
    const began = world.now();
    try {
      return await run();
    } finally {
      const now = world.now();
      resolve(now + PAUSE_RATIO * (now - began));
    }
  }

  async function decodeEach<Record, Value>(
    records: readonly Record[],
    bytesOf: (record: Record) => number,
    decode: (record: Record, index: number) => Result<Value> | Promise<Result<Value>>,
  ): Promise<Result<readonly Value[]>> {
    const { ends, bytes } = piecesOf(records, bytesOf);
    const values: Value[] = [];
    const decodePiece = async (end: number) => {
      const begin = values.length;
      const piece = records.slice(begin, end).map((record, at) => decode(record, begin + at));
      return allOf(await Promise.all(piece));
    };
    for (const end of ends) {
      const piece = bytes < MAX_PIECE_BYTES
        ? await decodePiece(end)
        : await inLane(() => decodePiece(end));
      if (!piece.ok) return piece;
      for (const value of piece.value) values.push(value);
    }
    return success(values);
  }

  return decodeEach;
}

/** Returns the indices after the last record of each piece, and the bytes of all. */
function piecesOf<Record>(
  records: readonly Record[],
  bytesOf: (record: Record) => number,
): { readonly ends: readonly number[]; readonly bytes: number } {
  const ends: number[] = [];
  let all = 0;
  let bytes = 0;
  for (const [index, record] of records.entries()) {
    const size = bytesOf(record);
    all += size;
    bytes += size;
    if (bytes < MAX_PIECE_BYTES && index < records.length - 1) continue;
    ends.push(index + 1);
    bytes = 0;
  }
  return { ends, bytes: all };
}
