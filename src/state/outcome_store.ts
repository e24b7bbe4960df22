import { type Result, success } from "../core/result.ts";
import type { Caller, Owner } from "./bindings.ts";
import {
  type BoundType,
  type NewResponse,
  type ObjectStore,
  ownerStore,
  type Stored,
} from "./object_store.ts";
import { newTurnWrite, type Turn } from "./turn_write.ts";

/**
 * Writes that follow from the response of an upstream. Its tokens are spent, so the client receives the
 * response even if the state store is unavailable: the write then waits in the memory of the process.
 */
export interface OutcomeStore {
  /** Binds and stores a response; see `ResponseStore.store`. */
  storeResponse(id: string, response: NewResponse, caller: Caller): Stored<WriteState>;
  /** Binds the ID of an object that an upstream has created; see `OwnerStore.bind`. */
  bind(type: BoundType, id: string, owner: Owner): Stored<WriteState>;
  /** Adds the items of a request and its response to their conversation; see `newTurnWrite`. */
  addTurn(conversation: string, turn: Turn): Stored<WriteState>;
  /**
   * Removes the binding of an object that its upstream has deleted; see `OwnerStore.unbind`. While the
   * store is away the binding stays until it expires.
   */
  unbind(type: BoundType, id: string, account: string, caller: Caller): Stored<void>;
}

/**
 * Where a write is: in the store, waiting in the memory of the process, or lost because too many writes
 * wait already.
 */
export type WriteState = "stored" | "pending" | "lost";

/** Returns the writes of a store in memory, which is never away. */
export function newDirectOutcomes(objects: ObjectStore): OutcomeStore {
  return {
    async storeResponse(id, response, caller) {
      return isStored(await objects.responses.store(id, response, caller));
    },
    async bind(type, id, owner) {
      return isStored(await ownerStore(objects, type).bind(id, owner));
    },
    async addTurn(conversation, turn) {
      return isStored(await newTurnWrite(conversation, turn)(objects.conversations));
    },
    async unbind(type, id, account, caller) {
      const unbound = await ownerStore(objects, type).unbind(id, account, caller);
      return unbound.ok ? success(undefined) : unbound;
    },
  };
}

function isStored(written: Result<unknown>): Result<WriteState> {
  return written.ok ? success("stored") : written;
}
