import { isRefusal, type Refusal } from "../core/failure/failure.ts";
import { messageOf } from "../core/failure/openai_error.ts";
import { type Failed, refuse, type Result } from "../core/failure/result.ts";
import { servingAccounts } from "./key_pool.ts";
import type { Route, RouteTarget } from "../call/generation.ts";
import type { Call } from "../call/call.ts";
import { isPermissionRefusal, isRestricted, refuseTarget } from "../access/permissions.ts";
import { isPattern } from "../config/models_rules.ts";
import type { NamedTarget, Preset } from "../prompt/preset.ts";
import { refuseSteering, refuseTier } from "../access/steering.ts";
import type { Target } from "../wires/wire.ts";
import type { OpenTarget } from "./accounts.ts";
import type { RequestedModel } from "./requested_model.ts";

/** Reason for which a target of a route does not serve a request. */
export type SkipReason =
  | { readonly kind: "disabled" }
  | { readonly kind: "other_provider" }
  | { readonly kind: "other_model" }
  /** No key of the provider serves the model. */
  | { readonly kind: "no_key" }
  /** The request permits no fallback. */
  | { readonly kind: "no_fallback" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Returns the reason for which a target was skipped, as the predicate or rest of a sentence. */
export function reasonText(reason: SkipReason): string {
  switch (reason.kind) {
    case "disabled":
      return "its weight is 0";
    case "other_provider":
      return "another provider is requested";
    case "other_model":
      return "it serves another model";
    case "no_key":
      return "no key of the provider serves the model";
    case "no_fallback":
      return "the request permits no fallback";
    case "refused":
      return reason.refusal.kind === "missing_required_parameter"
        ? "neither the request nor the file names a model"
        : messageOf(reason.refusal);
  }
}

/**
 * Returns the preparation of a request for targets that the client key may use; others are refused.
 */
export function withPermission<Prepared>(
  { client: { key, steering }, generation: { config } }: Pick<Call, "client" | "generation">,
  prepare: Prepare<Prepared>,
): Prepare<Prepared> {
  if (steering === null && !isRestricted(key)) return prepare;
  return (target) =>
    refuseTarget(key, config, target) ??
      refuseTier(key, target.named?.preset.parameters.service_tier) ??
      (steering === null ? null : refuseSteering(key, config, target.provider.id, steering)) ??
      prepare(target);
}

/** A target that can serve a request, with the request prepared for it. */
export interface Eligible<Prepared> {
  readonly kind: "eligible";
  readonly target: RouteTarget;
  readonly weight: number;
  readonly prepared: Prepared;
}

/** The router's decision on one target of a route. */
export type Evaluation<Prepared> =
  | Eligible<Prepared>
  | { readonly kind: "skipped"; readonly target: RouteTarget; readonly reason: SkipReason };

/** Prepares a request for one target; refused if the target cannot carry a field of it. */
export type Prepare<Prepared> = (target: Target) => Result<Prepared>;

/** Evaluations of targets and fallbacks, which can be interrupted before all but the first one. */
export type Evaluating<Prepared> = Generator<void, readonly Evaluation<Prepared>[], void>;

/**
 * Evaluates each target of a route for a request, in the order of the configuration file. The
 * router and `switchyard explain` share this function, so that an explanation never differs from
 * the routing.
 */
export function* evaluateTargets<Prepared>(
  targets: readonly RouteTarget[],
  requested: RequestedModel,
  prepare: Prepare<Prepared>,
): Evaluating<Prepared> {
  const all: Evaluation<Prepared>[] = [];
  for (const target of targets) {
    if (target.weight === 0) {
      all.push({ kind: "skipped", target, reason: { kind: "disabled" } });
    } else if (matchesProvider(target, requested) && !matchesModel(target, requested)) {
      all.push({ kind: "skipped", target, reason: { kind: "other_model" } });
    } else {
      if (all.length > 0) yield;
      all.push(evaluate(target, requested, prepare));
    }
  }
  return all;
}

/**
 * Evaluates each fallback of a route for a request. A requested provider limits the fallbacks to
 * that provider. A requested model does not, because a fallback usually has another model.
 */
export function* evaluateFallbacks<Prepared>(
  fallbacks: readonly RouteTarget[],
  requested: RequestedModel,
  prepare: Prepare<Prepared>,
): Evaluating<Prepared> {
  const all: Evaluation<Prepared>[] = [];
  for (const target of fallbacks) {
    yield;
    all.push(evaluate(target, requested, prepare));
  }
  return all;
}

/** Skips each fallback of a route for a request that permits none (`X-Gateway-No-Fallback`). */
export function skipFallbacks(fallbacks: readonly RouteTarget[]): readonly Evaluation<never>[] {
  return fallbacks.map((target) => ({ kind: "skipped", target, reason: { kind: "no_fallback" } }));
}

function evaluate<Prepared>(
  target: RouteTarget,
  requested: RequestedModel,
  prepare: Prepare<Prepared>,
): Evaluation<Prepared> {
  if (!matchesProvider(target, requested)) {
    return { kind: "skipped", target, reason: { kind: "other_provider" } };
  }
  const prepared = prepareTarget(target, requested, prepare);
  if (prepared === null) return { kind: "skipped", target, reason: { kind: "no_key" } };
  if (prepared.ok) {
    return { kind: "eligible", target, weight: target.weight, prepared: prepared.value };
  }
  const { failure } = prepared;
  if (!isRefusal(failure)) throw new Error("a target failed before a request was sent to it");
  return { kind: "skipped", target, reason: { kind: "refused", refusal: failure } };
}

/** Returns the targets that can serve the request. */
export function filterEligible<Prepared>(
  evaluations: readonly Evaluation<Prepared>[],
): readonly Eligible<Prepared>[] {
  return evaluations.filter((one) => one.kind === "eligible");
}

/** Returns the refusal of a request that no target of the route can serve. */
export function chooseRefusal(
  { name }: Route,
  evaluations: readonly Evaluation<unknown>[],
): Failed<Refusal> {
  const reasons = evaluations.flatMap((one) => one.kind === "skipped" ? [one.reason] : []);
  const refusals = reasons.flatMap((reason) => reason.kind === "refused" ? [reason.refusal] : []);
  // A target that the key may use comes first: its refusal is what the client can change.
  const refusal = refusals.find((one) => !isPermissionRefusal(one)) ?? refusals[0];
  if (refusal !== undefined) return { ok: false, failure: refusal };
  if (reasons.some((reason) => reason.kind === "no_key")) return refuseKeys(name);
  return reasons.some((reason) => reason.kind === "other_model")
    ? refuse(
      "model_not_found",
      `The route '${name}' has no target with the requested model, because each target has its own; ` +
        `in the file, a target without a "model" serves every model.`,
      "model",
    )
    : refuseOtherProvider(name);
}

/** Returns the refusal of a requested provider that a route does not have. */
export function refuseOtherProvider(route: string): Failed<Refusal> {
  const text = `The route '${route}' has no target with the requested provider.`;
  return refuse("provider_not_found", text, "provider");
}

/** Returns the refusal of a request for which neither client nor configuration names a model. */
export function refuseOpenModel(): Failed<Refusal> {
  return refuse("missing_required_parameter", "Name a model: the route leaves it open.", "model");
}

/** Returns the refusal of a model that no key of the providers of a route serves. */
export function refuseKeys(route: string): Failed<Refusal> {
  return refuse(
    "model_not_found",
    `No key of the providers of the route '${route}' serves the requested model.`,
    "model",
  );
}

/**
 * True if a request that no target can serve goes to the fallbacks: for an unsupported feature, if
 * the client key may not use the targets, or if no key of their providers serves the model.
 */
export function goesToFallbacks(
  { failure }: Failed<Refusal>,
  evaluations: readonly Evaluation<unknown>[],
): boolean {
  if (failure.kind === "unsupported_feature" || isPermissionRefusal(failure)) return true;
  return evaluations.some((one) => one.kind === "skipped" && one.reason.kind === "no_key") &&
    evaluations.every((one) => one.kind !== "skipped" || one.reason.kind !== "refused");
}

/** True if the request names no provider, or the provider of this target. */
export function matchesProvider(target: RouteTarget, requested: RequestedModel): boolean {
  return requested.provider === null || target.provider.id === requested.provider;
}

/** True if the request names no model, or the target serves the requested model. */
export function matchesModel(target: RouteTarget, requested: RequestedModel): boolean {
  return requested.model === null || requested.isNamed === true || target.model === null ||
    target.model === requested.model;
}

/**
 * Returns the target's model, else the requested model, else the provider's default. Of a request
 * that needs no model, "" in place of the default: it would be a model for chats.
 */
export function resolveModel(target: RouteTarget, requested: RequestedModel): string | null {
  const written = target.model ?? requested.model;
  if (requested.isOptional === true) return written ?? "";
  return written ?? target.provider.settings.default_model ?? null;
}

/**
 * Prepares a request for one target of a route; refused if no model is known or a field cannot be
 * carried, null if no key of the provider serves the model.
 */
export function prepareTarget<Prepared>(
  target: RouteTarget,
  requested: RequestedModel,
  prepare: Prepare<Prepared>,
): Result<Prepared> | null {
  const model = resolveModel(target, requested);
  if (model === null) return refuseOpenModel();
  const [account] = servingAccounts(target.provider, model);
  return account === undefined
    ? null
    : prepare({ ...openTarget(target, requested, model), account });
}

/** Returns the target of a request for this model of a route's target, without the account. */
export function openTarget(
  { provider, wire, omitTools, failover, delivery, preset }: RouteTarget,
  requested: RequestedModel,
  model: string,
): OpenTarget {
  const named = namedTarget(preset, requested, model);
  const open = { provider, model, wire, omitTools, failover, delivery };
  return named === null ? open : { ...open, named };
}

/** Returns the named model by which a target is requested; null for a route. */
function namedTarget(
  preset: Preset | undefined,
  { isNamed, written }: RequestedModel,
  model: string,
): NamedTarget | null {
  if (preset === undefined) return null;
  const { name } = preset;
  return { preset, name: isNamed === true ? written : isPattern(name) ? model : name };
}
