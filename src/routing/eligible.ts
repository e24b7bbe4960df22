import { refuse, type Result, success } from "../core/result.ts";
import type { Refusal } from "../core/failure.ts";
import { isRefusal } from "../core/failure.ts";
import type { Route, RouteTarget } from "../gateway/generation.ts";
import type { Attempt, Inference } from "../gateway/inference.ts";
import type { Requested } from "./requested.ts";

/** A target that can take the call, and the call made ready for it. */
export interface Eligible {
  readonly routed: RouteTarget;
  readonly weight: number;
  readonly attempt: Attempt;
}

/** The targets of a route that can take a call; at least one, else the refusal that says why not. */
export function eligibleTargets(
  route: Route,
  wanted: Requested,
  inference: Inference,
): Result<readonly Eligible[]> {
  const open = route.targets.filter((target) => target.weight > 0);
  const byProvider = open.filter((target) => isProvider(target, wanted));
  if (byProvider.length === 0) {
    return refuse(
      "provider_not_found",
      `The route '${route.name}' has no target with the requested provider.`,
      "provider",
    );
  }
  const byModel = byProvider.filter((target) => isModel(target, wanted));
  if (byModel.length === 0) {
    return refuse(
      "model_not_found",
      `The route '${route.name}' has no target with the requested model.`,
      "model",
    );
  }
  return prepared(byModel, wanted, inference);
}

/** The fallbacks that can take the call, in order. A requested provider limits them, a requested model does not. */
export function eligibleFallbacks(
  route: Route,
  wanted: Requested,
  inference: Inference,
): readonly Eligible[] {
  const all = route.fallback.filter((target) => isProvider(target, wanted));
  const able = prepared(all, wanted, inference);
  return able.ok ? able.value : [];
}

export function isProvider(target: RouteTarget, wanted: Requested): boolean {
  return wanted.provider === null || target.provider.id === wanted.provider;
}

export function isModel(target: RouteTarget, wanted: Requested): boolean {
  return wanted.model === null || target.model === null || target.model === wanted.model;
}

/** The model a target is asked for: its own, else the requested one, else the provider's default. */
export function modelOf(target: RouteTarget, wanted: Requested): string | null {
  return target.model ?? wanted.model ?? target.provider.settings.default_model ?? null;
}

function prepared(
  targets: readonly RouteTarget[],
  wanted: Requested,
  inference: Inference,
): Result<readonly Eligible[]> {
  const able: Eligible[] = [];
  let refusal: Refusal | null = null;
  for (const routed of targets) {
    const attempt = prepare(routed, wanted, inference);
    if (attempt.ok) able.push({ routed, weight: routed.weight, attempt: attempt.value });
    else if (isRefusal(attempt.failure)) refusal ??= attempt.failure;
  }
  return refusal !== null && able.length === 0 ? { ok: false, failure: refusal } : success(able);
}

/** One target made ready, or why it cannot keep the request. */
export function prepare(
  routed: RouteTarget,
  wanted: Requested,
  inference: Inference,
): Result<Attempt> {
  const model = modelOf(routed, wanted);
  return model === null
    ? refuse("missing_required_parameter", "Name a model: the route leaves it open.", "model")
    : inference.prepare({ provider: routed.provider, model, wire: routed.wire });
}
