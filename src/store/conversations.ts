import type { JsonObject } from "../core/json/json.ts";
import { refuse } from "../core/failure/result.ts";
import type { Creator } from "./bindings.ts";
import { heldBytes } from "./retention.ts";

/** Maximum number of items in a conversation. */
export const MAX_CONVERSATION_ITEMS = 1_000;

const MIB = 1024 * 1024;

/** Text values that a client attaches to a conversation. */
export type Metadata = Readonly<Record<string, string>>;

/** A conversation without its items. */
export interface ConversationRest {
  readonly id: string;
  readonly creator: Creator;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly metadata: Metadata;
}

/** A conversation to be stored. */
export interface NewConversation extends ConversationRest {
  /** Items, oldest first, each with a unique ID. */
  readonly items: readonly JsonObject[];
}

/** A conversation stored by the gateway. Immutable; a change creates a new object. */
export interface Conversation extends NewConversation {
  /** Size that counts against the maximum bytes of the store. */
  readonly bytes: number;
}

/**
 * Returns the refusal of a conversation that does not exist. `param` is the parameter with its ID.
 */
export function unknownConversation(param: "conversation" | "conversation_id") {
  return refuse(
    "conversation_not_found",
    "There is no such conversation; it may have been deleted or have been unused for too long.",
    param,
  );
}

/** Returns the refusal of an item that is not in the conversation. */
export function unknownItem() {
  return refuse(
    "conversation_item_not_found",
    "There is no such item in the conversation.",
    "item_id",
  );
}

/** Returns the refusal of items that cannot be added to a conversation; null if they can. */
export function refuseAddedItems(
  present: readonly JsonObject[],
  added: readonly JsonObject[],
  param: "items" | "input" = "items",
) {
  if (present.length + added.length > MAX_CONVERSATION_ITEMS) return fullConversation();
  const ids = new Set(present.map(({ id }) => id));
  for (const { id } of added) {
    if (typeof id !== "string") continue;
    if (ids.has(id)) return duplicateItem(param);
    ids.add(id);
  }
  return null;
}

/** Returns the refusal of an item whose ID is in the conversation already, or is added twice. */
export function duplicateItem(param: "items" | "input" = "items") {
  return refuse(
    "duplicate_item_id",
    "The conversation has an item with the id of an added one already; leave it out.",
    param,
  );
}

/** Returns the refusal of items above the limit of a conversation. */
export function fullConversation() {
  return refuse(
    "conversation_item_limit_exceeded",
    `A conversation holds at most ${MAX_CONVERSATION_ITEMS} items; delete some or begin another one.`,
  );
}

/** Returns the refusal of a conversation larger than the store, which holds at most `maxBytes`. */
export function largeConversation(maxBytes: number) {
  const size = sizeText(maxBytes);
  return refuse(
    "state_too_large",
    `The conversation would be larger than ${size}; delete some items or begin another one.`,
  );
}

/** Returns a size as text, in MiB if it is a whole number of them. */
function sizeText(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}

/** Bytes that stored items count besides their content, at most. */
const MAX_ADDED_BYTES = 512;

/** True if the items fit into the conversation in a store that holds at most `maxBytes`. */
export function hasRoom(
  { bytes }: Conversation,
  added: readonly JsonObject[],
  maxBytes: number,
): boolean {
  return bytes + itemBytes(added) + MAX_ADDED_BYTES <= maxBytes;
}

/** Returns the size of items in bytes of memory. */
export function itemBytes(items: readonly JsonObject[]): number {
  return items.reduce((bytes, item) => bytes + heldBytes(item), 0);
}
