import { runCandidates, runOnce } from "./attempts/attempt.ts";
import { runWithEarlyHead } from "./attempts/early_head.ts";
import { lookUp, remember } from "./cache/cache.ts";
import type { Catalog } from "./traffic/catalogs.ts";
import type { Reply } from "./core/stream/reply.ts";
import { type Awaitable, cancelled, type Result, success } from "./core/failure/result.ts";
import type { Call } from "./call/call.ts";
import { awaitTranslation } from "./call/call_turns.ts";
import type { Candidate, Candidates, Inference } from "./call/inference.ts";
import { refuseFullHeap } from "./traffic/call_memory.ts";
import { planRoute } from "./routing/choose.ts";
import { parseRequestedModel, type RequestedModel } from "./routing/requested_model.ts";
import { discover } from "./upstream/discover.ts";
import type { Provider } from "./wires/wire.ts";

/**
 * Serves a request: plans its candidates, looks for a stored response, then sends to the
 * candidates.
 */
export async function exchange(call: Call, inference: Inference): Promise<Result<Reply>> {
  const planning = planWithin(call, inference);
  const plan = planning instanceof Promise ? await planning : planning;
  if (!plan.ok) return plan;
  const looking = lookUp(call, inference, plan.value);
  // The memory of the process responds at once, and an await would cost every call.
  const lookup = looking instanceof Promise ? await looking : looking;
  const cached = lookup?.response ?? null;
  if (cached !== null) return success({ kind: "whole", response: cached });
  const reply = await runWithEarlyHead(call, plan.value, inference.newEarly);
  if (reply.ok && lookup !== null) {
    remember(call, inference, { candidates: plan.value, lookup, reply: reply.value });
  }
  return reply;
}

/**
 * Plans the candidates of a request, each with what it would send. Refused as `overloaded` while
 * the heap is nearly full: the request may have waited since it was counted. A long request waits
 * for a turn before it is translated for a further target.
 */
function planWithin(call: Call, inference: Inference): Awaitable<Result<Candidates>> {
  const { cancellation } = call;
  // Calls that have left while they waited for a turn go on at the same time.
  if (cancellation.isCancelled) return cancelled(cancellation.reason);
  const refused = refuseFullHeap(call);
  if (refused !== null) return refused;
  return continuePlan(call, planRoute(call, inference));
}

/** Continues an interrupted plan, in turns of the event loop if the request is long. */
function continuePlan(
  call: Call,
  planning: ReturnType<typeof planRoute>,
): Awaitable<Result<Candidates>> {
  for (;;) {
    const step = planning.next();
    if (step.done === true) return step.value;
    const waiting = awaitTranslation(call, "large");
    if (waiting instanceof Promise) {
      return waiting.then((stopped) => stopped ?? continuePlan(call, planning));
    }
    if (waiting !== null) return waiting;
  }
}

/**
 * Answers a request without cache and retries, by targets of one protocol only: the chosen one,
 * then the other candidates that have the same protocol. For operations whose result depends on
 * who answers.
 */
export async function exchangeOnce(call: Call, inference: Inference): Promise<Result<Reply>> {
  const plan = await planWithin(call, inference);
  if (!plan.ok) return plan;
  const [first, ...others] = plan.value;
  const alike = others.filter(({ target }) => target.wire.name === first.target.wire.name);
  const controls = { ...call.controls, noRetry: true };
  return await runCandidates({ ...call, controls }, [first, ...alike]);
}

/**
 * Sends a call to the provider that owns the object it names. No routing, cache or fallback, and
 * retries only if `isRetried`: of a candidate with side effects, only an attempt that was certainly
 * not processed.
 */
export async function forward(
  call: Call,
  candidate: Candidate,
  isRetried = false,
): Promise<Result<Reply>> {
  return isRetried ? await runCandidates(call, [candidate]) : await runOnce(call, candidate);
}

/** Returns the requested provider and bare model; null for each that the request leaves open. */
export function requestedModel(call: Call, model: string): Result<RequestedModel> {
  return parseRequestedModel(call, model);
}

/** Returns the model list of a provider. */
export async function listModels(call: Call, provider: Provider): Promise<Catalog> {
  return await discover(call, provider);
}
