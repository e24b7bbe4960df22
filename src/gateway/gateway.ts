import { coalesced } from "../observe/coalesced.ts";
import type { Config, ProviderConfig } from "../config/schema.ts";
import type { RequestHeaders } from "../core/header_fields.ts";
import type { World } from "../core/world.ts";
import type { RecordSizes } from "../observe/gauges.ts";
import { type Metrics, newMetrics } from "../observe/metrics.ts";
import type { CallReport, Sink } from "../observe/report.ts";
import { usesLoads } from "../traffic/balancers.ts";
import type { LoopTurns } from "../traffic/loop_turns.ts";
import type { SlotLimits } from "../traffic/provider_slots.ts";
import { type GatewayState, newGatewayState } from "../store/gateway_state.ts";
import type { GatewayStore } from "../store/gateway_store.ts";
import { retentionOf } from "../store/retention.ts";
import type { KeyListener } from "../traffic/key_rests.ts";
import { breakerState, countResting } from "../routing/accounts.ts";
import { hasPool } from "../routing/key_pool.ts";
import type { Call, Capture } from "../call/call.ts";
import { hideClientKey } from "../access/client_key_mask.ts";
import { changesBetween } from "./changes.ts";
import { compile, type Divide } from "./compile.ts";
import type { Generation } from "../call/generation.ts";
import type { Log } from "../observe/log.ts";

/** Receives the report of a call that begins, with the header fields of its request. */
export type BeginningListener = (report: CallReport, headers: RequestHeaders) => void;

/** The running gateway: dependencies and state of every call. */
export interface Gateway {
  /** The current configuration; calls in flight use the configuration with which they began. */
  readonly generation: Generation;
  readonly state: GatewayState;
  readonly world: World;
  readonly metrics: Metrics;
  /** Host name of this machine; empty if it is not known. */
  readonly hostname: string;
  /**
   * Receives the report of each call that begins, with the header fields of its request; null while
   * the admin page is off and no spans are exported.
   */
  readonly began: BeginningListener | null;
  /**
   * Returns the capture of a call that begins; null while data sharing is off and the call has no
   * record.
   */
  newCapture(call: Call): Capture | null;
  /** Receives the plan of each call in place of the providers; null if calls are sent. */
  readonly planned: Call["planned"];
  /**
   * Ends a call, which happens once: passes its report to the sinks and shares its content. Never
   * throws: the error of one sink does not affect any other.
   */
  ended(call: Call): void;
  /** Applies a validated configuration from the next call on. Returns the changes in words. */
  reload(config: Config): readonly string[];
  /** Calls `listener` after each reload. Returns a function that ends this. */
  onReload(listener: () => void): () => void;
}

/** Optional dependencies of a gateway. */
export interface GatewayOptions {
  /** Host name of this machine; empty if it is not known. */
  readonly hostname?: string;
  /** Absent while the admin page is off and no spans are exported. */
  readonly began?: BeginningListener;
  /** Returns the size of the file of recorded calls; absent if none are recorded. */
  readonly records?: () => RecordSizes;
  /** Absent if no content is ever shared or recorded. */
  readonly newCapture?: Gateway["newCapture"];
  /** Receives the plan of each call, and returns its end; absent if calls are sent. */
  readonly planned?: Gateway["planned"];
  /**
   * Receives the error of a sink, which is a bug; by default it is reported as an uncaught error.
   */
  readonly onBug?: (error: unknown) => void;
  /** Store of the objects of clients; absent for the memory of the process. */
  readonly store?: GatewayStore | null;
  /** The turns that the store has; absent for own ones. */
  readonly turns?: LoopTurns;
  /** Returns the metrics of all workers in the text format; absent for those of this process. */
  readonly scrape?: Metrics["scrape"];
  /** Absent for a gateway of one process. */
  readonly divide?: Divide;
  /** True while the heap of the process is nearly full; absent where it is not known. */
  readonly isHeapFull?: () => boolean;
  /** Receives each key of a pool that begins to rest because its provider rejected it. */
  readonly onKeyRejected?: KeyListener;
}

/** Returns a gateway without calls. Each sink receives the report of every call. */
export function newGateway(
  first: Generation,
  world: World,
  sinks: readonly Sink[],
  options: GatewayOptions = {},
): Gateway {
  const { hostname = "", newCapture = () => null, onBug = reportError } = options;
  let current: Generation = { ...first, loaded: world.unix() };
  const { caching, server, state: settings } = first.config;
  const state = newGatewayState(
    world,
    {
      caching,
      server,
      retention: settings.store === "none" ? null : retentionOf(settings),
      maxItems: settings.max_items,
      usageDays: settings.usage_days,
    },
    options,
  );
  configure(state, first);
  const ownMetrics = newMetrics({
    config: () => gateway.generation.config,
    keyLabels: first.config.observability.key_labels,
    breakers: () => breakersOf(gateway),
    slots: () => slotCounts(gateway),
    restingKeys: () => restingKeys(gateway),
    credentials: () => credentialTimes(gateway),
    issuerKeys: () => issuerKeys(gateway),
    cache: () => state.cache,
    stores: () => state.objects.stats(),
    isStateUp: () => state.availability?.isUp() ?? true,
    records: options.records ?? (() => null),
    pendingWrites: () => state.availability?.pendingWrites() ?? 0,
    bodyBytes: state.admission.bodyBytes,
    responseBytes: state.admission.responseBytes,
  });
  const scrape = options.scrape ?? coalesced(ownMetrics.scrape, world);
  const metrics = { ...ownMetrics, scrape };
  const allSinks = [metrics.sink, ...sinks];
  const reloadListeners = new Set<() => void>();

  function isolated(task: () => void): void {
    try {
      task();
    } catch (error) {
      onBug(error);
    }
  }

  const gateway: Gateway = {
    get generation() {
      return current;
    },
    state: state,
    world,
    metrics,
    hostname,
    began: options.began ?? null,
    newCapture,
    planned: options.planned ?? null,
    ended(call) {
      isolated(() => hideClientKey(call));
      // The capture says in the report what is recorded, which the access line has.
      isolated(() => call.capture?.end(call));
      for (const sink of allSinks) isolated(() => sink(call.report));
    },
    reload(config) {
      const previous = current;
      const compiled = compile(config, previous.number + 1, previous, options.divide);
      const next = { ...compiled, loaded: world.unix() };
      state.cache.apply(previous.config.caching, next.config.caching);
      configure(state, next);
      current = next;
      for (const listener of [...reloadListeners]) isolated(listener);
      return changesBetween(previous.config, next.config);
    },
    onReload(listener) {
      reloadListeners.add(listener);
      return () => void reloadListeners.delete(listener);
    },
  };
  return gateway;
}

/** Applies the parts of a configuration on which state depends. */
function configure({ slots, loads }: GatewayState, generation: Generation): void {
  slots.configure(slotLimits(generation));
  loads.configure(generation.routes.some(({ strategy }) => usesLoads(strategy)));
}

function* slotLimits({ providers }: Generation) {
  for (const provider of providers.values()) yield [provider, limitsOf(provider.settings)] as const;
}

function limitsOf(settings: ProviderConfig): SlotLimits | null {
  const { max_concurrent, max_queued, queue_timeout } = settings;
  if (max_concurrent === undefined) return null;
  return {
    maxConcurrent: max_concurrent,
    maxQueued: max_queued,
    queueTimeoutMs: queue_timeout,
  };
}

/** Yields the slot counts of providers with a limit. */
function* slotCounts({ generation, state }: Gateway) {
  for (const provider of generation.providers.values()) {
    if (provider.settings.max_concurrent === undefined) continue;
    yield [provider.id, state.slots.counts(provider)] as const;
  }
}

function* breakersOf({ generation, state }: Gateway) {
  const { enabled } = generation.config.circuit_breaker;
  for (const provider of generation.providers.values()) {
    // A disabled breaker admits every attempt, whatever its state was before.
    yield [provider.id, enabled ? breakerState({ state }, provider) : "closed"] as const;
  }
}

/** Yields the number of resting keys of each provider with a pool. */
function* restingKeys({ generation, state }: Gateway) {
  for (const provider of generation.providers.values()) {
    if (hasPool(provider)) yield [provider.id, countResting({ state }, provider)] as const;
  }
}

/**
 * Returns the seconds until the end of the credential of each provider that has one with an end: of
 * several keys, that which ends first.
 */
function credentialTimes({ generation, world }: Gateway): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { holder, providers } of generation.credentials.values()) {
    const issued = holder.issued();
    if (issued?.expiresMs === null) continue;
    const leftMs = issued === null ? 0 : issued.expiresMs - world.wall();
    const leftS = Math.max(0, Math.round(leftMs / 1_000));
    for (const id of providers) times.set(id, Math.min(leftS, times.get(id) ?? Infinity));
  }
  return times;
}

/** Yields the keys of each issuer of tokens that has some. */
function* issuerKeys({ generation: { tokens }, world }: Gateway) {
  for (const { name, source } of tokens?.issuers ?? []) {
    const state = tokens?.keySets.state(source, world.now()) ?? null;
    if (state !== null) yield [name, state] as const;
  }
}

/**
 * Returns a listener that logs one warning for each rest of a rejected key, with its name and never
 * its value.
 */
export function newKeyWarning(log: Log): KeyListener {
  return ({ provider, name }, status, ms, model) =>
    log.warn("the provider refused a key, which rests", {
      provider,
      key: name,
      ...model !== undefined && { model },
      status,
      rest_ms: Math.round(ms),
    });
}
