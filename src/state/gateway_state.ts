import type { World } from "../core/world.ts";
import { type Admission, type AdmissionLimits, newAdmission } from "./admission.ts";
import { type Balancers, newBalancers } from "./balancers.ts";
import { type Breakers, newBreakers } from "./breakers.ts";
import { type Buckets, newBuckets } from "./buckets.ts";
import { type Catalogs, newCatalogs } from "./catalogs.ts";
import { newMemoryObjectStore } from "./memory/object_store.ts";
import type { ObjectStore } from "./object_store.ts";
import type { Retention } from "./retention.ts";
import { type CacheSettings, newResponseCache, type ResponseCache } from "./response_cache.ts";
import { newProviderSlots, type ProviderSlots } from "./provider_slots.ts";
import { type InFlight, newInFlight } from "./in_flight.ts";

/** Mutable state of the gateway that outlives a configuration. */
export interface GatewayState {
  /** Start of the process, on the world's clock. */
  readonly began: number;
  /** Start of the process, in seconds since 1970. */
  readonly since: number;
  readonly breakers: Breakers;
  readonly balancers: Balancers;
  readonly slots: ProviderSlots;
  readonly buckets: Buckets;
  readonly catalogs: Catalogs;
  readonly cache: ResponseCache;
  readonly inFlight: InFlight;
  readonly admission: Admission;
  /** Stored objects of clients. All other state is local to the process and synchronous. */
  readonly objects: ObjectStore;
}

/** Returns empty state. It lives as long as the process. `retention` bounds the stored objects. */
export function newGatewayState(
  world: World,
  caching: CacheSettings,
  server: AdmissionLimits,
  retention: Retention,
): GatewayState {
  const now = () => world.now();
  return {
    began: world.now(),
    since: world.unix(),
    breakers: newBreakers(now),
    balancers: newBalancers(() => world.random()),
    slots: newProviderSlots((ms, run) => world.after(ms, run)),
    buckets: newBuckets(now),
    catalogs: newCatalogs(now),
    cache: newResponseCache(caching, now),
    inFlight: newInFlight(),
    admission: newAdmission(server),
    objects: newMemoryObjectStore(now, retention),
  };
}
