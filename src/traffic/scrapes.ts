/**
 * Parts of the response memory that the metrics of one client and of all may hold: they need no key
 * and no place.
 */
const MAX_CLIENT_PART = 1 / 32, MAX_TOTAL_PART = 1 / 4;

interface Scrape {
  readonly client: string;
  readonly bytes: number;
}

/** Counts the metrics that clients have not taken yet. `maxMemory` is that of all responses. */
export function newScrapes(maxMemory: number) {
  const scrapes = new Map<string, Scrape>();

  function mayAdd(bytes: number, maxBytes: number, held: Iterable<Scrape>): boolean {
    let sum = 0;
    for (const one of held) sum += one.bytes;
    return sum === 0 || sum + bytes <= maxBytes;
  }

  return {
    /**
     * Adds the metrics of a call until `remove`. Returns false, and adds nothing, if those of its
     * client or all together would hold more than their part of the response memory. The only ones
     * may have any size.
     */
    add(id: string, scrape: Scrape): boolean {
      const all = scrapes.values();
      const own = all.filter(({ client }) => client === scrape.client);
      const isFree = mayAdd(scrape.bytes, maxMemory * MAX_CLIENT_PART, own) &&
        mayAdd(scrape.bytes, maxMemory * MAX_TOTAL_PART, scrapes.values());
      if (isFree) scrapes.set(id, scrape);
      return isFree;
    },
    remove: (id: string): void => void scrapes.delete(id),
  };
}
