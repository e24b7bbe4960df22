import { type RequestType, ROUTED_PATHS } from "../core/endpoint.ts";
import type { Call } from "../call/call.ts";
import type { Route } from "../call/generation.ts";
import type { PresentedKey } from "../access/permissions.ts";
import { requestedFrom, type RequestedModel } from "./requested_model.ts";
import { decodeHeaderText } from "../core/header_fields.ts";

/** The parts of a call that routes are matched by. */
export type RouteInput = Pick<Call, "path" | "headers" | "controls" | "generation" | "client">;

/** Returns the reason for which a route does not match a call; null if it matches. */
export function mismatchReason(
  route: Route,
  call: RouteInput,
  type: RequestType,
  requested: RequestedModel,
): string | null {
  if (call.controls.route !== null && route.name !== call.controls.route) {
    return "another route is forced";
  }
  if (!call.path.startsWith(route.path)) return `the path does not begin with ${route.path}`;
  const header = route.headers.find(([name, value]) =>
    findHeader(name, call, type, requested) !== value
  );
  if (header !== undefined) return `the header ${header[0]} does not match`;
  const isForKeys = route.keys !== null || route.labels.length > 0;
  const other = isForKeys ? keyMismatch(route, call.client.key) : null;
  if (other !== null || route.models === null) return other;
  // The route of a named model is requested by its own name too.
  if (route.preset !== undefined) {
    if (call.controls.route !== null) return null;
    return requestedFrom(route, requested).isNamed === true
      ? null
      : "the model is not the named one";
  }
  const names = namesOf(requested);
  const isListed = route.models.some((isMeant) => names.some(isMeant));
  return isListed ? null : "the model is not among those it matches";
}

/** Returns the reason for which a route does not match a client key; null if it matches. */
export function keyMismatch({ keys, labels }: Route, key: PresentedKey): string | null {
  if (keys !== null && (key === null || !keys.some((isMeant) => isMeant(key.name)))) {
    return "the client key is not among those it matches";
  }
  const label = labels.find(([name, value]) => key?.labels.get(name) !== value);
  return label === undefined ? null : `the client key has no label ${label.join("=")}`;
}

/**
 * Returns the bare name of the requested model and, if a provider is requested too, the canonical
 * name.
 */
function namesOf({ provider, written }: RequestedModel): string[] {
  return provider === null ? [written] : [written, `${provider}/${written}`];
}

/** The call and the request type that a route is matched by. */
export interface MatchInput {
  readonly input: RouteInput;
  readonly type: RequestType;
}

/**
 * Returns the match input of a call: its first request type that a route matches, with the path of
 * that type. If no route matches any of its request types, returns the last request type.
 */
export function findMatchInput(
  input: RouteInput,
  [type, ...alternatives]: readonly [RequestType, ...RequestType[]],
  requested: RequestedModel,
): MatchInput {
  const { headers, controls, generation, client } = input;
  // The type of a relayed endpoint is its usual path, by which calls on its other paths match too.
  const isUsual = !type.startsWith("/") || type === input.path;
  let matched: MatchInput = { input: isUsual ? input : { ...input, path: type }, type };
  for (const alternative of alternatives) {
    if (findRoute(matched, requested) !== null) break;
    const path = ROUTED_PATHS[alternative];
    matched = { input: { path, headers, controls, generation, client }, type: alternative };
  }
  return matched;
}

/** Returns the first matching route in file order; null if no route matches. */
export function matchRoute(
  call: RouteInput,
  types: readonly [RequestType, ...RequestType[]],
  requested: RequestedModel,
): Route | null {
  return findRoute(findMatchInput(call, types, requested), requested);
}

function findRoute({ input, type }: MatchInput, requested: RequestedModel): Route | null {
  const { routes } = input.generation;
  return routes.find((route) => mismatchReason(route, input, type, requested) === null) ?? null;
}

/**
 * Returns a header value for matching. Three headers are computed, so that no client can forge
 * them.
 */
function findHeader(
  name: string,
  call: RouteInput,
  type: RequestType,
  requested: RequestedModel,
): string | null {
  switch (name) {
    case "x-gateway-request-type":
      return type;
    case "x-gateway-model":
      return requested.written === "" ? null : requested.written;
    case "x-gateway-provider":
      return requested.provider;
    default: {
      const written = call.headers.get(name);
      return written === null ? null : decodeHeaderText(written);
    }
  }
}
