import type { Generation, Route } from "../call/generation.ts";
import { MAX_MINUTES, newTimeRing } from "./time_ring.ts";

/** The call whose target served it. */
export interface ServedCall {
  readonly route: string | null;
  readonly provider: string | null;
  readonly model: string | null;
}

/** Calls that the targets of all routes have served in the last 15 minutes. */
export interface RouteWindow {
  add(minute: number, generation: Generation, call: ServedCall): void;
  /** Returns the calls of a route by the keys of its targets, those of fallbacks with a prefix. */
  read(minute: number, route: string): ReadonlyMap<string, number>;
}

/** Prefix of the keys of fallbacks, which may be targets too. */
export const FALLBACK_PREFIX = "fallback ";

/** Returns a window without calls. It counts by the targets of the file, so clients cannot enlarge it. */
export function newRouteWindow(): RouteWindow {
  const ring = newTimeRing(MAX_MINUTES, () => new Map<string, Map<string, number>>());

  return {
    add(minute, { routes }, { route: name, provider, model }) {
      const route = routes.find((one) => one.name === name);
      const key = route === undefined ? null : findTarget(route, provider, model);
      if (route === undefined || key === null) return;
      const byRoute = ring.at(minute);
      const counts = byRoute.get(route.name) ?? new Map<string, number>();
      byRoute.set(route.name, counts);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    read(minute, route) {
      const sums = new Map<string, number>();
      for (const byRoute of ring.until(minute)) {
        for (const [key, count] of byRoute.get(route) ?? []) {
          sums.set(key, (sums.get(key) ?? 0) + count);
        }
      }
      return sums;
    },
  };
}

/** Returns the key of the target that a provider and model belong to; null if the route has none. */
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
