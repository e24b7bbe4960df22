import type { OutcomeStore } from "./outcome_store.ts";
import type { StateStore } from "./state_store.ts";

/** The state store of a gateway, as its calls use it. */
export interface GatewayStore extends
  Pick<
    StateStore,
    "name" | "objects" | "cachedResponses" | "privacyValues" | "quotas" | "usage" | "close"
  > {
  readonly outcomes: OutcomeStore;
  readonly availability: Availability;
}

/** State store as a process knows it. */
export interface Availability {
  /** False from the first ping without an answer until the store answers one. */
  isUp(): boolean;
  /** Returns the number of writes that wait for the store. */
  pendingWrites(): number;
  /** Returns the milliseconds for which the store has been unavailable; null while it is up. */
  awayForMs(): number | null;
  /** Returns the duration of the last answered ping in milliseconds; null if there was none. */
  pingMs(): number | null;
}
