import type { HttpResponse } from "../core/stream/reply.ts";
import { BoundedStore, type Limits } from "./bounded_store.ts";
import type { CachedResponses } from "./cached_responses.ts";

/** Cache settings, named as in the configuration. Durations are in milliseconds. */
export interface CacheSettings {
  readonly enabled: boolean;
  readonly ttl: number;
  /** Maximum number of entries in memory. */
  readonly max_size: number;
  /** Maximum bytes of one entry, including its key. */
  readonly max_entry_bytes: number;
  /** Maximum bytes of all entries in memory, including their keys. */
  readonly max_bytes: number;
  /** True if each client key has separate entries. */
  readonly per_key: boolean;
  /** True if the entries are in the state store. */
  readonly shared: boolean;
}

/** Cached responses in the memory of the process, which are returned without a promise. */
export interface ResponseCache extends CachedResponses {
  readonly entries: number;
  readonly bytes: number;
  get(key: string): HttpResponse | null;
  /** Stores a response for the lifetime of the current settings, if it fits. */
  set(key: string, response: HttpResponse): void;
  /** Applies cache settings: any change empties the cache, equal settings have no effect. */
  apply(previous: CacheSettings, next: CacheSettings): void;
}

/**
 * Returns an empty cache; a disabled cache stores nothing. `now` returns milliseconds that never go
 * back.
 */
export function newResponseCache(settings: CacheSettings, now: () => number): ResponseCache {
  const store = new BoundedStore<HttpResponse>(limitsOf(settings), now);
  return {
    get entries() {
      return store.entries;
    },
    get bytes() {
      return store.bytes;
    },
    get: (key) => store.get(key) ?? null,
    set: (key, response) => void store.set(key, response, entryBytes(key, response)),
    apply(previous, next) {
      if (!isSame(previous, next)) store.reset(limitsOf(next));
    },
  };
}

/** Returns the size of a cached response with its key in bytes. */
export function entryBytes(key: string, { headers, body }: HttpResponse): number {
  return key.length + JSON.stringify(headers).length + body.byteLength;
}

function isSame(previous: CacheSettings, next: CacheSettings): boolean {
  return previous.enabled === next.enabled && previous.ttl === next.ttl &&
    previous.max_size === next.max_size && previous.max_bytes === next.max_bytes &&
    previous.max_entry_bytes === next.max_entry_bytes && previous.per_key === next.per_key &&
    previous.shared === next.shared;
}

function limitsOf(settings: CacheSettings): Limits {
  const { enabled, ttl, max_size, max_bytes: bytes, max_entry_bytes: entryBytes } = settings;
  // A call that began before the cache was disabled may still store its response.
  return { ttl, entries: enabled ? max_size : 0, bytes, entryBytes };
}
