import { createHash } from "node:crypto";

/** Bits of a digest that a double holds exactly. */
const EXACT_BITS = 52n;

/** An item with its weight, which must be above 0. */
interface Weighted {
  readonly weight: number;
}

/**
 * Returns the item that serves a key by weighted rendezvous hashing; undefined without items. The
 * same key and items give the same item in every process. Without an item only its own keys change,
 * and each item serves a share of the keys by its weight.
 */
export function pickRendezvous<T extends Weighted>(
  key: string,
  nameOf: (item: T) => string,
  items: readonly T[],
): T | undefined {
  let best: { readonly item: T; readonly score: number } | undefined;
  for (const item of items) {
    const score = scoreOf(key, nameOf(item), item);
    if (best === undefined || score < best.score) best = { item, score };
  }
  return best?.item;
}

/** Returns the items in the order in which they serve a key if each is gone after it. */
export function orderRendezvous<T extends Weighted>(
  key: string,
  nameOf: (item: T) => string,
  items: readonly T[],
): readonly T[] {
  const scored = items.map((item) => ({ item, score: scoreOf(key, nameOf(item), item) }));
  return scored.toSorted((one, other) => one.score - other.score).map(({ item }) => item);
}

/** Returns the score of an item for a key; the least one serves it. */
function scoreOf(key: string, name: string, { weight }: Weighted): number {
  return -Math.log(hashFraction(key, name)) / weight;
}

/** Returns a number above 0 and below 1 that follows from both texts, uniform over all keys. */
function hashFraction(key: string, name: string): number {
  const digest = createHash("sha256").update(JSON.stringify([key, name])).digest();
  const bits = digest.readBigUInt64BE() >> (64n - EXACT_BITS);
  return (Number(bits) + 0.5) / 2 ** Number(EXACT_BITS);
}
