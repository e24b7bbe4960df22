import type { ObjectStore } from "./object_store.ts";
import type { OutcomeStore } from "./outcome_store.ts";
import type { StateStore } from "./state_store.ts";

/** The state store of a gateway, as its calls use it. */
export interface GatewayStore extends Omit<StateStore, "ping"> {
  readonly objects: ObjectStore;
  readonly outcomes: OutcomeStore;
  readonly availability: Availability;
}

/** What a process knows of its state store. */
export interface Availability {
  /** False from the first operation that found the store away until it answers. */
  isUp(): boolean;
  /** Returns the number of writes that wait for the store. */
  pendingWrites(): number;
}
