import type { Catalog } from "./catalog.ts";

/** Fetched model lists; however many ask, each is fetched once at a time. */
export interface Catalogs {
  /**
   * The list under this key, fetched when it is older than `ttl` milliseconds; null when it cannot be
   * had. A failure is remembered for a while, so that a dead provider is not asked at every call.
   */
  get(key: string, ttl: number, fetch: () => Promise<Catalog | null>): Promise<Catalog | null>;
}

/** A failed fetch is not repeated for this many milliseconds. */
const FAILURE_TTL_MS = 30_000;

/** Lists of providers that are no longer configured fall out when there are more than this. */
const MAX_CATALOGS = 1_000;

interface Entry {
  readonly until: number;
  readonly catalog: Promise<Catalog | null>;
}

/** No lists yet. `now` gives milliseconds that never go back. */
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
      // Until it is there, everybody waits for this one flight.
      const flight = fetch();
      keep(key, { until: Infinity, catalog: flight });
      const catalog = await flight;
      keep(key, { until: now() + (catalog === null ? FAILURE_TTL_MS : ttl), catalog: flight });
      return catalog;
    },
  };
}
