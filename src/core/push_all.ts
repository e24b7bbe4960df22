/**
 * Adds all items to the list. `list.push(...items)` passes each item as an argument, and throws a
 * RangeError when there are more than about 120,000 of them.
 */
export function pushAll<Item>(list: Item[], items: readonly Item[]): void {
  for (const item of items) list.push(item);
}
