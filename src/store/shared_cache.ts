import type { Cancellation } from "../core/cancellation.ts";
import type { HttpResponse } from "../core/stream/reply.ts";
import type { World } from "../core/world.ts";
import { type LoopTurns, NO_TURNS, turnForText } from "../traffic/loop_turns.ts";
import type { CachedResponses } from "./cached_responses.ts";
import { entryBytes } from "./response_cache.ts";

/** Time after which a lookup in the state store is a miss. */
const MAX_LOOKUP_MS = 500;

/** Maximum number of keys whose lookups the store has not ended; a further one is a miss. */
const MAX_LOOKUPS = 1_000;

/** Maximum bytes of responses on their way into the store; a further response is not cached. */
const MAX_WRITING_BYTES = 64 * 1024 * 1024;

/** Bytes from which a response is stored alone. */
const MIN_LARGE_BYTES = 256 * 1024;

/** The call that looks up a response. */
export interface CacheUser {
  readonly cancellation: Cancellation;
  readonly world: Pick<World, "after">;
}

/** Cached responses in a state store that may be slow or unavailable. */
export interface SharedCache {
  /** Returns the response; null for a miss, also if the store is slow or the call is cancelled. */
  get(key: string, user: CacheUser): Promise<HttpResponse | null>;
  /**
   * Begins to store a response; no call waits for the end. `ttlMs` is the lifetime of the response.
   */
  set(key: string, response: HttpResponse, ttlMs: number): void;
}

/**
 * Returns a cache over the cached responses of a state store. While the store is known to be
 * unavailable, `isUp` returns false, and it is not queried.
 */
export function newSharedCache(
  stored: CachedResponses,
  isUp: () => boolean,
  turns: LoopTurns = NO_TURNS,
): SharedCache {
  // One lookup for all calls that wait for a key: a small request must not cost a large response
  // each time, of which only the client's bytes count.
  const lookups = new Map<string, Promise<HttpResponse | null>>();
  let writingBytes = 0;
  // One large response after the other: each is in memory several times until the store has it.
  let lastLarge: Promise<void> = Promise.resolve();

  async function read(key: string): Promise<HttpResponse | null> {
    try {
      return await stored.get(key, (bytes) => turnForText(turns, bytes));
    } catch {
      return null;
    }
  }

  async function write(key: string, response: HttpResponse, ttlMs: number) {
    const bytes = entryBytes(key, response);
    if (writingBytes + bytes > MAX_WRITING_BYTES) return;
    writingBytes += bytes;
    const store = () => stored.set(key, response, ttlMs);
    try {
      await (bytes < MIN_LARGE_BYTES ? store() : inOrder(bytes, store));
    } catch {
      // A response that cannot be stored is not cached.
    } finally {
      writingBytes -= bytes;
    }
  }

  function inOrder(bytes: number, store: () => void | Promise<void>): Promise<void> {
    const storing = lastLarge.then(() => turnForText(turns, bytes)).then(store);
    lastLarge = storing.catch(() => {});
    return storing;
  }

  async function inTurn(
    response: HttpResponse | null,
    { cancellation }: CacheUser,
  ): Promise<HttpResponse | null> {
    await turns.next("start", cancellation);
    return cancellation.isCancelled ? null : response;
  }

  return {
    get(key, user) {
      const known = lookups.get(key);
      if (!isUp() || (known === undefined && lookups.size >= MAX_LOOKUPS)) {
        return Promise.resolve(null);
      }
      // All that wait for one lookup would send its response in the same turn of the event loop.
      if (known !== undefined) {
        return withinTime(known, user).then((response) => inTurn(response, user));
      }
      const looking = read(key).finally(() => lookups.delete(key));
      lookups.set(key, looking);
      return withinTime(looking, user);
    },
    set(key, response, ttlMs) {
      if (isUp()) void write(key, response, ttlMs);
    },
  };
}

/**
 * Returns the response of a lookup, or null if the call is cancelled or the time is over before.
 */
function withinTime(
  looking: Promise<HttpResponse | null>,
  { world, cancellation }: CacheUser,
): Promise<HttpResponse | null> {
  return new Promise((resolve) => {
    let unsubscribe = () => {};
    const end = (response: HttpResponse | null) => {
      stop();
      unsubscribe();
      resolve(response);
    };
    const stop = world.after(MAX_LOOKUP_MS, () => end(null));
    unsubscribe = cancellation.onCancel(() => end(null));
    void looking.then(end);
  });
}
