import { type Result, success } from "../../core/result.ts";
import { BoundedStore } from "../bounded_store.ts";
import {
  type Conversation,
  conversationBytes,
  itemBytes,
  largeConversation,
  refuseAddedItems,
  unknownConversation,
  unknownItem,
} from "../conversations.ts";
import type { ConversationItem, ConversationStore, StoreStats } from "../object_store.ts";
import { newUseCount, usesPerItem } from "../item_uses.ts";
import { heldBytes, type Retention } from "../retention.ts";

/** Conversations in memory, with their size. */
export interface MemoryConversations {
  readonly conversations: ConversationStore;
  stats(): StoreStats;
}

/** Returns a store without conversations. `now` returns milliseconds that never go back. */
export function newMemoryConversations(
  now: () => number,
  { ttlMs, maxObjects, maxBytes }: Retention,
): MemoryConversations {
  const limits = { ttl: ttlMs, entries: maxObjects, bytes: maxBytes };
  const store = new BoundedStore<Conversation>(limits, now);

  function set(conversation: Conversation): Result<Conversation> {
    return store.set(conversation.id, conversation, conversation.bytes)
      ? success(conversation)
      : largeConversation(maxBytes);
  }

  function change(
    id: string,
    changed: (conversation: Conversation) => Result<Conversation>,
  ): Promise<Result<Conversation>> {
    const conversation = store.get(id);
    if (conversation === undefined) return Promise.resolve(unknownConversation("conversation_id"));
    const next = changed(conversation);
    return Promise.resolve(next.ok ? set(next.value) : next);
  }

  const conversations: ConversationStore = {
    maxBytes,
    create(conversation) {
      const problem = refuseAddedItems([], conversation.items);
      const bytes = conversationBytes(conversation);
      return Promise.resolve(problem ?? set({ ...conversation, bytes }));
    },
    find: (id) => Promise.resolve(success(store.get(id) ?? null)),
    setMetadata: (id, metadata) =>
      change(id, (conversation) => {
        const before = heldBytes({ ...conversation.metadata });
        const bytes = conversation.bytes - before + heldBytes({ ...metadata });
        return success({ ...conversation, metadata, bytes });
      }),
    append: (id, items) =>
      change(id, (conversation) => {
        const problem = refuseAddedItems(conversation.items, items);
        return problem ?? success({
          ...conversation,
          items: [...conversation.items, ...items],
          bytes: conversation.bytes + itemBytes(items),
        });
      }),
    removeItem: (id, item) =>
      change(id, (conversation) => {
        const items = conversation.items.filter((one) => one.id !== item);
        const removed = conversation.items.filter((one) => one.id === item);
        if (removed.length === 0) return unknownItem();
        return success({ ...conversation, items, bytes: conversation.bytes - itemBytes(removed) });
      }),
    delete: (id) => Promise.resolve(success(store.delete(id))),
    findItems(ids) {
      const isExamined = newUseCount(usesPerItem(ids.size));
      const found = store.values().toReversed().flatMap((conversation) =>
        itemsOf(conversation, ids).filter(({ id }) => isExamined(id)).toReversed()
      );
      return Promise.resolve(success(found.toReversed()));
    },
  };
  return { conversations, stats: () => ({ entries: store.entries, bytes: store.bytes }) };
}

/** Returns the items with these IDs. IDs are unique in a conversation. */
function itemsOf(
  { items, creator }: Conversation,
  ids: ReadonlySet<string>,
): readonly ConversationItem[] {
  const found: ConversationItem[] = [];
  for (const item of items) {
    if (typeof item.id === "string" && ids.has(item.id)) found.push({ id: item.id, item, creator });
  }
  return found;
}
