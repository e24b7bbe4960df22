/** Model list of a provider. */
export interface Catalog {
  readonly models: readonly string[];
  /** Time of the fetch, in seconds since 1970. */
  readonly created: number;
}

/** Cache of fetched model lists. Concurrent requests for a list share one fetch. */
export interface Catalogs {
  /**
   * Returns the list of a provider, fetched if it is older than `ttl` milliseconds, or was fetched
   * with other `settings`; null if the fetch fails. A failure is cached for a while, so that a
   * provider that is down is not called with every request.
   */
  get(
    provider: { readonly id: string; readonly settings: string },
    ttl: number,
    fetch: () => Promise<Catalog | null>,
  ): Promise<Catalog | null>;
}

/** Time before a failed fetch is retried. */
const FAILURE_TTL_MS = 30_000;

/**
 * Maximum number of lists, above which the oldest is removed: lists of removed providers are not
 * deleted otherwise.
 */
const MAX_CATALOGS = 1_000;

/**
 * Maximum characters of all lists together, above which the oldest ones are removed, and those as
 * which a name counts besides its own.
 */
const MAX_CHARS = 16 * 1024 * 1024, NAME_CHARS = 16;

interface Entry {
  readonly settings: string;
  readonly until: number;
  readonly catalog: Promise<Catalog | null>;
  /** Characters of the list; 0 until it is there. */
  readonly chars: number;
}

/**
 * Returns an empty cache with one list of each provider. `now` returns milliseconds that never go
 * back.
 */
export function newCatalogs(now: () => number): Catalogs {
  const entries = new Map<string, Entry>();
  let allChars = 0;

  function remove(id: string) {
    allChars -= entries.get(id)?.chars ?? 0;
    entries.delete(id);
  }

  function store(id: string, entry: Entry) {
    remove(id);
    for (const oldest of entries.keys()) {
      if (entries.size < MAX_CATALOGS && allChars + entry.chars <= MAX_CHARS) break;
      remove(oldest);
    }
    entries.set(id, entry);
    allChars += entry.chars;
  }

  return {
    async get({ id, settings }, ttl, fetch) {
      const known = entries.get(id);
      const isKnown = known?.settings === settings && now() < known.until;
      if (known !== undefined && isKnown) return await known.catalog;
      // Concurrent requests wait for this fetch.
      const flight = fetch();
      const fetching = { settings, until: Infinity, catalog: flight, chars: 0 };
      store(id, fetching);
      const catalog = await flight;
      // A list that was fetched with newer settings in the meantime stays.
      if (entries.get(id) === fetching) {
        const until = now() + (catalog === null ? FAILURE_TTL_MS : ttl);
        const chars = catalog?.models.reduce((sum, model) => sum + model.length + NAME_CHARS, 0) ??
          0;
        store(id, { settings, until, catalog: flight, chars });
      }
      return catalog;
    },
  };
}
