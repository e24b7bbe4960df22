import type { JsonObject } from "../core/json/json.ts";
import type { OwnedReasoning } from "../core/stream/reasoning.ts";
import type { Result } from "../core/failure/result.ts";
import type { Binding, Caller, Creator, Owner } from "./bindings.ts";
import type { Conversation, ConversationRest, Metadata, NewConversation } from "./conversations.ts";
import type { Snapshot } from "./snapshots.ts";

/**
 * Result of a store operation; a failure if the operation is refused or the store is not available.
 */
export type Stored<T> = Promise<Result<T>>;

/**
 * Types of objects that have owners. `relayed_object` is a file, a batch or an upload, whose kind
 * is a part of its ID.
 */
export type BoundType = "chat_completion" | "response" | "conversation" | "relayed_object";

/** Storage of the objects that clients create. Its content may outlive the process. */
export interface ObjectStore {
  /**
   * Set if the store stores nothing: then client APIs refuse requests that need stored state, and
   * serve the rest with `store: false`.
   */
  readonly storesNothing?: true;
  readonly responses: ResponseStore;
  /** Conversations that the gateway stores itself. */
  readonly conversations: ConversationStore;
  /** Owners of the objects that only an upstream stores. */
  readonly owners: Readonly<Record<Exclude<BoundType, "response">, OwnerStore>>;
  /** Signed or encrypted reasoning of responses with tool calls. */
  readonly reasoning: ReasoningStore;
  /** Returns the sizes for the metrics synchronously, as known to this process. */
  stats(): Readonly<Record<StatsName, StoreStats>>;
}

/** Names of the stores in metrics. */
export type StatsName =
  | "responses"
  | "conversations"
  | "reasoning"
  | "chat_completion_bindings"
  | "response_bindings"
  | "conversation_bindings"
  | "relayed_object_bindings";

/** Size of one store. */
export interface StoreStats {
  readonly entries: number;
  readonly bytes: number;
}

/** Owners of one type of object, by its IDs. */
export interface OwnerStore {
  /** Returns the binding of an ID; null if no account is known to own it. */
  findBinding(id: string): Stored<Binding | null>;
  /** Returns the bindings of the IDs; IDs without a binding are absent. */
  findBindings(ids: readonly string[]): Stored<ReadonlyMap<string, Binding>>;
  /**
   * Binds an ID that an account has returned to a caller. The first account owns it. A second
   * account makes the binding a conflict, until it expires. A second caller makes `SEVERAL_CALLERS`
   * its creator. The lifetime of a binding starts with its last change.
   */
  bind(id: string, owner: Owner): Stored<Binding>;
  /**
   * Removes the binding of a deleted object and the object stored under it. Only a binding of this
   * account that is visible to the caller is removed, never a conflict. Returns true if it was
   * removed.
   */
  unbind(id: string, account: string, caller: Caller): Stored<boolean>;
}

/** Responses: their owners and, where the gateway stores them, the responses themselves. */
export interface ResponseStore extends OwnerStore {
  /** Returns the binding of a response and the stored response; null if it has no binding. */
  find(id: string): Stored<FoundResponse | null>;
  /**
   * Binds and stores a response in one operation. The response is not stored if it is too large, or
   * if its ID is in conflict or belongs to an object that the caller may not see; a native response
   * is then bound without it. Returns the binding; null if it was not bound.
   */
  store(id: string, response: NewResponse, caller: Caller): Stored<Binding | null>;
  /**
   * Returns the items with these IDs in stored responses, oldest first. Of an item that very many
   * responses have, only its uses in the youngest ones; see `usesPerItem`.
   */
  findItems(ids: ReadonlySet<string>): Stored<readonly ResponseItem[]>;
}

/** A response found by its ID. */
export interface FoundResponse {
  readonly binding: Binding;
  /** Null if the gateway does not store the response. */
  readonly snapshot: Snapshot | null;
}

/** A response to be stored. */
export interface NewResponse {
  readonly owner: Owner;
  readonly snapshot: Snapshot;
  /** True if its upstream may store the response too, so that it is always bound to an owner. */
  readonly isNative: boolean;
}

/** An item of a stored response, which belongs to the owner of the response. */
export interface ResponseItem {
  readonly id: string;
  readonly item: JsonObject;
  readonly binding: Binding;
}

/**
 * Conversations by ID. The lifetime of a conversation starts with its last change; a refused change
 * has no effect.
 */
export interface ConversationStore {
  /** Maximum bytes of one conversation, and of all conversations together. */
  readonly maxBytes: number;
  create(conversation: NewConversation): Stored<Conversation>;
  /** Returns a conversation. */
  find(id: string): Stored<Conversation | null>;
  /** Returns a conversation without its items, which are not read; null if there is none. */
  findRest(id: string): Stored<ConversationRest | null>;
  /** Replaces the metadata only. */
  setMetadata(id: string, metadata: Metadata): Stored<Conversation>;
  /** Adds all items or none: refused if an ID exists already or there would be too many items. */
  append(id: string, items: readonly JsonObject[]): Stored<Conversation>;
  removeItem(id: string, item: string): Stored<Conversation>;
  /**
   * Deletes a conversation. Returns true if it existed; of concurrent deletes only one returns
   * true.
   */
  delete(id: string): Stored<boolean>;
  /**
   * Returns the items with these IDs, ordered by the last change of their conversation, oldest
   * first. Of an ID in very many conversations, only the items that were added last; see
   * `usesPerItem`.
   */
  findItems(ids: ReadonlySet<string>): Stored<readonly ConversationItem[]>;
}

/** An item of a stored conversation, which belongs to the creator of the conversation. */
export interface ConversationItem {
  readonly id: string;
  readonly item: JsonObject;
  readonly creator: Creator;
}

/** Identifies the reasoning of a response for the next request of its client. */
export interface ReasoningKey {
  /** The caller that has received the response; no other caller finds its reasoning. */
  readonly creator: Creator;
  /** Digest of the IDs of the response's tool calls. */
  readonly calls: string;
  /** Digest of the response's reasoning text; null in a lookup for a request without that text. */
  readonly text: string | null;
}

/**
 * Reasoning of responses with tool calls, for clients that do not send it back. The lifetime of an
 * entry starts with its last use.
 */
export interface ReasoningStore {
  /**
   * Returns the reasoning under each key, in the order of the keys. A key without a text finds
   * nothing if the caller has received these calls with different reasoning.
   */
  find(keys: readonly ReasoningKey[]): Stored<readonly (OwnedReasoning | null)[]>;
  /**
   * Stores reasoning in place of an earlier one under the key. Returns false if it is too large.
   */
  store(key: ReasoningKey, reasoning: OwnedReasoning): Stored<boolean>;
}

/** Returns the store of the owners of one type. */
export function ownerStore({ responses, owners }: ObjectStore, type: BoundType): OwnerStore {
  return type === "response" ? responses : owners[type];
}
