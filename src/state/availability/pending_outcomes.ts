import type { StateOperation } from "../../core/state_operation.ts";
import { type Result, success } from "../../core/result.ts";
import type { Owner } from "../bindings.ts";
import { type BoundType, type ObjectStore, ownerStore, type Stored } from "../object_store.ts";
import type { OutcomeStore, WriteState } from "../outcome_store.ts";
import { heldBytes, jsonBytes } from "../retention.ts";
import type { Snapshot } from "../snapshots.ts";
import type { AvailabilityLog } from "./availability.ts";
import { newTurnWrite } from "../turn_write.ts";
import { boundKey, turnsKey } from "./guarded_objects.ts";
import { type PendingView, viewAfterBind, viewAfterStore } from "./pending_view.ts";
import type { PendingWrite, PendingWrites } from "./pending_writes.ts";

/** Dependencies of writes that wait while the store is away. */
export interface PendingOutcomeOptions {
  /** The store, whose operations are observed. */
  readonly objects: ObjectStore;
  /** The same store with the objects whose writes wait. */
  readonly guarded: ObjectStore;
  readonly pending: PendingWrites;
  readonly log: AvailabilityLog;
}

/** Returns the writes of a store that may be away: what cannot be written waits. */
export function newPendingOutcomes(options: PendingOutcomeOptions): OutcomeStore {
  const { objects, guarded, pending, log } = options;

  /** Writes now, or after the writes of the object that wait already. */
  async function write(
    key: string,
    one: PendingWrite,
    next: (view: PendingView) => PendingView | undefined,
  ): Stored<WriteState> {
    if (!pending.has(key)) {
      const written: Result<unknown> = await one.run(objects);
      if (written.ok) return success("stored");
      if (written.failure.kind !== "state_unavailable") return written;
    }
    if (!pending.add(key, one, next(pending.view(key) ?? null))) return success("lost");
    log.error(
      `${one.operation} waits for the state store, which is unavailable; its call is served`,
    );
    return success("pending");
  }

  return {
    storeResponse(id, response, caller) {
      const one: PendingWrite = {
        operation: "response_store",
        bytes: heldBytes(id) + snapshotBytes(response.snapshot) + jsonBytes(response.owner),
        run: ({ responses }) => responses.store(id, response, caller),
      };
      return write(
        boundKey("response", id),
        one,
        (view) => viewAfterStore(view, response, caller),
      );
    },
    bind: (type, id, owner) =>
      write(boundKey(type, id), newBind(type, id, owner), (view) => viewAfterBind(view, owner)),
    addTurn(id, turn) {
      const add = newTurnWrite(id, turn);
      const one: PendingWrite = {
        operation: "conversation_append",
        bytes: heldBytes(id) + itemBytes(turn.items),
        run: ({ conversations }) => add(conversations),
      };
      return write(turnsKey(id), one, () => undefined);
    },
    async unbind(type, id, account, caller) {
      const unbound = await ownerStore(guarded, type).unbind(id, account, caller);
      if (unbound.ok) return success(undefined);
      if (unbound.failure.kind !== "state_unavailable") return unbound;
      log.error(
        `${
          type === "response" ? "response_unbind" : "owner_unbind"
        } failed because the state store ` +
          "is away; the object is deleted at its provider, and its owner stays until it expires",
      );
      return success(undefined);
    },
  };
}

function newBind(type: BoundType, id: string, owner: Owner): PendingWrite {
  const operation: StateOperation = type === "response" ? "response_bind" : "owner_bind";
  return {
    operation,
    bytes: heldBytes(id) + jsonBytes(owner),
    run: (objects) => ownerStore(objects, type).bind(id, owner),
  };
}

function snapshotBytes({ resource, input }: Snapshot): number {
  return heldBytes(resource) + itemBytes(input);
}

function itemBytes(items: Snapshot["input"]): number {
  return items.reduce((bytes, item) => bytes + heldBytes(item), 0);
}
