import { getHeapStatistics } from "node:v8";

/**
 * Share of the old generation from which it is nearly full. V8 ends the process when all of it is
 * in use, and collections of one that is fuller stop calls for a second (measured at 0.75). Garbage
 * counts until it is collected, which is at the latest half way from what was in use to all of it:
 * with less than 0.3 in use garbage alone is not this much.
 */
const MAX_OLD_SHARE = 0.65;

/** Bytes of the young generation, which the limit of V8 includes: three semispaces of 32 MiB. */
const YOUNG_BYTES = 96 * 1024 * 1024;

/** True while the heap of this process is nearly full. Takes a microsecond. */
export function isHeapFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > MAX_OLD_SHARE * (limit - YOUNG_BYTES);
}
