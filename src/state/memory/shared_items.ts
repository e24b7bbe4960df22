import type { JsonObject } from "../../core/json/json.ts";
import { heldBytes } from "../retention.ts";

/** Items that several stored responses hold. The bytes of each item object are counted once. */
export interface SharedItems {
  /** Bytes of all items that are held. */
  readonly bytes: number;
  /** Returns the bytes of held items; an item object that the list has twice counts once. */
  bytesOf(items: readonly JsonObject[]): number;
  /** Adds one holder to each item. */
  hold(items: readonly JsonObject[]): void;
  /** Removes one holder from each item. An item without a holder counts no longer. */
  release(items: readonly JsonObject[]): void;
}

interface Held {
  readonly bytes: number;
  holders: number;
}

/**
 * Returns the items of a store that is empty. An item is identified by its object: the history of a
 * dialogue consists of the objects that its earlier responses are stored with.
 */
export function newSharedItems(): SharedItems {
  const held = new Map<JsonObject, Held>();
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    bytesOf(items) {
      let sum = 0;
      for (const item of new Set(items)) sum += held.get(item)?.bytes ?? 0;
      return sum;
    },
    hold(items) {
      for (const item of items) {
        const known = held.get(item);
        if (known !== undefined) known.holders++;
        else {
          const added = { bytes: heldBytes(item), holders: 1 };
          held.set(item, added);
          bytes += added.bytes;
        }
      }
    },
    release(items) {
      for (const item of items) {
        const known = held.get(item);
        if (known === undefined) continue;
        known.holders--;
        if (known.holders > 0) continue;
        held.delete(item);
        bytes -= known.bytes;
      }
    },
  };
}
