import type { Binding } from "../../src/store/bindings.ts";
import { newDirectOutcomes } from "../../src/store/outcome_store.ts";
import {
  type BoundType,
  type ObjectStore,
  ownerStore,
  type Stored,
} from "../../src/store/object_store.ts";

/** Returns the value of a store operation, which must succeed. */
export async function stored<T>(operation: Stored<T>): Promise<T> {
  const result = await operation;
  if (!result.ok) throw new Error(`the store has refused: ${result.failure.kind}`);
  return result.value;
}

/** Returns the kind of refusal of a store operation; "ok" if it succeeds. */
export async function outcomeOf(operation: Stored<unknown>): Promise<string> {
  const result = await operation;
  return result.ok ? "ok" : result.failure.kind;
}

/** Returns the binding of an ID. */
export async function bindingOf(
  { state }: { readonly state: { readonly objects: ObjectStore } },
  type: BoundType,
  id: string,
): Promise<Binding | null> {
  return await stored(ownerStore(state.objects, type).findBinding(id));
}

/** Writes of a store that have taken effect but have not returned. */
export interface HeldWrites {
  /** Resolves when the first write has begun. */
  readonly begun: Promise<void>;
  /** Lets all writes return. */
  release(): void;
}

/**
 * Makes the store of a gateway slow: what it stores about responses returns only when it is
 * released.
 */
export function holdWrites(state: { readonly objects: ObjectStore }): HeldWrites {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { responses } = state.objects;

  async function held<T>(write: Stored<T>): Stored<T> {
    begun.resolve();
    await released.promise;
    return await write;
  }

  const slow: ObjectStore["responses"] = {
    ...responses,
    bind: (id, owner) => held(responses.bind(id, owner)),
    store: (id, response, caller) => held(responses.store(id, response, caller)),
  };
  const objects = { ...state.objects, responses: slow };
  Object.assign(state, { objects, outcomes: newDirectOutcomes(objects) });
  return { begun: begun.promise, release: () => released.resolve() };
}
