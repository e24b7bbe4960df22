import { isRefusal } from "../core/failure/failure.ts";
import { type Failed, fault, refuse, type Result, success } from "../core/failure/result.ts";
import { type OpenTarget, prepareForAccounts } from "./accounts.ts";
import type { Call } from "../call/call.ts";
import type { Candidate, Candidates, Inference, RequiredTarget } from "../call/inference.ts";
import { isPermissionRefusal } from "../access/permissions.ts";
import { protocolOf } from "./ownership.ts";
import type { Route, RouteTarget } from "../call/generation.ts";
import {
  matchesModel,
  openTarget,
  type Prepare,
  refuseKeys,
  refuseOpenModel,
  refuseOtherProvider,
  resolveModel,
} from "./eligible.ts";
import { matchRoute } from "./match.ts";
import { wires } from "../wires/registry.ts";
import { requestedFrom, type RequestedModel } from "./requested_model.ts";

/** A request that continues a stored object. */
export interface Continued extends Pick<Inference, "matchesAs"> {
  readonly owner: RequiredTarget;
  /** Prepares the call for a target that the client key may use. */
  readonly prepare: Prepare<Candidate>;
}

/**
 * Returns the only candidate of a request that continues a stored object: a target at the provider
 * that owns the object. The earlier route and model are used again unless the client names
 * different ones that lead to the same provider. Retries are allowed, fallbacks to other providers
 * are not.
 */
export function planRequiredTarget(
  call: Call,
  continued: Continued,
  requested: RequestedModel,
): Result<Candidates> {
  const { owner: required } = continued;
  const { provider, protocol } = required;
  if (requested.provider !== null && requested.provider !== provider.id) {
    return refuse(
      "invalid_value",
      "The object that this request continues belongs to another provider; request that provider or none.",
      "provider",
    );
  }
  const route = findRoute(call, continued, required.origin, requested);
  if (route === null) return noRoute();
  call.report.route = route.name;
  const own = [...route.targets, ...route.fallback]
    .filter((target) => target.provider.id === provider.id);
  const found = own.filter(({ wire }) => protocolOf(wire) === protocol);
  const able = found.length === 0 ? formerTargets(route, required) : found;
  if (own.length === 0 && able.length === 0 && requested.provider !== null) {
    return refuseOtherProvider(route.name);
  }
  if (able.length === 0) return refuseContinuation(route, required, own.length > 0);
  const asked = requestedFrom(route, requested);
  const attempt = prepareCandidate(continued, { route, requested: asked, able });
  if (!attempt.ok) return attempt;
  if (call.planned !== null) {
    const only = { candidate: attempt.value, share: "of the owner", keys: null };
    return call.planned({
      route: route.name,
      targets: [only],
      fallbacks: [],
      skipped: [],
      refused: null,
    });
  }
  const { trace } = call.report;
  if (trace !== null) {
    const { model } = attempt.value.target;
    const chosen = { isFallback: false, isChosen: true, skipped: null };
    trace.targets = [{ provider: provider.id, model, ...chosen }];
  }
  return success([attempt.value]);
}

/** The targets of a route that can serve a continuation, and the requested model. */
interface Choice {
  readonly route: Route;
  readonly requested: RequestedModel;
  readonly able: readonly RouteTarget[];
}

function prepareCandidate(
  { owner: { account, origin }, prepare }: Continued,
  { route, requested, able }: Choice,
): Result<Candidate> {
  const [first] = able;
  // Clients send the model of the first request again, also if a fallback answered with another
  // model.
  const stays = requested.model === null || requested.model === origin?.requestedModel ||
    requested.model === origin?.model;
  if (origin !== null && stays && first !== undefined) {
    const served = able.find(({ model }) => model === origin.model) ?? first;
    return prepareOwned(openTarget(served, requested, origin.model));
  }
  let refused: Result<Candidate> | null = null;
  for (const target of able) {
    if (!matchesModel(target, requested)) continue;
    const model = resolveModel(target, requested);
    const prepared = model === null
      ? refuseOpenModel()
      : prepareOwned(openTarget(target, requested, model));
    // A target that the client key may not use is passed over.
    const isPassedOver = !prepared.ok && isRefusal(prepared.failure) &&
      isPermissionRefusal(prepared.failure);
    if (!isPassedOver) return prepared;
    refused ??= prepared;
  }
  return refused ?? refuse(
    "model_not_found",
    `The route '${route.name}' has no target with the requested model at this provider.`,
    "model",
  );

  function prepareOwned(open: OpenTarget): Result<Candidate> {
    return prepareForAccounts(open, account, prepare) ?? refuseKeys(route.name);
  }
}

/** Returns the failure of a request that no route matches. */
export function noRoute(): Failed {
  return fault("no_route", "No configured route matches this request.", { mayHaveRun: false });
}

/**
 * Refuses a continuation if the route has the owning provider with another API only, or not at all.
 */
function refuseContinuation(
  { name }: Route,
  { protocol, provider, param }: RequiredTarget,
  isThere: boolean,
): Failed {
  const lack = isThere
    ? `has no target with upstream_request_type ${protocol} at the provider '${provider.id}'`
    : `has no target at the provider '${provider.id}'`;
  return refuse(
    "unsupported_feature",
    `The route '${name}' ${lack}, which created the object that '${param}' names; add a target to the ` +
      `route, choose another route, or send the items as input without '${param}'.`,
    param,
  );
}

function findRoute(
  call: Call,
  { matchesAs }: Continued,
  origin: RequiredTarget["origin"],
  requested: RequestedModel,
): Route | null {
  const earlier = origin?.route ?? null;
  const isForced = call.controls.route !== null && call.controls.route !== earlier;
  const same = call.generation.routes.find(({ name }) => name === earlier);
  if (isForced || same === undefined) return matchRoute(call, matchesAs, requested);
  const { model } = requested;
  if (model === null || model === origin?.model || model === origin?.requestedModel) return same;
  // Another name leads to or from a named model; other routes stay as they were.
  const matched = matchRoute(call, matchesAs, requested);
  return matched?.preset !== undefined || same.preset !== undefined ? matched : same;
}

/**
 * Returns the target of a named model that made the continued object and that the configuration no
 * longer has: a change of the targets does not end its dialogues. None for other routes.
 */
function formerTargets(
  { name, preset, targets: [first] }: Route,
  { provider, protocol, origin }: RequiredTarget,
): readonly RouteTarget[] {
  if (preset === undefined || origin?.route !== name || first === undefined) return [];
  const wire = protocol === "responses" ? wires.responses : provider.wire;
  return [{ ...first, provider, wire, model: origin.model }];
}
