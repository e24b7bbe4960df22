import type { World } from "../core/world.ts";
import type { Sink } from "../observe/report.ts";
import { newVault, type Vault } from "../state/vault.ts";
import type { Generation } from "./generation.ts";

/** The running gateway: what calls get from it when they begin. */
export interface Gateway {
  readonly generation: Generation;
  readonly vault: Vault;
  readonly world: World;
  /** Each gets the report of every call once, when the call is over. */
  readonly sinks: readonly Sink[];
}

/** A gateway that has not served anything yet. */
export function newGateway(generation: Generation, world: World, sinks: readonly Sink[]): Gateway {
  return { generation, vault: newVault(world, generation.config.caching), world, sinks };
}
