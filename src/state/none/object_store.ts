import { type Failed, refuse, success } from "../../core/result.ts";
import type { Refusal } from "../../core/failure.ts";
import type { ObjectStore, OwnerStore } from "../object_store.ts";

const EMPTY = { entries: 0, bytes: 0 } as const;

const STATS: ReturnType<ObjectStore["stats"]> = {
  responses: EMPTY,
  conversations: EMPTY,
  reasoning: EMPTY,
  chat_completion_bindings: EMPTY,
  response_bindings: EMPTY,
  conversation_bindings: EMPTY,
  relayed_object_bindings: EMPTY,
};

/**
 * Returns a store that stores nothing, for `state.store: none`. Every operation on an object is
 * refused: an ID of it is neither known nor unknown, and a write must not look successful.
 * Reasoning is never found, as if it had expired, because clients do not ask for it.
 */
export function newNoObjectStore(): ObjectStore {
  const refused = () => Promise.resolve(nothingStored());
  const owners: OwnerStore = {
    findBinding: refused,
    findBindings: refused,
    bind: refused,
    unbind: refused,
  };
  return {
    storesNothing: true,
    responses: { ...owners, find: refused, store: refused, findItems: refused },
    conversations: {
      maxBytes: 0,
      create: refused,
      find: refused,
      setMetadata: refused,
      append: refused,
      removeItem: refused,
      delete: refused,
      findItems: refused,
    },
    owners: { chat_completion: owners, conversation: owners, relayed_object: owners },
    reasoning: {
      find: (keys) => Promise.resolve(success(keys.map(() => null))),
      store: () => Promise.resolve(success(false)),
    },
    stats: () => STATS,
  };
}

function nothingStored(): Failed<Refusal> {
  return refuse("state_disabled", "This gateway stores nothing (state.store is none).");
}
