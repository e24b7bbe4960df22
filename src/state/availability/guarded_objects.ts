import { success } from "../../core/result.ts";
import type { Binding } from "../bindings.ts";
import { heldBytes } from "../retention.ts";
import type {
  BoundType,
  ConversationStore,
  ObjectStore,
  OwnerStore,
  ResponseItem,
  Stored,
} from "../object_store.ts";
import { storeUnavailable } from "../store_failure.ts";
import { itemsOfView, mayUnbind } from "./pending_view.ts";
import type { PendingWrite, PendingWrites } from "./pending_writes.ts";

/** Returns the key under which the writes of a bound object wait. */
export function boundKey(type: BoundType, id: string): string {
  return `${type} ${id}`;
}

/** Returns the key under which the turns of a conversation of the gateway wait. */
export function turnsKey(id: string): string {
  return `turns ${id}`;
}

/**
 * Returns a store that finds the objects whose writes wait. A change of such an object is made
 * after its waiting writes.
 */
export function newGuardedObjects(objects: ObjectStore, pending: PendingWrites): ObjectStore {
  const { owners, responses, reasoning } = objects;
  return {
    responses: {
      ...responses,
      ...guardedOwners("response", responses, pending),
      find(id) {
        const view = pending.view(boundKey("response", id));
        return view === undefined ? responses.find(id) : Promise.resolve(success(view));
      },
      async findItems(ids) {
        if (pending.count === 0) return await responses.findItems(ids);
        await pending.flush();
        const waiting = [...pending.views()].flatMap((view) => itemsOfView(view, ids));
        const found = await responses.findItems(ids);
        if (found.ok) return success([...found.value, ...waiting]);
        return hasEach(waiting, ids) ? success(waiting) : found;
      },
    },
    conversations: guardedConversations(objects.conversations, pending),
    owners: {
      chat_completion: guardedOwners("chat_completion", owners.chat_completion, pending),
      conversation: guardedOwners("conversation", owners.conversation, pending),
      relayed_object: guardedOwners("relayed_object", owners.relayed_object, pending),
    },
    reasoning,
    stats: () => objects.stats(),
  };
}

function guardedOwners(type: BoundType, owners: OwnerStore, pending: PendingWrites): OwnerStore {
  return {
    findBinding(id) {
      const view = pending.view(boundKey(type, id));
      return view === undefined
        ? owners.findBinding(id)
        : Promise.resolve(success(view?.binding ?? null));
    },
    async findBindings(ids) {
      if (pending.count === 0) return await owners.findBindings(ids);
      const waiting = new Map<string, Binding>();
      const unknown: string[] = [];
      for (const id of ids) {
        const view = pending.view(boundKey(type, id));
        if (view === undefined) unknown.push(id);
        else if (view !== null) waiting.set(id, view.binding);
      }
      if (unknown.length === 0) return success(waiting);
      const found = await owners.findBindings(unknown);
      return found.ok ? success(new Map([...found.value, ...waiting])) : found;
    },
    bind: (id, owner) => owners.bind(id, owner),
    async unbind(id, account, caller) {
      const view = pending.view(boundKey(type, id));
      if (view === undefined) return await owners.unbind(id, account, caller);
      if (!mayUnbind(view, account, caller)) return success(false);
      // A write that waits may have taken effect in the store: the object is deleted there as well.
      pending.replace(boundKey(type, id), newUnbind(type, { id, account, caller }), null);
      return success(true);
    },
  };
}

/** Arguments of `OwnerStore.unbind`. */
interface Unbound {
  readonly id: string;
  readonly account: string;
  readonly caller: Parameters<OwnerStore["unbind"]>[2];
}

function newUnbind(type: BoundType, { id, account, caller }: Unbound): PendingWrite {
  const bytes = heldBytes(id) + heldBytes(account);
  return type === "response"
    ? {
      operation: "response_unbind",
      bytes,
      run: ({ responses }) => responses.unbind(id, account, caller),
    }
    : {
      operation: "owner_unbind",
      bytes,
      run: ({ owners }) => owners[type].unbind(id, account, caller),
    };
}

/**
 * Returns conversations that are read and changed only after their waiting turns are in the store.
 */
function guardedConversations(
  conversations: ConversationStore,
  pending: PendingWrites,
): ConversationStore {
  async function after<T>(id: string, start: () => Stored<T>): Stored<T> {
    const isReady = !pending.has(turnsKey(id)) || await pending.flushObject(turnsKey(id));
    return isReady ? await start() : storeUnavailable();
  }

  return {
    maxBytes: conversations.maxBytes,
    create: (conversation) => conversations.create(conversation),
    find: (id) => after(id, () => conversations.find(id)),
    setMetadata: (id, metadata) => after(id, () => conversations.setMetadata(id, metadata)),
    append: (id, items) => after(id, () => conversations.append(id, items)),
    removeItem: (id, item) => after(id, () => conversations.removeItem(id, item)),
    delete: (id) => after(id, () => conversations.delete(id)),
    async findItems(ids) {
      if (pending.count > 0) await pending.flush();
      return await conversations.findItems(ids);
    },
  };
}

function hasEach(items: readonly ResponseItem[], ids: ReadonlySet<string>): boolean {
  const found = new Set(items.map(({ id }) => id));
  return ids.isSubsetOf(found);
}
