import type { HttpResponse } from "../core/reply.ts";
import { BoundedStore, type Limits } from "./bounded_store.ts";

/** How the answers of providers are cached. Ages in milliseconds. */
export interface CacheSettings {
  readonly enabled: boolean;
  readonly ttl: number;
  /** The most entries. */
  readonly max_size: number;
  /** Of one entry, its key included. */
  readonly max_entry_bytes: number;
  /** Of all entries together, keys included. */
  readonly max_bytes: number;
  /** Whether clients have entries apart from each other. */
  readonly per_key: boolean;
}

/** Answers by the digest of what they answer. */
export type ResponseCache = BoundedStore<HttpResponse>;

/** An empty cache; one that is off takes nothing. `now` gives milliseconds that never go back. */
export function newResponseCache(settings: CacheSettings, now: () => number): ResponseCache {
  return new BoundedStore(limitsOf(settings), now);
}

/** Makes the cache obey other settings: any change empties it, equal ones leave it as it is. */
export function applyCaching(
  cache: ResponseCache,
  previous: CacheSettings,
  next: CacheSettings,
): void {
  const isSame = previous.enabled === next.enabled && previous.ttl === next.ttl &&
    previous.max_size === next.max_size && previous.max_bytes === next.max_bytes &&
    previous.max_entry_bytes === next.max_entry_bytes && previous.per_key === next.per_key;
  if (!isSame) cache.reset(limitsOf(next));
}

function limitsOf(settings: CacheSettings): Limits {
  const { enabled, ttl, max_size, max_bytes: bytes, max_entry_bytes: entryBytes } = settings;
  // Calls that began before the cache was switched off may still have an answer to keep.
  return { ttl, entries: enabled ? max_size : 0, bytes, entryBytes };
}
