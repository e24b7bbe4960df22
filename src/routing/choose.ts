import type { Refusal } from "../core/failure.ts";
import { type Failed, fault, type Result, success } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import type { Candidate, Candidates, Inference } from "../call/inference.ts";
import {
  chooseRefusal,
  type Eligible,
  evaluateFallbacks,
  evaluateTargets,
  filterEligible,
  goesToFallbacks,
  withPermission,
} from "./eligible.ts";
import { matchRoute } from "./match.ts";
import { planRequiredTarget } from "./required_target.ts";
import { parseRequestedModel } from "./requested_model.ts";

/** Returns the candidates of a call in order: the picked target, then the fallbacks. Sends nothing. */
export function planRoute(call: Call, inference: Inference): Result<Candidates> {
  const requested = parseRequestedModel(call, inference.model);
  if (!requested.ok) return requested;
  const prepare = withPermission(call, (target) => inference.prepare(target));
  if (inference.owner !== null) {
    const { owner, matchesAs } = inference;
    return planRequiredTarget(call, { owner, matchesAs, prepare }, requested.value);
  }
  const route = matchRoute(call, inference.matchesAs, requested.value);
  if (route === null) return noRoute();
  call.report.route = route.name;
  const targets = evaluateTargets(route.targets, requested.value, prepare);
  const fallbacks = call.controls.noFallback
    ? []
    : filterEligible(evaluateFallbacks(route.fallback, requested.value, prepare));
  const eligible = filterEligible(targets);
  if (eligible.length === 0) {
    return planFromFallbacks(call, chooseRefusal(route, targets), fallbacks);
  }
  const { balancers } = call.state;
  const picked = balancers.pick(
    route.name,
    route.strategy,
    ({ target }) => target.key,
    selectable(call, eligible),
  );
  const first = picked ?? eligible[0];
  if (first === undefined) return noRoute();
  return success([first.prepared, ...fallbacks.map(({ prepared }) => prepared)]);
}

function noRoute(): Failed {
  return fault("no_route", "No configured route matches this request.", { mayHaveRun: false });
}

/** Returns the fallbacks as candidates if every target refused an unsupported feature or the client key; else the refusal. */
function planFromFallbacks(
  call: Call,
  refused: Failed<Refusal>,
  fallbacks: readonly Eligible<Candidate>[],
): Result<Candidates> {
  const [first, ...others] = fallbacks;
  if (!goesToFallbacks(refused) || first === undefined) return refused;
  call.report.fallbacks++;
  return success([first.prepared, ...others.map(({ prepared }) => prepared)]);
}

/**
 * Returns the targets to choose from: those with a closed circuit breaker, and of these the ones with a
 * free slot, else with room in their queue. A filter that would leave no target is skipped.
 */
function selectable(
  call: Call,
  eligible: readonly Eligible<Candidate>[],
): readonly Eligible<Candidate>[] {
  const settings = call.generation.config.circuit_breaker;
  const closed = eligible.filter(({ target }) =>
    !call.state.breakers.isOpen(target.provider.account, settings)
  );
  const able = closed.length > 0 ? closed : eligible;
  const { slots } = call.state;
  if (!slots.isInUse) return able;
  const free = able.filter(({ target }) => slots.isFree(target.provider));
  if (free.length > 0) return free;
  const queueable = able.filter(({ target }) => slots.hasRoom(target.provider));
  return queueable.length > 0 ? queueable : able;
}
