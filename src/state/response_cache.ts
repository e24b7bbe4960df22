import type { HttpResponse } from "../core/reply.ts";
import { BoundedStore, type Limits } from "./bounded_store.ts";

/** Cache settings, named as in the configuration. Durations are in milliseconds. */
export interface CacheSettings {
  readonly enabled: boolean;
  readonly ttl: number;
  /** Maximum number of entries. */
  readonly max_size: number;
  /** Maximum bytes of one entry, including its key. */
  readonly max_entry_bytes: number;
  /** Maximum bytes of all entries, including their keys. */
  readonly max_bytes: number;
  /** True if each client key has separate entries. */
  readonly per_key: boolean;
}

/** Cached responses by cache key. */
export type ResponseCache = BoundedStore<HttpResponse>;

/**
 * Returns an empty cache; a disabled cache stores nothing. `now` returns milliseconds that never go
 * back.
 */
export function newResponseCache(settings: CacheSettings, now: () => number): ResponseCache {
  return new BoundedStore(limitsOf(settings), now);
}

/** Applies cache settings: any change empties the cache, equal settings have no effect. */
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
  // A call that began before the cache was disabled may still store its response.
  return { ttl, entries: enabled ? max_size : 0, bytes, entryBytes };
}
