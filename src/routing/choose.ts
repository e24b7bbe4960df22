import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, type Result, success } from "../core/failure/result.ts";
import { isAble, prepareRouted } from "./accounts.ts";
import { type Call, recordModel } from "../call/call.ts";
import type { Candidate, Candidates, Inference } from "../call/inference.ts";
import { sessionKey } from "../call/session.ts";
import type { PickView } from "../traffic/balancers.ts";
import { type Eligible, withPermission } from "./eligible.ts";
import { matchRoute } from "./match.ts";
import { newPlan } from "./new_plan.ts";
import { planTargets } from "./plan_targets.ts";
import { traceTargets } from "./trace_targets.ts";
import { noRoute, planRequiredTarget } from "./required_target.ts";
import { parseRequestedModel, requestedFrom } from "./requested_model.ts";
import { refuseUnknownCost } from "../access/permissions.ts";
import { hasPromptCacheKey, withPromptCacheKey } from "../wires/prompt_cache_key.ts";
import type { Target } from "../wires/wire.ts";
import { loadKey } from "./key_pool.ts";

/**
 * Returns the candidates of a call in order: the picked target, the other targets of its route that
 * are able, then the fallbacks. Sends nothing. Can be interrupted between two targets.
 */
export function* planRoute(
  call: Call,
  inference: Inference,
): Generator<void, Result<Candidates>, void> {
  recordModel(call, inference.model);
  const parsed = parseRequestedModel(call, inference.model);
  if (!parsed.ok) return parsed;
  const requested = inference.isModelOptional === true
    ? { ...parsed.value, isOptional: true }
    : parsed.value;
  const permitted = withPermission<Candidate>(
    call,
    (target) => preparePriced(call, inference, target),
  );
  if (inference.owner !== null) {
    const { owner, matchesAs } = inference;
    return planRequiredTarget(call, { owner, matchesAs, prepare: permitted }, requested);
  }
  const route = matchRoute(call, inference.matchesAs, requested);
  if (route === null) return noRoute();
  call.report.route = route.name;
  const prepare = (target: Target) =>
    prepareRouted({ prepare: permitted, reasoningAccount: inference.reasoningAccount }, target);
  const asked = requestedFrom(route, requested);
  const plan = yield* planTargets(route, asked, prepare, call.controls);
  if (call.planned !== null) return call.planned(newPlan(call, plan));
  const { eligible, ableFallbacks: fallbacks, refused } = plan;
  const { trace } = call.report;
  if (refused !== null) {
    if (trace !== null) trace.targets = traceTargets(plan);
    return plan.isRescued ? planFromFallbacks(call, refused, fallbacks) : refused;
  }
  const { balancers } = call.state;
  // With a key that does not rest, and a circuit breaker that is not open.
  const closed = eligible.filter(({ prepared }) => isAble(call, prepared));
  const able = selectable(call, closed.length > 0 ? closed : eligible);
  const view = viewOf(call);
  const first = balancers.pick(route.name, route.strategy, view, able) ?? eligible[0];
  if (first === undefined) return noRoute();
  const rest = call.controls.noFallback ? [] : closed.filter((one) => one !== first);
  const others = rest.length < 2 ? rest : balancers.order(route.name, route.strategy, view, rest);
  if (trace !== null) {
    const choice = { able, first, isAble: (one: Candidate) => isAble(call, one) };
    trace.targets = traceTargets(plan, choice);
  }
  return success([
    first.prepared,
    ...[...others, ...fallbacks].map(({ prepared }) => prepared),
  ]);
}

/**
 * Prepares a call for a target; refused if its tokens cost money that a budget of the key could not
 * count.
 */
function preparePriced(call: Call, inference: Inference, target: Target): Result<Candidate> {
  const { client: { key }, generation: { config } } = call;
  const prepared = inference.prepare(target);
  if (!prepared.ok || prepared.value.billing !== undefined) return prepared;
  return refuseUnknownCost(key, config, target, "tokens") ?? withCacheKey(call, prepared);
}

/**
 * Adds the session to a request, as the key of the prompt cache, if the provider's settings ask for
 * it.
 */
function withCacheKey(
  { client, caller }: Call,
  prepared: Result<Candidate> & { ok: true },
): Result<Candidate> {
  const { target: { provider, wire }, request } = prepared.value;
  if (provider.settings.prompt_cache_key === "pass") return prepared;
  const key = sessionKey(caller.name, client.session);
  if (key === null || !hasPromptCacheKey(wire.name, request)) return prepared;
  return success({ ...prepared.value, request: withPromptCacheKey(request, key) });
}

/**
 * Returns what the strategy of a route sees of a call: `sticky` reads its session, else its client
 * key.
 */
function viewOf({ client, caller }: Call): PickView<Eligible<Candidate>> {
  return {
    key: ({ target }) => target.key,
    load: ({ prepared }) => loadKey(prepared.target),
    session: sessionKey(caller.name, client.session) ?? caller.name,
  };
}

/** Returns the fallbacks as candidates; the refusal of the targets if there are none. */
function planFromFallbacks(
  call: Call,
  refused: Failed<Refusal>,
  fallbacks: readonly Eligible<Candidate>[],
): Result<Candidates> {
  const [first, ...others] = fallbacks;
  if (first === undefined) return refused;
  call.report.fallbacks++;
  return success([first.prepared, ...others.map(({ prepared }) => prepared)]);
}

/**
 * Returns the targets to choose from: of able ones those with a free slot, else with room in their
 * queue. A filter that would leave no target is skipped.
 */
function selectable(
  call: Call,
  able: readonly Eligible<Candidate>[],
): readonly Eligible<Candidate>[] {
  const { slots } = call.state;
  if (!slots.isInUse) return able;
  const free = able.filter(({ target }) => slots.isFree(target.provider));
  if (free.length > 0) return free;
  const queueable = able.filter(({ target }) => slots.hasRoom(target.provider));
  return queueable.length > 0 ? queueable : able;
}
