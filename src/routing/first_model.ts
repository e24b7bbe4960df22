import { newCallClient, parseControls } from "../call/call.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { ROUTED_PATHS } from "../core/endpoint.ts";
import { matchesModel, matchesProvider } from "./eligible.ts";
import { matchRoute, mismatchReason, type RouteInput } from "./match.ts";
import { writtenRoutes } from "./route_text.ts";
import { parseRequestedModel } from "./requested_model.ts";

/** Placeholder of a model if the file names none. */
export const PLACEHOLDER = "MODEL";

const TYPE = "chat_completions";

/**
 * Returns a model, as `<provider>/<model>`, for which a chat call without headers is served, from
 * the first route where the file names one; else with the placeholder. Null if every route requires
 * more than a model.
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
  const headers = new Headers();
  const path = ROUTED_PATHS.chat_completions;
  const controls = parseControls(headers);
  const call: RouteInput = { path, headers, controls, generation, client: newCallClient() };
  for (const { route, match } of writtenRoutes(generation)) {
    const listed = match.models ?? [];
    for (const target of route.targets) {
      const { id } = target.provider;
      const found = names(target, listed).map((name) =>
        name.startsWith(`${id}/`) ? name : `${id}/${name}`
      ).find((model) => isServed(model, route, call));
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

function isServed(model: string, route: Route, call: RouteInput): boolean {
  const requested = parseRequestedModel(call, model);
  // Before the routes are searched: a file may list many models for routes that require headers.
  if (!requested.ok || mismatchReason(route, call, TYPE, requested.value) !== null) return false;
  if (matchRoute(call, [TYPE], requested.value) !== route) return false;
  return route.targets.some((target) =>
    target.weight > 0 && matchesProvider(target, requested.value) &&
    matchesModel(target, requested.value)
  );
}
