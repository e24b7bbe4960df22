import type { StateOperation } from "../data/state_operation.ts";
import type { ObjectStore, OwnerStore, Stored } from "./object_store.ts";

/** Runs an operation of a store and returns its result, or another one in its place. */
export type RunOperation = <T>(operation: StateOperation, start: () => Stored<T>) => Stored<T>;

/** Returns a store whose operations all pass through `run`. */
export function interceptedObjects(objects: ObjectStore, run: RunOperation): ObjectStore {
  const { responses, conversations, owners, reasoning } = objects;
  return {
    responses: {
      findBinding: (id) => run("response_find", () => responses.findBinding(id)),
      findBindings: (ids) => run("response_find", () => responses.findBindings(ids)),
      find: (id) => run("response_find", () => responses.find(id)),
      findItems: (ids) => run("response_items", () => responses.findItems(ids)),
      store: (id, response, caller) =>
        run("response_store", () => responses.store(id, response, caller)),
      bind: (id, owner) => run("response_bind", () => responses.bind(id, owner)),
      unbind: (id, account, caller) =>
        run("response_unbind", () => responses.unbind(id, account, caller)),
    },
    conversations: {
      maxBytes: conversations.maxBytes,
      create: (one) => run("conversation_create", () => conversations.create(one)),
      find: (id) => run("conversation_find", () => conversations.find(id)),
      findRest: (id) => run("conversation_find", () => conversations.findRest(id)),
      setMetadata: (id, metadata) =>
        run("conversation_update", () => conversations.setMetadata(id, metadata)),
      append: (id, items) => run("conversation_append", () => conversations.append(id, items)),
      removeItem: (id, item) =>
        run("conversation_remove_item", () => conversations.removeItem(id, item)),
      delete: (id) => run("conversation_delete", () => conversations.delete(id)),
      findItems: (ids) => run("conversation_items", () => conversations.findItems(ids)),
    },
    owners: {
      chat_completion: interceptedOwners(owners.chat_completion, run),
      conversation: interceptedOwners(owners.conversation, run),
      relayed_object: interceptedOwners(owners.relayed_object, run),
    },
    reasoning: {
      find: (keys) => run("reasoning_find", () => reasoning.find(keys)),
      store: (key, one) => run("reasoning_store", () => reasoning.store(key, one)),
    },
    stats: () => objects.stats(),
  };
}

function interceptedOwners(owners: OwnerStore, run: RunOperation): OwnerStore {
  return {
    findBinding: (id) => run("owner_find", () => owners.findBinding(id)),
    findBindings: (ids) => run("owner_find", () => owners.findBindings(ids)),
    bind: (id, owner) => run("owner_bind", () => owners.bind(id, owner)),
    unbind: (id, account, caller) => run("owner_unbind", () => owners.unbind(id, account, caller)),
  };
}
