import type { JsonObject } from "../core/json/json.ts";
import { refuse } from "../core/result.ts";
import type { Creator } from "./bindings.ts";
import { heldBytes, MAX_STATE_BYTES } from "./retention.ts";

/** A conversation holds at most so many items. */
export const MAX_CONVERSATION_ITEMS = 1_000;

/** Text values that a client attaches to a conversation. */
export type Metadata = Readonly<Record<string, string>>;

/** A conversation that is to be stored. */
export interface NewConversation {
  readonly id: string;
  readonly creator: Creator;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly metadata: Metadata;
  /** Oldest first; every item has an id of its own. */
  readonly items: readonly JsonObject[];
}

/** A conversation that the gateway stores itself. A change makes a new one. */
export interface Conversation extends NewConversation {
  /** Bytes that count against `STATE_BYTES`. */
  readonly bytes: number;
}

/** There is no such conversation; `param` is what the client named it with. */
export function unknownConversation(param: "conversation" | "conversation_id") {
  return refuse(
    "conversation_not_found",
    "There is no such conversation; it may have been deleted or have been unused for too long.",
    param,
  );
}

/** There is no such item in the conversation. */
export function unknownItem() {
  return refuse(
    "conversation_item_not_found",
    "There is no such item in the conversation.",
    "item_id",
  );
}

/** Why items cannot be added to those that are there, as a refusal; null when they can. */
export function refuseAddedItems(
  present: readonly JsonObject[],
  added: readonly JsonObject[],
  param: "items" | "input" = "items",
) {
  if (present.length + added.length > MAX_CONVERSATION_ITEMS) return fullConversation();
  const ids = new Set(present.map(({ id }) => id));
  for (const { id } of added) {
    if (typeof id !== "string") continue;
    if (ids.has(id)) {
      return refuse(
        "duplicate_item_id",
        `The conversation has an item with the id of an added one already; leave it out.`,
        param,
      );
    }
    ids.add(id);
  }
  return null;
}

/** The conversation has no room for what would be added. */
export function fullConversation() {
  return refuse(
    "conversation_item_limit_exceeded",
    `A conversation holds at most ${MAX_CONVERSATION_ITEMS} items; delete some or begin another one.`,
  );
}

/** The conversation would be larger than everything that may be kept. */
export function largeConversation() {
  return refuse(
    "state_too_large",
    "The conversation would be larger than 64 MiB; delete some items or begin another one.",
  );
}

/** Returns whether the items can be added without making the conversation larger than may be stored. */
export function hasRoom({ bytes }: Conversation, added: readonly JsonObject[]): boolean {
  return bytes + itemBytes(added) <= MAX_STATE_BYTES;
}

/** Returns the bytes that a conversation counts for. */
export function conversationBytes({ id, metadata, items }: NewConversation): number {
  return heldBytes(id) + heldBytes({ ...metadata }) + itemBytes(items);
}

/** Returns the bytes that items count for. */
export function itemBytes(items: readonly JsonObject[]): number {
  return items.reduce((bytes, item) => bytes + heldBytes(item), 0);
}
