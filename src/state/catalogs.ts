/** Model list of a provider. */
export interface Catalog {
  readonly models: readonly string[];
  /** Time of the fetch, in seconds since 1970. */
  readonly created: number;
}

/** Cache of fetched model lists. Concurrent requests for a list share one fetch. */
export interface Catalogs {
  /**
   * Returns the list of a key, fetched if it is older than `ttl` milliseconds; null if the fetch
   * fails. A failure is cached for a while, so that a provider that is down is not called with
   * every request.
   */
  get(key: string, ttl: number, fetch: () => Promise<Catalog | null>): Promise<Catalog | null>;
}

/** Time before a failed fetch is retried. */
const FAILURE_TTL_MS = 30_000;

/**
 * Maximum number of lists, above which the oldest is removed: lists of removed providers are not
 * deleted otherwise.
 */
const MAX_CATALOGS = 1_000;

interface Entry {
  readonly until: number;
  readonly catalog: Promise<Catalog | null>;
}

/** Returns an empty cache. `now` returns milliseconds that never go back. */
export function newCatalogs(now: () => number): Catalogs {
  const entries = new Map<string, Entry>();

  function keep(key: string, entry: Entry) {
    entries.delete(key);
    const [oldest] = entries.size >= MAX_CATALOGS ? entries.keys() : [];
    if (oldest !== undefined) entries.delete(oldest);
    entries.set(key, entry);
  }

  return {
    async get(key, ttl, fetch) {
      const known = entries.get(key);
      if (known !== undefined && now() < known.until) return await known.catalog;
      // Concurrent requests wait for this fetch.
      const flight = fetch();
      keep(key, { until: Infinity, catalog: flight });
      const catalog = await flight;
      keep(key, { until: now() + (catalog === null ? FAILURE_TTL_MS : ttl), catalog: flight });
      return catalog;
    },
  };
}
