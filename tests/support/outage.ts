import type { LossReason, StateOperation } from "../../src/data/state_operation.ts";
import type { GatewayOptions } from "../../src/gateway/gateway.ts";
import {
  type AvailableStore,
  newAvailableStore,
} from "../../src/store/availability/available_store.ts";
import { newSwitchedStore, type SwitchedStore } from "./switched_store.ts";
import type { ScriptedWorld } from "./world.ts";

/** A store that a test switches off, behind what knows whether it is unavailable. */
export interface OutageStore {
  readonly raw: SwitchedStore;
  readonly store: AvailableStore;
  /** The lines of the log, each with its level. */
  readonly log: readonly string[];
  /** The operations that were counted as failed. */
  readonly failures: readonly StateOperation[];
  readonly losses: readonly (readonly [reason: LossReason, writes: number])[];
  /** Switches the store off and lets it be noticed. */
  leave(): Promise<void>;
  /** Switches the store on and lets it be noticed. */
  comeBack(): Promise<void>;
}

/** Bounds of the waiting writes of a test. */
export interface OutageSettings {
  readonly ttl?: number;
  readonly max_bytes?: number;
}

/** A store that is pinged by the clock of the world. */
export function newOutageStore(
  world: ScriptedWorld,
  { ttl = 1_800_000, max_bytes = 1_000_000 }: OutageSettings = {},
): OutageStore {
  const raw = newSwitchedStore(() => world.now());
  const log: string[] = [];
  const failures: StateOperation[] = [];
  const losses: (readonly [LossReason, number])[] = [];
  const store = newAvailableStore(raw, {
    world,
    log: {
      info: (message) => void log.push(`info ${message}`),
      warn: (message) => void log.push(`warn ${message}`),
      error: (message) => void log.push(`error ${message}`),
    },
    settings: { ttl, max_bytes },
    onFailure: (operation) => void failures.push(operation),
    onLoss: (reason, writes) => void losses.push([reason, writes]),
  });
  return {
    raw,
    store,
    log,
    failures,
    losses,
    async leave() {
      raw.leave();
      await world.advance(1_000);
    },
    async comeBack() {
      raw.comeBack();
      await world.advance(1_000);
    },
  };
}

/** A gateway whose state is in a store that a test switches off. */
export interface WithOutage<Gateway> {
  readonly calls: Gateway;
  readonly outage: OutageStore;
}

/** Builds a gateway over a store that answers. */
export async function withOutage<Gateway>(
  build: (optionsIn: (world: ScriptedWorld) => GatewayOptions) => Gateway,
  settings: OutageSettings = {},
): Promise<WithOutage<Gateway>> {
  const made: OutageStore[] = [];
  const calls = build((world) => {
    const outage = newOutageStore(world, settings);
    made.push(outage);
    return { store: outage.store };
  });
  const [outage] = made;
  if (outage === undefined) throw new Error("the gateway has no store");
  await outage.store.start();
  return { calls, outage };
}
