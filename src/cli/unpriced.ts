import type { ClientKey } from "../call/client_key.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { hasBudget, refuseModel, refuseUnpriced } from "../call/permissions.ts";
import { keyMismatch } from "../routing/match.ts";
import { resolveModel } from "../routing/eligible.ts";

/**
 * Returns a line for each client key with a budget in USD and each route, if the key may use targets of
 * the route that have no price. Models that only clients name are not known here.
 */
export function unpricedLines(generation: Generation): string[] {
  return generation.clientKeys.filter((key) => hasBudget(key, "nanoUsd")).flatMap((key) =>
    generation.routes.flatMap((route) => {
      if (keyMismatch(route, key) !== null) return [];
      const names = unpricedTargets(generation, route, key);
      return names.length === 0 ? [] : [
        `client key ${key.name}, route ${route.name}: ${names.join(", ")} ` +
        "has no price in pricing, so the budget in USD refuses it",
      ];
    })
  );
}

function unpricedTargets({ config }: Generation, route: Route, key: ClientKey): string[] {
  const open = route.targets.filter(({ weight }) => weight > 0);
  const names = [...open, ...route.fallback].flatMap((target) => {
    const { provider } = target;
    const model = knownModel(target);
    const isUnpriced = model !== null && refuseModel(key, provider.id, model) === null &&
      refuseUnpriced(key, config, provider.id, model) !== null;
    return isUnpriced ? [`${provider.id}/${model}`] : [];
  });
  return [...new Set(names)];
}

/** Returns the model of a target for a request that names none; null if it has none. */
function knownModel(target: RouteTarget): string | null {
  return resolveModel(target, { provider: null, model: null, written: "" });
}
