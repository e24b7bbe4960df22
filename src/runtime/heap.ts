import { getHeapStatistics } from "node:v8";

/**
 * Share of the old generation from which it is nearly full. V8 ends the process when all of it is
 * in use. It collects garbage at the latest half way from what was in use to that, so that garbage
 * alone is not this much, and the rest is more than the largest request needs.
 */
const MAX_OLD_SHARE = 0.65;

/** Bytes of the young generation, which the limit of V8 includes: three halves of 32 MiB. */
const YOUNG_BYTES = 96 * 1024 * 1024;

/** True while the heap of this process is nearly full. Takes a microsecond. */
export function isHeapFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > MAX_OLD_SHARE * (limit - YOUNG_BYTES);
}
