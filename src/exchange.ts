import { runCandidates, runOnce } from "./attempts/attempt.ts";
import { lookUp, remember } from "./cache/cache.ts";
import type { Catalog } from "./state/catalog.ts";
import type { Reply } from "./core/reply.ts";
import { type Result, success } from "./core/result.ts";
import type { Call } from "./call/call.ts";
import type { Candidate, Inference } from "./call/inference.ts";
import { planRoute } from "./routing/choose.ts";
import { parseRequestedModel, type RequestedModel } from "./routing/requested_model.ts";
import { discover } from "./upstream/discover.ts";
import type { Provider } from "./wires/wire.ts";

/** The road of a request: choose its targets, look for a kept answer, then try them. */
export async function exchange(call: Call, inference: Inference): Promise<Result<Reply>> {
  const plan = planRoute(call, inference);
  if (!plan.ok) return plan;
  const lookup = lookUp(call, inference, plan.value);
  const kept = lookup?.answer ?? null;
  if (kept !== null) return success({ kind: "whole", answer: kept });
  const reply = await runCandidates(call, plan.value);
  if (reply.ok && lookup !== null) remember(call, inference, plan.value, lookup, reply.value);
  return reply;
}

/** The way of a call that only its owner can serve: no choice, no cache, one attempt. */
export async function forward(call: Call, attempt: Candidate): Promise<Result<Reply>> {
  return await runOnce(call, attempt);
}

/** The provider and the bare model that a client names; null where it leaves them open. */
export function namedBy(call: Call, model: string): Result<RequestedModel> {
  return parseRequestedModel(call, model);
}

/** The models that a provider is known to have. */
export async function modelsOf(call: Call, provider: Provider): Promise<Catalog> {
  return await discover(call, provider);
}
