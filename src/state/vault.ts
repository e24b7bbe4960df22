import type { World } from "../core/world.ts";
import { type Balancers, balancers } from "./balancers.ts";
import { type Breakers, breakers } from "./breakers.ts";

/** Everything that changes while the gateway runs and outlives one configuration. */
export interface Vault {
  /** When the process began, on the world's clock. */
  readonly began: number;
  readonly breakers: Breakers;
  readonly balancers: Balancers;
}

/** An empty vault; one lives as long as the process. */
export function newVault(world: World): Vault {
  return {
    began: world.now(),
    breakers: breakers(() => world.now()),
    balancers: balancers(() => world.random()),
  };
}
