/** Number of items from which the steps of work on them are separate turns of the event loop. */
const MANY_ITEM_COUNT = 500;

/**
 * Returns a promise of the next turn of the event loop, for the next step of work on this many
 * items; null if they are few, because an await would cost every call.
 */
export function turnBefore(items: number): Promise<void> | null {
  if (items < MANY_ITEM_COUNT) return null;
  return new Promise((go) => void setTimeout(go, 0));
}
