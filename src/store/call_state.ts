import { Cancellation } from "../core/cancellation.ts";
import { cancelled, type Failed, type Result } from "../core/failure/result.ts";
import { interceptedObjects } from "./intercepted_objects.ts";
import type { GatewayState } from "./gateway_state.ts";
import type { ObjectStore, Stored } from "./object_store.ts";
import type { OutcomeStore, WriteState } from "./outcome_store.ts";

/** The call that uses a store. */
export interface StoreUser {
  readonly cancellation: Cancellation;
  /** Returns the client, with which others share the turns of reads; known once it is admitted. */
  client(): string;
  /**
   * Returns the refusal of a read whose object would find no memory; null if there is memory, or it
   * is no read.
   */
  refuseRead(): Failed | null;
  /** Records a write of the call that is not in the store. */
  readonly report: { unstored: Exclude<WriteState, "stored"> | null };
}

/**
 * Returns the state as one call uses it: a cancelled call does not wait for the store. The
 * operation itself continues, bounded by the store. State in the memory of the process is used as
 * it is.
 */
export function stateForCall(state: GatewayState, user: StoreUser): GatewayState {
  if (state.availability === null) return state;
  const { cancellation } = user;
  return {
    ...state,
    objects: interceptedObjects(
      objectsInTurn(state, user),
      (_operation, start) => untilCancelled(cancellation, start()),
    ),
    outcomes: outcomesForCall(state, user),
  };
}

/**
 * Returns the objects as one call uses them: each operation that returns a whole object waits for
 * its turn.
 */
function objectsInTurn(
  { objects, readTurns }: GatewayState,
  { cancellation, client, refuseRead }: StoreUser,
): ObjectStore {
  const { responses, conversations, reasoning } = objects;
  const inTurn = <T>(start: () => Stored<T>) => readTurns(client(), cancellation, start);
  /** Other reads may have filled the memory while this one has waited. */
  const read = <T>(start: () => Stored<T>) => inTurn<T>(async () => refuseRead() ?? await start());
  return {
    ...objects,
    responses: {
      ...responses,
      find: (id) => read(() => responses.find(id)),
      findItems: (ids) => read(() => responses.findItems(ids)),
    },
    conversations: {
      ...conversations,
      find: (id) => read(() => conversations.find(id)),
      findItems: (ids) => read(() => conversations.findItems(ids)),
      setMetadata: (id, metadata) => inTurn(() => conversations.setMetadata(id, metadata)),
      append: (id, items) => inTurn(() => conversations.append(id, items)),
      removeItem: (id, item) => inTurn(() => conversations.removeItem(id, item)),
    },
    reasoning: { ...reasoning, find: (keys) => inTurn(() => reasoning.find(keys)) },
  };
}

function outcomesForCall(
  { outcomes, readTurns }: GatewayState,
  { cancellation, client, report }: StoreUser,
): OutcomeStore {
  async function noted(writing: Stored<WriteState>): Stored<WriteState> {
    const written = await untilCancelled(cancellation, writing);
    if (written.ok && written.value !== "stored") report.unstored = written.value;
    return written;
  }

  return {
    storeResponse: (id, response, caller) => noted(outcomes.storeResponse(id, response, caller)),
    bind: (type, id, owner) => noted(outcomes.bind(type, id, owner)),
    // The turn of a cancelled call is added too.
    addTurn: (conversation, turn) =>
      noted(readTurns(client(), new Cancellation(), () => outcomes.addTurn(conversation, turn))),
    unbind: (type, id, account, caller) =>
      untilCancelled(cancellation, outcomes.unbind(type, id, account, caller)),
  };
}

/**
 * Returns the result of an operation, or the failure of the call if the call is cancelled before.
 */
function untilCancelled<T>(cancellation: Cancellation, operation: Stored<T>): Stored<T> {
  return new Promise<Result<T>>((resolve, reject) => {
    const unsubscribe = cancellation.onCancel((reason) => {
      resolve(cancelled(reason));
    });
    operation.then(resolve, reject).finally(() => unsubscribe());
  });
}
