import type { Awaitable } from "../core/failure/result.ts";
import type { Hit, ScanRequest, ScanResult } from "./record_file.ts";

/** Number of hits of a list without its own, and the maximum for hits without their content. */
export const DEFAULT_LIMIT_RECORDS = 20, MAX_LIMIT_RECORDS = 1_000;

/** Returns a written limit or position; `usual` for an absent one, undefined for another text. */
export function parseNumber<Usual>(
  written: string | undefined,
  usual: Usual,
): number | Usual | undefined {
  if (written === undefined) return usual;
  return /^\d{1,15}$/.test(written) ? Number(written) : undefined;
}

/** The last of what a search finds: how many records it has passed by unopened. */
export interface Closed {
  readonly closed: number;
}

/**
 * Yields the found records, the newest first, as they are found; then how many were passed by
 * because they cannot be opened, if any, or null if the file cannot be read. It reads only as far
 * as its hits are taken, and ends once `isLeft` is true, also while it finds nothing.
 */
export async function* searchRecords(
  scan: (request: ScanRequest) => Awaitable<ScanResult | null>,
  { filter, limit, before, withContent }: ScanRequest,
  isLeft: () => boolean = () => false,
): AsyncGenerator<Hit | Closed | null, void, void> {
  let closed = 0;
  for (let left = limit, next = before; left > 0 && !isLeft();) {
    const result = await scan({ filter, before: next, limit: left, withContent });
    if (result === null) return yield null;
    yield* result.hits;
    closed += result.closed;
    if (result.next === null) break;
    next = result.next;
    left -= result.hits.length;
  }
  if (closed > 0) yield { closed };
}
