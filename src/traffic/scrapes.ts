/** Responses of metrics that one client may leave untaken. */
const MAX_PER_CLIENT = 4;

/** Part of the response memory that metrics may hold together: they need no key and no place. */
const MAX_MEMORY_PART = 1 / 4;

interface Scrape {
  readonly client: string;
  readonly bytes: number;
}

/** Counts the metrics that clients have not taken yet. `maxMemory` is that of all responses. */
export function newScrapes(maxMemory: number) {
  const scrapes = new Map<string, Scrape>();
  let total = 0;

  return {
    /**
     * Adds the metrics of a call until `remove`. Returns false, and adds nothing, if the client has
     * four already, or all together would hold more than a quarter of the response memory, unless
     * they are the only ones.
     */
    add(id: string, scrape: Scrape): boolean {
      const own = scrapes.values().filter(({ client }) => client === scrape.client);
      const isFull = total > 0 && total + scrape.bytes > maxMemory * MAX_MEMORY_PART;
      if (isFull || [...own].length >= MAX_PER_CLIENT) return false;
      scrapes.set(id, scrape);
      total += scrape.bytes;
      return true;
    },
    remove(id: string): void {
      total -= scrapes.get(id)?.bytes ?? 0;
      scrapes.delete(id);
    },
  };
}
