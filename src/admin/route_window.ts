import type { Usage } from "../core/stream/events.ts";
import type { Generation, Route } from "../call/generation.ts";
import type { CallReport } from "../observe/report.ts";
import { addTime, type Histogram, newHistogram, quantile } from "./histogram.ts";
import { MAX_MINUTES, newTimeRing } from "./second_ring.ts";
import type { TargetView } from "./snapshot.ts";

/** A call that its route served, or that failed. */
export interface RoutedCall {
  readonly route: string | null;
  /** The last target; null if the call had none. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly usage: Pick<Usage, "input" | "cached"> | null;
  readonly ms: { readonly earlyHead: number | null };
  readonly attempts: CallReport["attempts"];
}

/** Times to the first content of streams, in milliseconds; null before the first stream. */
export type FirstContent = TargetView["firstContent"];

/** Numbers of served and failed calls, and of their input tokens. */
export interface RouteCounts {
  readonly served: number;
  readonly failed: number;
  readonly input: number;
  /** Input tokens that the provider has read from its prompt cache. */
  readonly cached: number;
  /** Calls whose head was sent early. */
  readonly early: number;
}

/** Prefix of the keys of fallbacks, which may be targets too. */
export const FALLBACK_PREFIX = "fallback ";

/** Key of calls that failed before they had a target of the route. */
const NO_TARGET = "";

/** Counts without calls. */
export const NO_CALLS: RouteCounts = { served: 0, failed: 0, input: 0, cached: 0, early: 0 };

/**
 * Returns the calls of all routes by their last target in the last 15 minutes. It counts by the
 * targets of the file, so clients cannot enlarge it.
 */
export function newRouteWindow() {
  const ring = newTimeRing(MAX_MINUTES, () => new Map<string, Map<string, RouteCounts>>());
  const contents = newTimeRing(MAX_MINUTES, () => new Map<string, Histogram>());

  return {
    add(
      minute: number,
      { routes }: Generation,
      { route: name, provider, model, usage, ms, attempts }: RoutedCall,
      end: "served" | "failed",
    ): void {
      const route = routes.find((one) => one.name === name);
      if (route === undefined) return;
      for (const { provider, model, firstContentMs } of attempts) {
        const key = firstContentMs === undefined ? null : findTarget(route, provider, model);
        if (key === null || firstContentMs === undefined) continue;
        const times = contents.at(minute).get(contentKey(name, key)) ?? newHistogram();
        contents.at(minute).set(contentKey(name, key), times);
        addTime(times, firstContentMs);
      }
      const target = findTarget(route, provider, model);
      if (target === null && end === "served") return;
      const byRoute = ring.at(minute);
      const counts = byRoute.get(route.name) ?? new Map<string, RouteCounts>();
      byRoute.set(route.name, counts);
      const key = target ?? NO_TARGET;
      const { input = 0, cached = 0 } = usage ?? {};
      const early = ms.earlyHead === null ? 0 : 1;
      const call = { ...NO_CALLS, [end]: 1, input, cached, early };
      counts.set(key, sum(counts.get(key) ?? NO_CALLS, call));
    },
    /**
     * Returns the calls of a route by the keys of its targets, those of fallbacks with a prefix.
     */
    read(minute: number, route: string): ReadonlyMap<string, RouteCounts> {
      const sums = new Map<string, RouteCounts>();
      for (const byRoute of ring.until(minute)) {
        for (const [key, counts] of byRoute.get(route) ?? []) {
          sums.set(key, sum(sums.get(key) ?? NO_CALLS, counts));
        }
      }
      return sums;
    },
    /** Returns the times to the first content of the streams of a target, by its key. */
    firstContent(minute: number, route: string, target: string): FirstContent {
      const times = contents.until(minute)
        .flatMap((one) => one.get(contentKey(route, target)) ?? []);
      const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => quantile(times, share));
      return { p50Ms: p50Ms ?? null, p95Ms: p95Ms ?? null, p99Ms: p99Ms ?? null };
    },
  };
}

function contentKey(route: string | null, target: string): string {
  return JSON.stringify([route, target]);
}

function sum(one: RouteCounts, other: RouteCounts): RouteCounts {
  return {
    served: one.served + other.served,
    failed: one.failed + other.failed,
    input: one.input + other.input,
    cached: one.cached + other.cached,
    early: one.early + other.early,
  };
}

/**
 * Returns the key of the target that a provider and model belong to; null if the route has none.
 */
function findTarget(
  { targets, fallback }: Route,
  provider: string | null,
  model: string | null,
): string | null {
  let open: string | null = null;
  for (const [prefix, list] of [["", targets], [FALLBACK_PREFIX, fallback]] as const) {
    for (const target of list) {
      if (target.provider.id !== provider) continue;
      if (target.model === model) return prefix + target.key;
      if (target.model === null) open ??= prefix + target.key;
    }
  }
  return open;
}
