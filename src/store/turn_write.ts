import { isExactId } from "../core/ids.ts";
import type { JsonObject } from "../core/json/json.ts";
import { success } from "../core/failure/result.ts";
import { unknownConversation } from "./conversations.ts";
import type { ConversationStore, Stored } from "./object_store.ts";

/** The items of a request and its response, to be added to a conversation. */
export interface Turn {
  readonly items: readonly JsonObject[];
  /** Returns the item with a new ID. */
  withNewId(item: JsonObject): JsonObject;
}

/**
 * Returns an operation that adds a turn to a conversation. An item without an ID, or with one that
 * is present already, gets a new ID: providers may repeat IDs, and concurrent requests may have
 * added items. Refuses if the conversation has been deleted or filled since the request began. The
 * operation may be repeated after a failure: a turn that was added although its write failed is not
 * added twice.
 */
export function newTurnWrite(
  id: string,
  turn: Turn,
): (conversations: ConversationStore) => Stored<void> {
  let { items } = turn;
  let isRepeated = false;
  return async (conversations) => {
    for (;;) {
      const found = await conversations.find(id);
      if (!found.ok) return found;
      if (found.value === null) return unknownConversation("conversation");
      const present = found.value.items;
      if (isRepeated && hasAll(present, items)) return success(undefined);
      items = withFreeIds(turn, items, present);
      isRepeated = true;
      const appended = await conversations.append(id, items);
      if (appended.ok) return success(undefined);
      // Between the two operations another request may have used an ID, or a client deleted the
      // conversation. Each such request has added items, so the full conversation bounds this loop.
      const { kind } = appended.failure;
      if (kind !== "duplicate_item_id" && kind !== "conversation_not_found") return appended;
    }
  };
}

function withFreeIds(
  turn: Turn,
  items: readonly JsonObject[],
  present: readonly JsonObject[],
): readonly JsonObject[] {
  const ids = new Set(present.map((item) => item.id));
  return items.map((item) => {
    const isFree = isExactId(item.id) && !ids.has(item.id);
    const own = isFree ? item : turn.withNewId(item);
    ids.add(own.id);
    return own;
  });
}

/**
 * True if the conversation has these items with the same content. A turn is added as a whole or not
 * at all.
 */
function hasAll(present: readonly JsonObject[], items: readonly JsonObject[]): boolean {
  const texts = new Map(present.map((item) => [item.id, item]));
  return items.every((item) => JSON.stringify(texts.get(item.id)) === JSON.stringify(item));
}
