import type { Cancellation } from "../core/cancellation.ts";
import { clientGone, failed, type Result } from "../core/result.ts";
import { interceptedObjects } from "./availability/intercepted_objects.ts";
import type { GatewayState } from "./gateway_state.ts";
import type { Stored } from "./object_store.ts";
import type { OutcomeStore, WriteState } from "./outcome_store.ts";

/** The call that uses a store. */
export interface StoreUser {
  readonly cancellation: Cancellation;
  /** Records a write of the call that is not in the store. */
  readonly report: { unstored: Exclude<WriteState, "stored"> | null };
}

/**
 * Returns the state as one call uses it: a cancelled call does not wait for the store. The operation
 * itself goes on, bounded by the store. State in the memory of the process is used as it is.
 */
export function stateForCall(state: GatewayState, user: StoreUser): GatewayState {
  if (state.availability === null) return state;
  const { cancellation } = user;
  return {
    ...state,
    objects: interceptedObjects(
      state.objects,
      (_operation, start) => untilCancelled(cancellation, start()),
    ),
    outcomes: outcomesForCall(state.outcomes, user),
  };
}

function outcomesForCall(
  outcomes: OutcomeStore,
  { cancellation, report }: StoreUser,
): OutcomeStore {
  async function noted(writing: Stored<WriteState>): Stored<WriteState> {
    const written = await untilCancelled(cancellation, writing);
    if (written.ok && written.value !== "stored") report.unstored = written.value;
    return written;
  }

  return {
    storeResponse: (id, response, caller) => noted(outcomes.storeResponse(id, response, caller)),
    bind: (type, id, owner) => noted(outcomes.bind(type, id, owner)),
    addTurn: (conversation, turn) => noted(outcomes.addTurn(conversation, turn)),
    unbind: (type, id, account, caller) =>
      untilCancelled(cancellation, outcomes.unbind(type, id, account, caller)),
  };
}

/** Returns the result of an operation, or the failure of the call if the call is cancelled before. */
function untilCancelled<T>(cancellation: Cancellation, operation: Stored<T>): Stored<T> {
  return new Promise<Result<T>>((resolve, reject) => {
    const unsubscribe = cancellation.onCancel((reason) => {
      resolve(reason === null ? clientGone() : failed(reason));
    });
    operation.then(resolve, reject).finally(() => unsubscribe());
  });
}
