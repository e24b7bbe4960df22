import { createHash } from "node:crypto";

/** Bits of a digest that a double holds exactly. */
const EXACT_BITS = 52n;

/**
 * Returns the item that serves a key by weighted rendezvous hashing; undefined without items. The
 * same key and items give the same item in every process. Without an item only its own keys change,
 * and each item serves a share of the keys by its weight, which must be above 0.
 */
export function pickRendezvous<T extends { readonly weight: number }>(
  key: string,
  nameOf: (item: T) => string,
  items: readonly T[],
): T | undefined {
  let best: { readonly item: T; readonly score: number } | undefined;
  for (const item of items) {
    const score = -Math.log(hashFraction(key, nameOf(item))) / item.weight;
    if (best === undefined || score < best.score) best = { item, score };
  }
  return best?.item;
}

/** Returns a number above 0 and below 1 that follows from both texts, uniform over all keys. */
function hashFraction(key: string, name: string): number {
  const digest = createHash("sha256").update(JSON.stringify([key, name])).digest();
  const bits = digest.readBigUInt64BE() >> (64n - EXACT_BITS);
  return (Number(bits) + 0.5) / 2 ** Number(EXACT_BITS);
}
