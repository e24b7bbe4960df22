import { type Failed, fault, refuse, type Result, success } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import type { Candidate, Candidates, Inference } from "../call/inference.ts";
import { protocolOf, type RequiredTarget } from "../call/owner.ts";
import type { Route, RouteTarget } from "../call/generation.ts";
import { isModel, prepareTarget } from "./eligible.ts";
import { matchRoute } from "./match.ts";
import type { RequestedModel } from "./requested_model.ts";

/**
 * The plan of a call that continues something. Its one target is at the owner, with the route and the
 * model that it had, unless the client names others that lead to the same owner; there it may be
 * repeated, but nobody else is asked.
 */
export function planRequiredTarget(
  call: Call,
  inference: Inference,
  pin: RequiredTarget,
  wanted: RequestedModel,
): Result<Candidates> {
  const { provider, protocol } = pin;
  if (wanted.provider !== null && wanted.provider !== provider.id) {
    return refuse(
      "invalid_value",
      "What this request continues belongs to another provider; name that one or none.",
      "provider",
    );
  }
  const route = routeOf(call, inference, pin.origin?.route ?? null, wanted);
  if (route === null) {
    return fault("no_route", "No configured route matches this request.", { mayHaveRun: false });
  }
  call.report.route = route.name;
  const own = [...route.targets, ...route.fallback]
    .filter((target) => target.provider.id === provider.id);
  const able = own.filter(({ wire }) => protocolOf(wire) === protocol);
  if (own.length === 0 && wanted.provider !== null) return unavailable(route);
  if (able.length === 0) return noTarget(route, pin, own.length > 0);
  const attempt = preparedOf(route, inference, pin, wanted, able);
  return attempt.ok ? success([attempt.value]) : attempt;
}

function preparedOf(
  route: Route,
  inference: Inference,
  { provider, origin }: RequiredTarget,
  wanted: RequestedModel,
  able: readonly RouteTarget[],
): Result<Candidate> {
  const [first] = able;
  // Clients repeat the model they asked for, also when a fallback answered with another one.
  const stays = wanted.model === null || wanted.model === origin?.requestedModel ||
    wanted.model === origin?.model;
  if (origin !== null && stays && first !== undefined) {
    return inference.prepare({ provider, model: origin.model, wire: first.wire });
  }
  const target = able.find((one) => isModel(one, wanted));
  return target === undefined
    ? refuse(
      "model_not_found",
      `The route '${route.name}' has no target with the requested model at this provider.`,
      "model",
    )
    : prepareTarget(target, wanted, (one) => inference.prepare(one));
}

/** Refuses a provider that the client itself names and the route does not have. */
function unavailable({ name }: Route): Failed {
  return refuse(
    "provider_not_found",
    `The route '${name}' has no target with the requested provider.`,
    "provider",
  );
}

/** Refuses a continuation whose owner is in the route with another API only, or not at all. */
function noTarget(
  { name }: Route,
  { protocol, provider, param }: RequiredTarget,
  isThere: boolean,
): Failed {
  const lack = isThere
    ? `has no target with upstream_request_type ${protocol} at the provider '${provider.id}'`
    : `has no target at the provider '${provider.id}'`;
  return refuse(
    "unsupported_feature",
    `The route '${name}' ${lack}, which made what '${param}' names; add one to the route, ` +
      `choose another route, or send the items as input without '${param}'.`,
    param,
  );
}

function routeOf(
  call: Call,
  inference: Inference,
  earlier: string | null,
  wanted: RequestedModel,
): Route | null {
  const isForced = call.controls.route !== null && call.controls.route !== earlier;
  const same = call.generation.routes.find(({ name }) => name === earlier);
  return isForced || same === undefined ? matchRoute(call, inference.matchesAs, wanted) : same;
}
