import type { JsonObject } from "../core/json/json.ts";
import type { Result } from "../core/result.ts";
import type { Binding, Caller, Creator, Owner } from "./bindings.ts";
import type { Conversation, Metadata, NewConversation } from "./conversations.ts";
import type { Snapshot } from "./snapshots.ts";

/** Result of a store operation. It fails if the operation is refused or the store cannot be asked. */
export type Stored<T> = Promise<Result<T>>;

/** Types of objects that have owners. */
export type BoundType = "chat_completion" | "response" | "conversation";

/** Storage of the objects that clients create. What it holds may outlive the process. */
export interface ObjectStore {
  readonly responses: ResponseStore;
  /** Conversations that the gateway stores itself. */
  readonly conversations: ConversationStore;
  /** Owners of the objects that only their upstream stores. */
  readonly owners: Readonly<Record<Exclude<BoundType, "response">, OwnerStore>>;
  /** Returns the sizes for the metrics at once, as they are known to this process. */
  stats(): Readonly<Record<StatsName, StoreStats>>;
}

/** Names of the stores in metrics. */
export type StatsName =
  | "responses"
  | "conversations"
  | "chat_completion_bindings"
  | "response_bindings"
  | "conversation_bindings";

/** Size of one store. */
export interface StoreStats {
  readonly entries: number;
  readonly bytes: number;
}

/** Owners of one type of object, by its IDs. */
export interface OwnerStore {
  /** Returns the binding of an ID; null if no account is known to own it. */
  findBinding(id: string): Stored<Binding | null>;
  /** Returns the bindings of those of the IDs that have one. */
  findBindings(ids: readonly string[]): Stored<ReadonlyMap<string, Binding>>;
  /**
   * Binds an ID that an account has returned to a caller. The first account owns it; another one makes
   * a conflict, which stays until it expires. Another caller makes it an ID of several callers.
   */
  bind(id: string, owner: Owner): Stored<Binding>;
  /**
   * Removes the binding of an object that was deleted, with everything stored under it. Only a binding
   * of this account that is visible to the caller is removed, never a conflict. Returns whether it was.
   */
  unbind(id: string, account: string, caller: Caller): Stored<boolean>;
}

/** Responses: their owners and, where the gateway stores them, the responses themselves. */
export interface ResponseStore extends OwnerStore {
  /** Returns the binding of a response and the stored response; null if it has no binding. */
  find(id: string): Stored<FoundResponse | null>;
  /**
   * Binds a response and stores it, as one operation. It is not stored, and bound without it if it is
   * native, when it is too large, its ID is in conflict or belongs to an object that is not visible to
   * the caller. Returns the binding; null if it was not bound.
   */
  store(id: string, response: NewResponse, caller: Caller): Stored<Binding | null>;
  /** Returns the items with these IDs in stored responses, oldest first. */
  findItems(ids: ReadonlySet<string>): Stored<readonly ResponseItem[]>;
}

/** A response as it is found by its ID. */
export interface FoundResponse {
  readonly binding: Binding;
  /** Null if the gateway does not store the response. */
  readonly snapshot: Snapshot | null;
}

/** A response to be stored. */
export interface NewResponse {
  readonly owner: Owner;
  readonly snapshot: Snapshot;
  /** True if its upstream may store it too, so that it has an owner in any case. */
  readonly isNative: boolean;
}

/** An item of a stored response, which belongs to the owner of the response. */
export interface ResponseItem {
  readonly id: string;
  readonly item: JsonObject;
  readonly binding: Binding;
}

/** Conversations by ID. Each lives on from its last change; a refused change changes nothing. */
export interface ConversationStore {
  create(conversation: NewConversation): Stored<Conversation>;
  /** Returns a conversation; null if there is none. */
  find(id: string): Stored<Conversation | null>;
  /** Replaces the metadata and nothing else. */
  setMetadata(id: string, metadata: Metadata): Stored<Conversation>;
  /** Adds all items or none: refused if an ID exists already or there would be too many items. */
  append(id: string, items: readonly JsonObject[]): Stored<Conversation>;
  removeItem(id: string, item: string): Stored<Conversation>;
  /** Returns whether there was such a conversation: true for one caller only. */
  delete(id: string): Stored<boolean>;
  /** Returns the items with these IDs, that of the conversation with the oldest change first. */
  findItems(ids: ReadonlySet<string>): Stored<readonly ConversationItem[]>;
}

/** An item of a stored conversation, which belongs to the creator of the conversation. */
export interface ConversationItem {
  readonly id: string;
  readonly item: JsonObject;
  readonly creator: Creator;
}

/** Returns the store of the owners of one type. */
export function ownerStore({ responses, owners }: ObjectStore, type: BoundType): OwnerStore {
  return type === "response" ? responses : owners[type];
}
