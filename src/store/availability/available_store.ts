import { bugText } from "../../core/failure/bug_text.ts";
import { internalFault } from "../../core/failure/result.ts";
import type { LossReason, StateOperation } from "../../data/state_operation.ts";
import type { World } from "../../core/world.ts";
import { type LoopTurns, NO_TURNS } from "../../traffic/loop_turns.ts";
import type { GatewayStore } from "../gateway_store.ts";
import { interceptedObjects } from "../intercepted_objects.ts";
import type { Stored } from "../object_store.ts";
import type { PrivacyValues } from "../privacy_values.ts";
import type { StateSettings } from "../settings.ts";
import type { StateStore } from "../state_store.ts";
import { type AvailabilityLog, newAvailabilityWatch } from "./availability.ts";
import { type Loss, newPendingWrites } from "./pending_writes.ts";
import { newWaitingOutcomes, withWaitingObjects } from "./waiting_objects.ts";

/** Dependencies of a store that may be unavailable. */
export interface AvailableStoreOptions {
  readonly world: Pick<World, "after" | "now">;
  readonly log: AvailabilityLog;
  readonly settings: Pick<StateSettings, "ttl" | "max_bytes">;
  /** Turns of the gateway; absent if nothing else waits. */
  readonly turns?: LoopTurns;
  /** Counts an operation of the store that failed. */
  onFailure(operation: StateOperation): void;
  /** Counts waiting writes that are lost. */
  onLoss(reason: LossReason, writes: number): void;
}

/** A store that may be unavailable. */
export interface AvailableStore extends GatewayStore {
  /** Asks the store for the first time, then every second. Returns false if it is unavailable. */
  start(): Promise<boolean>;
}

/**
 * Returns a store that knows whether the given store can be reached. What an upstream has created
 * while it cannot waits in the memory of the process, where this process finds it.
 */
export function newAvailableStore(
  store: StateStore,
  options: AvailableStoreOptions,
): AvailableStore {
  const { world, log, settings, turns = NO_TURNS } = options;
  const watch = newAvailabilityWatch({
    world,
    log,
    ping: (doesWrite) => withoutThrowing("ping", () => store.ping(doesWrite)),
    onAnswer: () => pending.flush(),
    onTick: () => pending.dropExpired(),
    waiting: () => pending.count,
  });
  const observed = interceptedObjects(store.objects, observe);
  const pending = newPendingWrites({
    now: () => world.now(),
    objects: observed,
    ttlMs: settings.ttl,
    maxBytes: settings.max_bytes,
    turns,
    onLost(loss) {
      options.onLoss(loss.reason, loss.writes);
      log.error(lossText(loss));
    },
  });
  const parts = { objects: observed, pending, log };

  async function observe<T>(operation: StateOperation, start: () => Stored<T>): Stored<T> {
    const result = await withoutThrowing(operation, start);
    if (result.ok) return result;
    const { kind } = result.failure;
    if (kind === "state_unavailable") watch.doubt();
    const isStoreFailure = kind === "state_unavailable" || kind === "state_unreadable";
    // Calls count the failures of reasoning themselves, whatever the store.
    const isCounted = operation !== "reasoning_find" && operation !== "reasoning_store";
    if (isStoreFailure && isCounted) options.onFailure(operation);
    return result;
  }

  function observedValues(values: PrivacyValues): PrivacyValues {
    return {
      find: (objects) => observe("values_find", () => values.find(objects)),
      add: (object, added) => observe("values_store", () => values.add(object, added)),
    };
  }

  /** Returns the result of an operation. One that throws is a bug, which must not end the pings. */
  async function withoutThrowing<T>(name: string, start: () => Stored<T>): Stored<T> {
    try {
      return await start();
    } catch (error) {
      log.error(`${name} of the state store has thrown an error; this is a bug: ${bugText(error)}`);
      return internalFault();
    }
  }

  return {
    name: store.name,
    objects: withWaitingObjects(parts),
    outcomes: newWaitingOutcomes(parts),
    cachedResponses: store.cachedResponses,
    privacyValues: store.privacyValues === null ? null : observedValues(store.privacyValues),
    quotas: store.quotas,
    usage: store.usage,
    availability: {
      isUp: () => watch.isUp,
      pendingWrites: () => pending.count,
      awayForMs: () => watch.awayForMs,
      pingMs: () => watch.pingMs,
    },
    start: () => watch.start(),
    async close() {
      watch.stop();
      await pending.close();
      await store.close();
    },
  };
}

function lossText({ reason, writes, operation, failure }: Loss): string {
  switch (reason) {
    case "full":
      return `${operation} is lost: too many writes wait for the state store`;
    case "expired":
      return `${operation} is lost: the state store was unavailable for longer than state.ttl`;
    case "refused":
      return `${operation} is lost: the state store refused it later (${failure})`;
    case "shutdown":
      return `${writes} waiting writes are lost: the state store is unavailable at shutdown`;
  }
}
