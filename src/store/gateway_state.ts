import { refuse } from "../core/failure/result.ts";
import type { World } from "../core/world.ts";
import { type Admission, type AdmissionLimits, newAdmission } from "../traffic/admission.ts";
import { type Balancers, newBalancers } from "../traffic/balancers.ts";
import { type Breakers, newBreakers } from "../traffic/breakers.ts";
import { type Catalogs, newCatalogs } from "../traffic/catalogs.ts";
import type { Availability, GatewayStore } from "./gateway_store.ts";
import { interceptedObjects } from "./intercepted_objects.ts";
import { type LeaseRenewal, newLeaseRenewal } from "./lease_renewal.ts";
import { newMemoryObjectStore } from "./memory/object_store.ts";
import { newMemoryValues } from "./memory/privacy_values.ts";
import { newMemoryQuotas } from "./memory/quotas.ts";
import type { ObjectStore } from "./object_store.ts";
import { newDirectOutcomes, type OutcomeStore } from "./outcome_store.ts";
import type { QuotaStore } from "./quota_store.ts";
import type { Retention } from "./retention.ts";
import { type CacheSettings, newResponseCache, type ResponseCache } from "./response_cache.ts";
import { newSharedCache, type SharedCache } from "./shared_cache.ts";
import { newMemoryUsage, newStoredUsage, type UsageLog } from "./usage/usage.ts";
import { newProviderSlots, type ProviderSlots } from "../traffic/provider_slots.ts";
import { type KeyListener, type KeyRests, newKeyRests } from "../traffic/key_rests.ts";
import { newTargetLoads, type TargetLoads } from "../traffic/target_loads.ts";
import { newObjectValues, NO_VALUES, type ObjectValues } from "./object_values.ts";
import { newReadTurns, type ReadTurns } from "./read_turns.ts";
import { newSubjects, type Subjects } from "../traffic/subjects.ts";
import { type InFlight, newInFlight } from "../traffic/in_flight.ts";
import { type LoopTurns, newLoopTurns } from "../traffic/loop_turns.ts";

/** Mutable state of the gateway that outlives a configuration. */
export interface GatewayState {
  /** Start of the process, on the world's clock. */
  readonly began: number;
  /** Start of the process, in seconds since 1970. */
  readonly since: number;
  readonly breakers: Breakers;
  readonly balancers: Balancers;
  /** Balancers of the keys of each provider, by provider ID. */
  readonly keyBalancers: Balancers;
  readonly keyRests: KeyRests;
  readonly loads: TargetLoads;
  readonly slots: ProviderSlots;
  readonly catalogs: Catalogs;
  readonly cache: ResponseCache;
  /** Cached responses in the state store. */
  readonly sharedCache: SharedCache | null;
  readonly inFlight: InFlight;
  readonly admission: Admission;
  /** Turns of the work of calls in the event loop. */
  readonly turns: LoopTurns;
  /** Stored objects of clients. */
  readonly objects: ObjectStore;
  /** Maximum number of items of a response that the gateway stores, with those before it. */
  readonly maxItems: number;
  /** Values of the objects that providers store with tokens in their place. */
  readonly values: ObjectValues;
  /** Turns of the operations that bring whole objects out of a store. */
  readonly readTurns: ReadTurns;
  /** Writes to the stored objects that follow from responses of upstreams. */
  readonly outcomes: OutcomeStore;
  /** Null for objects in the memory of the process, which are always available, and for none. */
  readonly availability: Availability | null;
  /** Rates, concurrent calls and sums of clients. All other state is local and synchronous. */
  readonly quotas: QuotaStore;
  /** Clients that the configuration does not name, with limits that this process counts. */
  readonly subjects: Subjects;
  /** Usage of client keys by day. */
  readonly usage: UsageLog;
  /** Concurrent calls of clients that run in this process. */
  readonly leases: LeaseRenewal;
}

/** Settings of the state, as they are when the process starts. */
interface StartSettings {
  readonly caching: CacheSettings;
  readonly server: AdmissionLimits;
  /** Bounds of the objects in memory; null to store no objects at all. */
  readonly retention: Retention | null;
  /** Maximum number of items of a stored response. */
  readonly maxItems: number;
  /** Number of days for which usage is stored; none if absent. */
  readonly usageDays?: number;
}

/** Parts of the state that the process opens, and listeners to it. */
interface StateDependencies {
  /** Store of the objects of clients; null for the memory of the process. */
  readonly store?: GatewayStore | null;
  /** The turns that the store has. */
  readonly turns?: LoopTurns;
  /** True while the heap of the process is nearly full; absent where it is not known. */
  readonly isHeapFull?: () => boolean;
  /** Receives each key of a pool that begins to rest because its provider rejected it. */
  readonly onKeyRejected?: KeyListener;
}

/** Returns empty state. It lives as long as the process. */
export function newGatewayState(
  world: World,
  { caching, server, retention, maxItems, usageDays = 0 }: StartSettings,
  { store = null, onKeyRejected = () => {}, ...given }: StateDependencies = {},
): GatewayState {
  const now = () => world.now();
  const random = () => world.random();
  const loads = newTargetLoads();
  const turns = given.turns ?? newLoopTurns(
    world,
    () => state.admission.count(),
    () => state.admission.refused(),
  );
  const objects = store?.objects ??
    (retention === null ? newNoObjects(now) : newMemoryObjectStore(now, retention, turns));
  const state: GatewayState = {
    began: world.now(),
    since: world.unix(),
    breakers: newBreakers(now),
    balancers: newBalancers(random, loads),
    keyBalancers: newBalancers(random, loads),
    loads,
    keyRests: newKeyRests(now, onKeyRejected),
    slots: newProviderSlots((ms, run) => world.after(ms, run)),
    catalogs: newCatalogs(now),
    cache: newResponseCache(caching, now),
    sharedCache: store === null
      ? null
      : newSharedCache(store.cachedResponses, store.availability.isUp, turns),
    inFlight: newInFlight(),
    admission: newAdmission(server, given.isHeapFull),
    turns,
    objects,
    maxItems,
    values: retention === null
      ? NO_VALUES
      : newObjectValues(newMemoryValues(now, retention), store?.privacyValues ?? null),
    readTurns: newReadTurns(),
    outcomes: store?.outcomes ?? newDirectOutcomes(objects),
    availability: store?.availability ?? null,
    quotas: store?.quotas ?? newMemoryQuotas(now),
    subjects: newSubjects(now, store?.quotas.earlier),
    usage: store === null
      ? newMemoryUsage(usageDays)
      : newStoredUsage(store.usage, world, usageDays),
    leases: newLeaseRenewal((running) => state.quotas.renew(running), world),
  };
  return state;
}

/**
 * Returns a store that stores nothing, for `state.store: none`. Every operation on an object is
 * refused: an ID of it is neither known nor unknown, and a write must not look successful.
 * Reasoning is never found, as if it had expired, because clients do not ask for it.
 */
function newNoObjects(now: () => number): ObjectStore {
  const empty = newMemoryObjectStore(now, { ttlMs: 0, ownerTtlMs: 0, maxObjects: 0, maxBytes: 0 });
  const refused = interceptedObjects(
    empty,
    () =>
      Promise.resolve(
        refuse("state_disabled", "This gateway stores nothing (state.store is none)."),
      ),
  );
  return { ...refused, reasoning: empty.reasoning, storesNothing: true };
}
