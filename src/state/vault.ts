import type { World } from "../core/world.ts";
import { type Admission, type AdmissionLimits, newAdmission } from "./admission.ts";
import { type Balancers, balancers } from "./balancers.ts";
import { type Bindings, newBindings } from "./bindings.ts";
import { type Breakers, breakers } from "./breakers.ts";
import { type Buckets, buckets } from "./buckets.ts";
import { type Catalogs, catalogs } from "./catalogs.ts";
import { type Conversations, newConversations } from "./conversations.ts";
import { type CacheSettings, newResponseCache, type ResponseCache } from "./response_cache.ts";
import { newProviderSlots, type ProviderSlots } from "./provider_slots.ts";
import { type InFlight, newInFlight } from "./in_flight.ts";
import { newSnapshots, type Snapshots } from "./snapshots.ts";

/** Everything that changes while the gateway runs and outlives one configuration. */
export interface Vault {
  /** When the process began, on the world's clock. */
  readonly began: number;
  /** The same in seconds since 1970. */
  readonly since: number;
  readonly breakers: Breakers;
  readonly balancers: Balancers;
  readonly slots: ProviderSlots;
  readonly buckets: Buckets;
  readonly catalogs: Catalogs;
  readonly cache: ResponseCache;
  readonly inFlight: InFlight;
  readonly admission: Admission;
  readonly snapshots: Snapshots;
  readonly conversations: Conversations;
  /** Which provider account owns an object that was created through the gateway. */
  readonly bindings: Readonly<Record<BoundType, Bindings>>;
}

/** The types of objects that have owners. */
export type BoundType = "chat_completion" | "response" | "conversation";

/** An empty vault; one lives as long as the process. */
export function newVault(world: World, caching: CacheSettings, server: AdmissionLimits): Vault {
  const now = () => world.now();
  const snapshots = newSnapshots(now);
  return {
    began: world.now(),
    since: world.unix(),
    breakers: breakers(now),
    balancers: balancers(() => world.random()),
    slots: newProviderSlots((ms, run) => world.after(ms, run)),
    buckets: buckets(now),
    catalogs: catalogs(now),
    cache: newResponseCache(caching, now),
    inFlight: newInFlight(),
    admission: newAdmission(server),
    snapshots,
    conversations: newConversations(now),
    bindings: {
      chat_completion: newBindings(now),
      // A response that has no owner any more is nobody's to see.
      response: newBindings(now, (id) => void snapshots.delete(id)),
      conversation: newBindings(now),
    },
  };
}
