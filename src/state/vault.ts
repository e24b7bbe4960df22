import type { World } from "../core/world.ts";
import { type Balancers, balancers } from "./balancers.ts";
import { type Breakers, breakers } from "./breakers.ts";
import { type Buckets, buckets } from "./buckets.ts";
import { type Catalogs, catalogs } from "./catalogs.ts";
import { type CacheSettings, newResponseCache, type ResponseCache } from "./response_cache.ts";
import { type Running, runningCalls } from "./running.ts";

/** Everything that changes while the gateway runs and outlives one configuration. */
export interface Vault {
  /** When the process began, on the world's clock. */
  readonly began: number;
  /** The same in seconds since 1970. */
  readonly since: number;
  readonly breakers: Breakers;
  readonly balancers: Balancers;
  readonly buckets: Buckets;
  readonly catalogs: Catalogs;
  readonly cache: ResponseCache;
  readonly running: Running;
}

/** An empty vault; one lives as long as the process. */
export function newVault(world: World, caching: CacheSettings): Vault {
  return {
    began: world.now(),
    since: world.unix(),
    breakers: breakers(() => world.now()),
    balancers: balancers(() => world.random()),
    buckets: buckets(() => world.now()),
    catalogs: catalogs(() => world.now()),
    cache: newResponseCache(caching, () => world.now()),
    running: runningCalls(),
  };
}
