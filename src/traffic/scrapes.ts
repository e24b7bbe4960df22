import { heldByBusiest } from "./busiest.ts";

/**
 * Parts of the response memory that the metrics of one client and of all may hold: they need no key
 * and no place.
 */
const MAX_CLIENT_PART = 1 / 32, MAX_TOTAL_PART = 1 / 4;

/** A response of metrics that its client has not taken. */
export interface Scrape {
  /** ID of its call. */
  readonly id: string;
  readonly client: string;
  readonly bytes: number;
  /** Breaks the response off. */
  end(): void;
}

/** Counts the metrics that clients have not taken yet. `maxMemory` is that of all responses. */
export function newScrapes(maxMemory: number) {
  const maxClientBytes = maxMemory * MAX_CLIENT_PART, maxTotalBytes = maxMemory * MAX_TOTAL_PART;
  /** The oldest first. */
  const scrapes = new Map<string, Scrape>();

  function endOldest(newcomer: Scrape) {
    const held = [...scrapes.values()];
    const [oldest] = heldByBusiest(held, newcomer, maxTotalBytes, ({ bytes }) => bytes);
    if (oldest === undefined) return;
    scrapes.delete(oldest.id);
    oldest.end();
  }

  return {
    /**
     * Adds the metrics of a call until `remove`. Returns false, and adds nothing, if those of its
     * client would hold more than their part of the response memory. While all together would, the
     * oldest of the client with most are ended. The only ones may have any size.
     */
    add(scrape: Scrape): boolean {
      const { id, client, bytes } = scrape;
      const ownBytes = sumOf(scrapes.values().filter((one) => one.client === client));
      if (ownBytes > 0 && ownBytes + bytes > maxClientBytes) return false;
      while (scrapes.size > 0 && sumOf(scrapes.values()) + bytes > maxTotalBytes) endOldest(scrape);
      scrapes.set(id, scrape);
      return true;
    },
    remove: (id: string): void => void scrapes.delete(id),
  };
}

function sumOf(scrapes: Iterable<Scrape>): number {
  let sum = 0;
  for (const { bytes } of scrapes) sum += bytes;
  return sum;
}
