import type { Config, ProviderConfig } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { type Metrics, newMetrics } from "../observe/metrics.ts";
import type { Sink } from "../observe/report.ts";
import type { SlotLimits } from "../state/provider_slots.ts";
import { applyCaching } from "../state/response_cache.ts";
import { newVault, type Vault } from "../state/vault.ts";
import { changesBetween } from "./changes.ts";
import { compile } from "./compile.ts";
import type { Generation } from "./generation.ts";

/** The running gateway: what calls get from it when they begin. */
export interface Gateway {
  /** The one that new calls get; those that run keep theirs. */
  readonly generation: Generation;
  readonly vault: Vault;
  readonly world: World;
  readonly metrics: Metrics;
  /** What this machine is called; empty when that is not known. */
  readonly hostname: string;
  /** Each gets the report of every call once, when the call is over. */
  readonly sinks: readonly Sink[];
  /** Serves another checked configuration from the next call on; the result says what has changed. */
  reload(config: Config): readonly string[];
}

/** A gateway that has not served anything yet. */
export function newGateway(
  first: Generation,
  world: World,
  sinks: readonly Sink[],
  hostname = "",
): Gateway {
  let current = first;
  const vault = newVault(world, first.config.caching, first.config.server);
  vault.slots.configure(slotLimits(first));
  const metrics = newMetrics({
    config: () => gateway.generation.config,
    breakers: () => breakersOf(gateway),
    slots: () => slotCounts(gateway),
    cache: () => vault.cache,
    stores: () => vault.objects.stats(),
    bodyBytes: vault.admission.bodyBytes,
  });
  const gateway: Gateway = {
    get generation() {
      return current;
    },
    vault,
    world,
    metrics,
    hostname,
    sinks: [metrics.sink, ...sinks],
    reload(config) {
      const previous = current;
      const next = compile(config, previous.number + 1, previous);
      applyCaching(vault.cache, previous.config.caching, config.caching);
      vault.slots.configure(slotLimits(next));
      current = next;
      return changesBetween(previous.config, config);
    },
  };
  return gateway;
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

/** Only providers with a limit are counted. */
function* slotCounts({ generation, vault }: Gateway) {
  for (const provider of generation.providers.values()) {
    if (provider.settings.max_concurrent === undefined) continue;
    yield [provider.id, vault.slots.counts(provider)] as const;
  }
}

function* breakersOf({ generation, vault }: Gateway) {
  const { enabled } = generation.config.circuit_breaker;
  for (const { id, account } of generation.providers.values()) {
    // A breaker that is switched off lets everything pass, whatever it was before.
    yield [id, enabled ? vault.breakers.state(account) : "closed"] as const;
  }
}
