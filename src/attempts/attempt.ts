import type { Failure } from "../core/failure.ts";
import { connectionCause, FAULTS, isRefusal, isServerFailure } from "../core/failure.ts";
import type { Reply } from "../core/reply.ts";
import { pause } from "../core/pause.ts";
import { failed, type Result } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import type { Attempt, Plan } from "../call/inference.ts";
import type { BreakerVerdict } from "../state/breakers.ts";
import type { Slot } from "../state/provider_slots.ts";
import { open } from "../upstream/open.ts";
import { again, type Next } from "./retry_policy.ts";
import { circuitOpen, takeSlot } from "./slot.ts";

/** Tries the plan, target by target; the last failure decides what the client sees. */
export async function attempt(call: Call, plan: Plan): Promise<Result<Reply>> {
  const { report } = call;
  // A call waits for its target, though a fallback is free. A plan may also hold fallbacks alone.
  let current = report.fallbacks === 0 ? plan[0] : nextFallback(call, plan) ?? plan[0];
  let rest: readonly Attempt[] = plan;
  for (;;) {
    const { reply, next } = await tryTarget(call, current);
    if (next.do !== "fall back") return reply;
    rest = rest.filter((one) => one !== current);
    const fallback = nextFallback(call, rest);
    if (fallback === undefined) return reply;
    report.fallbacks++;
    current = fallback;
  }
}

/**
 * Returns the first of these fallbacks; one without a free slot is passed over while a later one can run
 * now. Undefined without fallbacks.
 */
function nextFallback(call: Call, fallbacks: readonly Attempt[]): Attempt | undefined {
  const { slots, breakers } = call.vault;
  const settings = call.generation.config.circuit_breaker;
  const [first] = fallbacks;
  if (first === undefined || slots.isFree(first.target.provider)) return first;
  return fallbacks.find(({ target: { provider } }) =>
    slots.isFree(provider) && !breakers.isOpen(provider.account, settings)
  ) ?? first;
}

/** One owner, one attempt: no repeat, no fallback. */
export async function attemptOnce(call: Call, attempt: Attempt): Promise<Result<Reply>> {
  const { provider, model } = attempt.target;
  call.report.provider = provider.id;
  if (model !== "") call.report.model = model;
  return await tryOnce(call, attempt, 1);
}

interface Tried {
  readonly reply: Result<Reply>;
  readonly next: Next;
}

async function tryTarget(call: Call, attempt: Attempt): Promise<Tried> {
  const { report, generation, controls, vault } = call;
  const { account } = attempt.target.provider;
  report.provider = attempt.target.provider.id;
  report.model = attempt.target.model;
  for (let tries = 1;; tries++) {
    const reply = await tryOnce(call, attempt, tries);
    if (reply.ok) return { reply, next: { do: "stop" } };
    const next = again({
      failure: reply.failure,
      tries,
      retry: generation.config.retry,
      mayRepeat: !controls.noRetry,
      random: call.world.random(),
      leavesState: attempt.leavesState,
    });
    if (next.do !== "repeat") return { reply, next };
    // A breaker that will still be open then ends the repeats: nothing is worth waiting for.
    const openFor = vault.breakers.openFor(account, generation.config.circuit_breaker);
    if (openFor <= next.after) await pause(call.world, call.cancellation, next.after);
    const { reason } = call.cancellation;
    if (reason !== null) return { reply: failed(reason), next: { do: "stop" } };
  }
}

function tryOnce(call: Call, attempt: Attempt, number: number): Promise<Result<Reply>> {
  const { reason } = call.cancellation;
  if (reason !== null) return Promise.resolve(failed(reason));
  return call.vault.slots.isInUse
    ? tryInSlot(call, attempt, number)
    : trySend(call, attempt, number, NO_SLOT);
}

const NO_SLOT: Slot = { release() {} };

async function tryInSlot(call: Call, attempt: Attempt, number: number): Promise<Result<Reply>> {
  const began = call.world.now();
  const slot = await takeSlot(call, attempt);
  if (slot.ok) return await trySend(call, attempt, number, slot.value);
  // A call that ended in the queue has tried nothing.
  if (call.cancellation.reason === null) note(call, attempt, number, began, slot.failure);
  return slot;
}

/** Sends the attempt unless the circuit breaker is open. The slot is released when the attempt ends. */
async function trySend(
  call: Call,
  attempt: Attempt,
  number: number,
  slot: Slot,
): Promise<Result<Reply>> {
  const { vault, generation, report } = call;
  const { account } = attempt.target.provider;
  const began = call.world.now();
  const permit = vault.breakers.admit(account, generation.config.circuit_breaker);
  if ("openFor" in permit) {
    slot.release();
    const refused = circuitOpen(permit.openFor);
    note(call, attempt, number, began, refused.failure);
    return refused;
  }
  let isCommitted = false;
  let isStream = false;
  call.capture?.upstreamRequest(attempt.request);
  try {
    const reply = await open(call, attempt, (failure) => {
      if (!isCommitted) return;
      slot.release();
      permit.end(streamVerdict(failure));
      report.failure = failure;
      report.brokeOff = failure !== null;
    });
    isCommitted = reply.ok;
    isStream = reply.ok && reply.value.as === "stream";
    if (!reply.ok) permit.end(verdictOf(reply.failure));
    else if (isStream) permit.committed();
    else permit.end("success");
    note(call, attempt, number, began, reply.ok ? null : reply.failure);
    return reply;
  } finally {
    // Only the first end counts: this one is for what is thrown.
    if (!isCommitted) permit.end("neutral");
    if (!isStream) slot.release();
  }
}

/** Adds an attempt that ends now to the report of the call. */
function note(
  { report, world }: Call,
  { target: { provider, model } }: Attempt,
  number: number,
  began: number,
  failure: Failure | null,
): void {
  report.tries.push({
    provider: provider.id,
    model,
    outcome: failure?.kind ?? "success",
    cause: connectionCause(failure),
    number,
    began: began - report.began,
    ended: world.now() - report.began,
  });
}

/** Returns the verdict of the circuit breaker on an attempt that failed before delivery began. */
function verdictOf(failure: Failure): BreakerVerdict {
  return isRefusal(failure) ? "neutral" : FAULTS[failure.kind].breaker;
}

/** Returns the verdict on a stream that delivered: one that broke is a failure, unless the client ended it. */
function streamVerdict(failure: Failure | null): BreakerVerdict {
  if (failure === null) return "success";
  return isServerFailure(failure) ? "failure" : "neutral";
}
