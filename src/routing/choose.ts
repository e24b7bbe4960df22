import { type Failed, fault, type Result, success } from "../core/result.ts";
import type { Call } from "../gateway/call.ts";
import type { Inference, Plan } from "../gateway/inference.ts";
import { type Eligible, eligibleFallbacks, eligibleTargets } from "./eligible.ts";
import { matchRoute } from "./match.ts";
import { pinned } from "./pinned.ts";
import { requested } from "./requested.ts";

/** Chooses who serves a call, before anything is sent. */
export function choose(call: Call, inference: Inference): Result<Plan> {
  const wanted = requested(call, inference.model);
  if (!wanted.ok) return wanted;
  if (inference.owner !== null) return pinned(call, inference, inference.owner, wanted.value);
  const route = matchRoute(call, inference.matchesAs, wanted.value);
  if (route === null) return noRoute();
  call.report.route = route.name;
  const eligible = eligibleTargets(route, wanted.value, inference);
  const others = call.controls.noFallback ? [] : eligibleFallbacks(route, wanted.value, inference);
  if (!eligible.ok) return instead(call, eligible, others);
  const { balancers } = call.vault;
  const picked = balancers.pick(
    route.name,
    route.strategy,
    ({ routed }) => routed.key,
    passable(call, eligible.value),
  );
  const first = picked ?? eligible.value[0];
  if (first === undefined) return noRoute();
  return success([first.attempt, ...others.map(({ attempt }) => attempt)]);
}

function noRoute(): Failed {
  return fault("no_route", "No configured route matches this request.", { taken: false });
}

/** What no target can keep goes to the fallbacks that can; every other refusal stands. */
function instead(call: Call, refused: Failed, fallbacks: readonly Eligible[]): Result<Plan> {
  const [first, ...others] = fallbacks;
  if (refused.failure.kind !== "unsupported_feature" || first === undefined) return refused;
  call.report.fallbacks++;
  return success([first.attempt, ...others.map(({ attempt }) => attempt)]);
}

/**
 * Returns the targets among which to choose: those whose breaker is closed, among them those with a free
 * slot, else those with room in their queue. A step that would leave no target is skipped.
 */
function passable(call: Call, eligible: readonly Eligible[]): readonly Eligible[] {
  const settings = call.generation.config.circuit_breaker;
  const closed = eligible.filter(({ routed }) =>
    !call.vault.breakers.isOpen(routed.provider.account, settings)
  );
  const able = closed.length > 0 ? closed : eligible;
  const { slots } = call.vault;
  if (!slots.isInUse) return able;
  const free = able.filter(({ routed }) => slots.isFree(routed.provider));
  if (free.length > 0) return free;
  const queueable = able.filter(({ routed }) => slots.hasRoom(routed.provider));
  return queueable.length > 0 ? queueable : able;
}
