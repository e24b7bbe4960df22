import type { HttpResponse, Reply } from "../core/reply.ts";
import type { Call } from "../call/call.ts";
import type { Candidate, Candidates, Inference } from "../call/inference.ts";
import { keyOf } from "./key.ts";

/** A look into the cache that took place. */
export interface Lookup {
  /** Of the first attempt of the plan. */
  readonly key: string;
  /** What was found; null for a miss. */
  readonly answer: HttpResponse | null;
}

/**
 * Looks for the answer to the first attempt of the plan; null when the cache is off, the caller
 * bypasses it, or the call is not one whose answers are cached. What happened is in the report.
 */
export function lookUp(call: Call, inference: Inference, plan: Candidates): Lookup | null {
  const { generation, controls, state, report } = call;
  if (!generation.config.caching.enabled || controls.noCache) return null;
  const [{ target }] = plan;
  const key = keyOf(call, inference, plan[0]);
  if (key === null) return null;
  const answer = state.cache.get(key) ?? null;
  report.cache = answer === null ? "MISS" : "HIT";
  if (answer !== null) {
    report.provider = target.provider.id;
    report.model = target.model;
  }
  return { key, answer };
}

/** Keeps the answer of the attempt that served a call which was looked up and missed. */
export function remember(
  call: Call,
  inference: Inference,
  plan: Candidates,
  lookup: Lookup,
  reply: Reply,
): void {
  if (reply.kind !== "whole" || reply.answer.status !== 200) return;
  const served = servedBy(call, plan);
  const key = served === plan[0] ? lookup.key : keyOf(call, inference, served);
  if (key === null) return;
  const answer = lasting(reply.answer);
  call.state.cache.set(key, answer, key.length + bytesOf(answer));
}

/** Not found by counting fallbacks: a plan may begin with one. Attempts of one provider and model share a key. */
function servedBy({ report }: Call, plan: Candidates): Candidate {
  const isServer = ({ target }: Candidate) =>
    target.provider.id === report.provider && target.model === report.model;
  return plan.find(isServer) ?? plan[0];
}

/** Other headers speak of the one call that was answered: its id, its date, what is left of a quota. */
function lasting({ status, headers, body }: HttpResponse): HttpResponse {
  const type = headers["content-type"];
  return { status, headers: type === undefined ? {} : { "content-type": type }, body };
}

function bytesOf({ headers, body }: HttpResponse): number {
  return JSON.stringify(headers).length + body.byteLength;
}
