import { itemBytes } from "./conversations.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { StateOperation } from "../data/state_operation.ts";
import type { Caller, Owner } from "./bindings.ts";
import {
  type BoundType,
  type NewResponse,
  type ObjectStore,
  ownerStore,
  type Stored,
} from "./object_store.ts";
import { heldBytes, jsonBytes } from "./retention.ts";
import type { Snapshot } from "./snapshots.ts";
import { newTurnWrite, type Turn } from "./turn_write.ts";

/**
 * Writes that follow from the response of an upstream. Its tokens are spent, so the client receives
 * the response even if the state store is unavailable: the write then waits in the memory of the
 * process.
 */
export interface OutcomeStore {
  /** Binds and stores a response; see `ResponseStore.store`. */
  storeResponse(id: string, response: NewResponse, caller: Caller): Stored<WriteState>;
  /** Binds the ID of an object that an upstream has created; see `OwnerStore.bind`. */
  bind(type: BoundType, id: string, owner: Owner): Stored<WriteState>;
  /** Adds the items of a request and its response to their conversation; see `newTurnWrite`. */
  addTurn(conversation: string, turn: Turn): Stored<WriteState>;
  /**
   * Removes the binding of an object that its upstream has deleted; see `OwnerStore.unbind`. While
   * the store is unavailable the binding stays until it expires.
   */
  unbind(type: BoundType, id: string, account: string, caller: Caller): Stored<void>;
}

/**
 * Where a write is: in the store, waiting in the memory of the process, or lost because too many
 * writes wait already.
 */
export type WriteState = "stored" | "pending" | "lost";

/** A write that may be repeated. */
export interface OutcomeWrite {
  readonly operation: StateOperation;
  /** Returns its approximate size in memory. */
  bytes(): number;
  run(objects: ObjectStore): Stored<unknown>;
}

/** Makes a write of an object, or lets it wait. `turns` are those of a conversation. */
export type MakeWrite = (
  type: BoundType | "turns",
  id: string,
  write: OutcomeWrite,
) => Stored<WriteState>;

/** Returns the writes to these objects, each of which `make` makes. */
export function newOutcomes(objects: ObjectStore, make: MakeWrite): OutcomeStore {
  return {
    storeResponse: (id, response, caller) =>
      make("response", id, {
        operation: "response_store",
        bytes: () => snapshotBytes(response.snapshot) + jsonBytes(response.owner),
        run: ({ responses }) => responses.store(id, response, caller),
      }),
    bind: (type, id, owner) =>
      make(type, id, {
        operation: type === "response" ? "response_bind" : "owner_bind",
        bytes: () => jsonBytes(owner),
        run: (all) => ownerStore(all, type).bind(id, owner),
      }),
    addTurn(id, turn) {
      const add = newTurnWrite(id, turn);
      return make("turns", id, {
        operation: "conversation_append",
        bytes: () => itemBytes(turn.items),
        run: ({ conversations }) => add(conversations),
      });
    },
    async unbind(type, id, account, caller) {
      const unbound = await ownerStore(objects, type).unbind(id, account, caller);
      return unbound.ok ? success(undefined) : unbound;
    },
  };
}

/** Returns the writes of a store in memory, which is always available. */
export function newDirectOutcomes(objects: ObjectStore): OutcomeStore {
  return newOutcomes(objects, async (_type, _id, { run }) => {
    const written: Result<unknown> = await run(objects);
    return written.ok ? success("stored") : written;
  });
}

function snapshotBytes({ resource, input }: Snapshot): number {
  return heldBytes(resource) + itemBytes(input);
}
