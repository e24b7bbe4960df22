import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { matchText, targetShare, writtenRoutes } from "../routing/route_text.ts";
import type { Feed } from "./feed.ts";
import { FALLBACK_PREFIX, NO_CALLS } from "./route_window.ts";
import type { RouteView, TargetView } from "./snapshot.ts";

/** Returns the routes in the order of the file. */
export function routeViews(
  generation: Generation,
  feed: Pick<Feed, "route">,
): readonly RouteView[] {
  return writtenRoutes(generation).map(({ route, match }): RouteView => {
    const counts = feed.route(route.name);
    const allServed = counts.values().reduce((sum, { served }) => sum + served, 0);
    const allFailed = counts.values().reduce((sum, { failed }) => sum + failed, 0);
    const view = (target: RouteTarget, key: string, share: number | null): TargetView => {
      const { served, failed } = counts.get(key) ?? NO_CALLS;
      return {
        provider: target.provider.id,
        model: target.model,
        share,
        calls: served + failed,
        failed,
        servedShare: allServed === 0 ? null : served / allServed,
      };
    };
    return {
      name: route.name,
      match: matchText(match),
      strategy: route.strategy,
      calls: allServed + allFailed,
      failed: allFailed,
      targets: route.targets.map((target) => view(target, target.key, shareOf(target, route))),
      fallbacks: route.fallback.map((target) => view(target, FALLBACK_PREFIX + target.key, null)),
    };
  });
}

/** Returns the share of a target among all that are not drained; null if it depends on times. */
function shareOf(target: RouteTarget, { targets, strategy }: Route): number | null {
  const open = targets.filter(({ weight }) => weight > 0);
  return target.weight === 0 ? 0 : targetShare(target, open, strategy);
}
