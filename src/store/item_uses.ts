/**
 * Maximum number of uses that one lookup of items returns, apart from one for each ID: clients
 * choose the IDs of their items, and each of their responses may have all of them.
 */
const MAX_ITEM_USES = 20_000;

/**
 * Returns how many uses of each item a lookup of this many IDs examines, the youngest ones. A
 * lookup of a few IDs examines as many as there are objects, by default.
 */
export function usesPerItem(ids: number): number {
  return Math.max(1, Math.floor(MAX_ITEM_USES / Math.max(1, ids)));
}
