import { newCallClient, parseControls } from "../call/call.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { ROUTED_PATHS } from "../core/endpoint.ts";
import { matchesModel, matchesProvider } from "./eligible.ts";
import { matchRoute } from "./match.ts";
import { parseRequestedModel } from "./requested_model.ts";

/** Placeholder of a model if the file names none. */
export const PLACEHOLDER = "MODEL";

/**
 * Returns a model, as `<provider>/<model>`, for which a chat call without headers is served, from the
 * first route where the file names one; else with the placeholder. Null if every route requires more than
 * a model.
 */
export function firstModel(generation: Generation): string | null {
  return findModel(generation, knownModels) ?? findModel(generation, () => [PLACEHOLDER]);
}

/** Returns the same for models that the file names; null if it names none for such a call. */
export function firstKnownModel(generation: Generation): string | null {
  return findModel(generation, knownModels);
}

function findModel(
  generation: Generation,
  names: (target: RouteTarget, listed: readonly string[]) => readonly string[],
): string | null {
  for (const [index, route] of generation.routes.entries()) {
    const listed = generation.config.routing.routes[index]?.match.models ?? [];
    for (const target of route.targets) {
      const { id } = target.provider;
      const found = names(target, listed).map((name) =>
        name.startsWith(`${id}/`) ? name : `${id}/${name}`
      ).find((model) => isServed(model, route, generation));
      if (found !== undefined) return found;
    }
  }
  return null;
}

function knownModels(target: RouteTarget, listed: readonly string[]): readonly string[] {
  const { default_model, models } = target.provider.settings;
  if (target.model !== null) return [target.model];
  const literal = listed.filter((name) => !name.includes("*"));
  return [...(default_model === undefined ? [] : [default_model]), ...models.static, ...literal];
}

function isServed(model: string, route: Route, generation: Generation): boolean {
  const headers = new Headers();
  const call = {
    path: ROUTED_PATHS.chat_completions,
    headers,
    controls: parseControls(headers),
    generation,
    client: newCallClient(),
  };
  const requested = parseRequestedModel(call, model);
  if (!requested.ok || matchRoute(call, ["chat_completions"], requested.value) !== route) {
    return false;
  }
  return route.targets.some((target) =>
    target.weight > 0 && matchesProvider(target, requested.value) &&
    matchesModel(target, requested.value)
  );
}
