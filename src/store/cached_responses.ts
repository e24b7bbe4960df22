import type { HttpResponse } from "../core/stream/reply.ts";

/**
 * Storage of cached responses by cache key. It never fails: a response that cannot be read is a
 * miss, and one that cannot be written is not cached. A store in memory returns no promises.
 */
export interface CachedResponses {
  /**
   * Returns the response of a key; null for a miss. A store outside the process awaits `turn`, with
   * the number of bytes, before it decodes them.
   */
  get(
    key: string,
    turn?: (bytes: number) => Promise<void> | null,
  ): HttpResponse | null | Promise<HttpResponse | null>;
  /** Stores a response under a key; `ttlMs` is its lifetime. */
  set(key: string, response: HttpResponse, ttlMs: number): void | Promise<void>;
}
