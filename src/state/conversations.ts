import type { JsonObject } from "../core/json.ts";
import { refuse, type Result, success } from "../core/result.ts";
import type { Creator } from "./bindings.ts";
import { BoundedStore } from "./bounded_store.ts";
import { heldBytes, MOST_OBJECTS, STATE_BYTES, STATE_TTL } from "./retention.ts";

/** A conversation holds at most so many items. */
export const MOST_ITEMS = 1_000;

/** A conversation that the gateway keeps itself. A change makes a new one. */
export interface Conversation {
  readonly id: string;
  readonly creator: Creator;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** Oldest first; every item has an id of its own. */
  readonly items: readonly JsonObject[];
}

/** Kept conversations by id. Each lives on from its last change; a refused change changes nothing. */
export interface Conversations {
  get(id: string): Conversation | undefined;
  /** Keeps a new conversation, or one whose metadata have changed. */
  put(conversation: Conversation): Result<Conversation>;
  /** All items or none: refused when an id is there already or there would be too many items. */
  append(id: string, items: readonly JsonObject[]): Result<Conversation>;
  /** False when the items would make the conversation larger than may be kept. */
  hasRoom(id: string, items: readonly JsonObject[]): boolean;
  removeItem(id: string, item: string): Result<Conversation>;
  delete(id: string): boolean;
  /** Those that are still good, oldest change first. */
  values(): readonly Conversation[];
  readonly entries: number;
  readonly bytes: number;
}

interface Kept {
  readonly conversation: Conversation;
  readonly bytes: number;
}

/** No conversations yet. `now` gives milliseconds that never go back. */
export function newConversations(now: () => number): Conversations {
  const limits = { ttl: STATE_TTL, entries: MOST_OBJECTS, bytes: STATE_BYTES };
  const store = new BoundedStore<Kept>(limits, now);

  function keep(conversation: Conversation, bytes: number): Result<Conversation> {
    return store.set(conversation.id, { conversation, bytes }, bytes)
      ? success(conversation)
      : largeConversation();
  }

  return {
    get: (id) => store.get(id)?.conversation,
    put(conversation) {
      const problem = addedProblem([], conversation.items);
      return problem ?? keep(conversation, sizeOf(conversation));
    },
    append(id, items) {
      const kept = store.get(id);
      if (kept === undefined) return unknownConversation("conversation_id");
      const { conversation, bytes } = kept;
      const problem = addedProblem(conversation.items, items);
      if (problem !== null) return problem;
      const next = { ...conversation, items: [...conversation.items, ...items] };
      return keep(next, bytes + bytesOf(items));
    },
    hasRoom(id, items) {
      const kept = store.get(id);
      return kept === undefined || kept.bytes + bytesOf(items) <= limits.bytes;
    },
    removeItem(id, item) {
      const kept = store.get(id);
      if (kept === undefined) return unknownConversation("conversation_id");
      const { conversation, bytes } = kept;
      const removed = conversation.items.filter((one) => one.id === item);
      if (removed.length === 0) return unknownItem();
      const items = conversation.items.filter((one) => one.id !== item);
      return keep({ ...conversation, items }, bytes - bytesOf(removed));
    },
    delete: (id) => store.delete(id),
    values: () => store.values().map(({ conversation }) => conversation),
    get entries() {
      return store.entries;
    },
    get bytes() {
      return store.bytes;
    },
  };
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
export function addedProblem(
  present: readonly JsonObject[],
  added: readonly JsonObject[],
  param: "items" | "input" = "items",
) {
  if (present.length + added.length > MOST_ITEMS) return fullConversation();
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
    `A conversation holds at most ${MOST_ITEMS} items; delete some or begin another one.`,
  );
}

/** The conversation would be larger than everything that may be kept. */
export function largeConversation() {
  return refuse(
    "state_too_large",
    "The conversation would be larger than 64 MiB; delete some items or begin another one.",
  );
}

function sizeOf({ id, metadata, items }: Conversation): number {
  return heldBytes(id) + heldBytes({ ...metadata }) + bytesOf(items);
}

function bytesOf(items: readonly JsonObject[]): number {
  return items.reduce((bytes, item) => bytes + heldBytes(item), 0);
}
