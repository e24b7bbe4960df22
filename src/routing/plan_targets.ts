import type { Refusal } from "../core/failure/failure.ts";
import type { Failed } from "../core/failure/result.ts";
import type { Route } from "../call/generation.ts";
import {
  chooseRefusal,
  type Eligible,
  evaluateFallbacks,
  evaluateTargets,
  type Evaluation,
  filterEligible,
  goesToFallbacks,
  type Prepare,
  skipFallbacks,
} from "./eligible.ts";
import type { RequestedModel } from "./requested_model.ts";

/** The decisions on all targets of a route for a request, before the strategy picks one. */
export interface TargetPlan<Prepared> {
  readonly route: Route;
  /** The request as the targets see it. */
  readonly requested: RequestedModel;
  readonly targets: readonly Evaluation<Prepared>[];
  readonly fallbacks: readonly Evaluation<Prepared>[];
  readonly eligible: readonly Eligible<Prepared>[];
  readonly ableFallbacks: readonly Eligible<Prepared>[];
  /** Refusal of the request by the targets; null if one of them can serve it. */
  readonly refused: Failed<Refusal> | null;
  /** True if no target can serve the request, and the fallbacks do. */
  readonly isRescued: boolean;
}

/**
 * Returns which targets and fallbacks of a route can serve a request, and why another cannot.
 * The router, `switchyard explain` and `switchyard replay` share this function. Can be interrupted,
 * because a long request is translated for each of them.
 */
export function* planTargets<Prepared>(
  route: Route,
  requested: RequestedModel,
  prepare: Prepare<Prepared>,
  { noFallback }: { readonly noFallback: boolean },
): Generator<void, TargetPlan<Prepared>, void> {
  const targets = yield* evaluateTargets(route.targets, requested, prepare);
  const fallbacks = noFallback
    ? skipFallbacks(route.fallback)
    : yield* evaluateFallbacks(route.fallback, requested, prepare);
  const eligible = filterEligible(targets);
  const ableFallbacks = filterEligible(fallbacks);
  const refused = eligible.length > 0 ? null : chooseRefusal(route, targets);
  const isRescued = refused !== null && ableFallbacks.length > 0 &&
    goesToFallbacks(refused, targets);
  return {
    route,
    requested,
    targets,
    fallbacks,
    eligible,
    ableFallbacks,
    refused,
    isRescued,
  };
}
