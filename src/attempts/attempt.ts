import type { Failure } from "../core/failure.ts";
import { connectionCause, FAULTS, isRefusal, isServerFailure } from "../core/failure.ts";
import type { Reply } from "../core/reply.ts";
import { pause } from "../core/pause.ts";
import { failed, type Result } from "../core/result.ts";
import type { Call } from "../call/call.ts";
import { setCarriage } from "../call/carriage.ts";
import type { Candidate, Candidates } from "../call/inference.ts";
import type { BreakerVerdict } from "../state/breakers.ts";
import type { Slot } from "../state/provider_slots.ts";
import { storageUnavailable } from "../state/store_failure.ts";
import { open } from "../upstream/open.ts";
import { decideRetry, type RetryDecision } from "./retry_policy.ts";
import { circuitOpen, takeSlot } from "./slot.ts";

/** Sends a call to its candidates in order until one responds. Returns the last failure otherwise. */
export async function runCandidates(call: Call, candidates: Candidates): Promise<Result<Reply>> {
  const { report } = call;
  // A call queues for its target even if a fallback has a free slot. The candidates may all be fallbacks.
  let current = report.fallbacks === 0
    ? candidates[0]
    : nextFallback(call, candidates) ?? candidates[0];
  let rest: readonly Candidate[] = candidates;
  for (;;) {
    const { reply, next } = await runCandidate(call, current);
    if (next.kind !== "fallback") return reply;
    rest = rest.filter((one) => one !== current);
    const fallback = nextFallback(call, rest);
    if (fallback === undefined) return reply;
    report.fallbacks++;
    current = fallback;
  }
}

/**
 * Returns the next fallback to send to; undefined without fallbacks. A fallback without a free slot is
 * skipped if a later fallback can run now.
 */
function nextFallback(call: Call, fallbacks: readonly Candidate[]): Candidate | undefined {
  const { slots, breakers } = call.state;
  const settings = call.generation.config.circuit_breaker;
  const [first] = fallbacks;
  if (first === undefined || slots.isFree(first.target.provider)) return first;
  return fallbacks.find(({ target: { provider } }) =>
    slots.isFree(provider) && !breakers.isOpen(provider.account, settings)
  ) ?? first;
}

/** Sends a call once to one candidate, without retry or fallback. */
export async function runOnce(call: Call, candidate: Candidate): Promise<Result<Reply>> {
  const { provider, model } = candidate.target;
  setCarriage(call.report, candidate);
  call.report.provider = provider.id;
  if (model !== "") call.report.model = model;
  return await sendOnce(call, candidate, 1);
}

interface CandidateResult {
  readonly reply: Result<Reply>;
  readonly next: RetryDecision;
}

async function runCandidate(call: Call, candidate: Candidate): Promise<CandidateResult> {
  const { report, generation, controls, state } = call;
  const { account } = candidate.target.provider;
  report.provider = candidate.target.provider.id;
  report.model = candidate.target.model;
  setCarriage(call.report, candidate);
  for (let attempts = 1;; attempts++) {
    const reply = await sendOnce(call, candidate, attempts);
    if (reply.ok) return { reply, next: { kind: "stop" } };
    const next = decideRetry({
      failure: reply.failure,
      attempts,
      retry: generation.config.retry,
      retryAllowed: !controls.noRetry,
      random: call.world.random(),
      hasSideEffects: candidate.hasSideEffects,
    });
    if (next.kind !== "retry") return { reply, next };
    // If the circuit breaker will still be open after the delay, the retry fails at once, without the delay.
    const openFor = state.breakers.openFor(account, generation.config.circuit_breaker);
    if (openFor <= next.delayMs) await pause(call.world, call.cancellation, next.delayMs);
    const { reason } = call.cancellation;
    if (reason !== null) return { reply: failed(reason), next: { kind: "stop" } };
  }
}

function sendOnce(call: Call, candidate: Candidate, number: number): Promise<Result<Reply>> {
  const { reason } = call.cancellation;
  if (reason !== null) return Promise.resolve(failed(reason));
  if (candidate.storage !== undefined && call.state.availability?.isUp() === false) {
    return Promise.resolve(storageUnavailable(candidate.storage === "optional"));
  }
  return call.state.slots.isInUse
    ? sendInSlot(call, candidate, number)
    : sendUnlessOpen(call, candidate, { number, slot: NO_SLOT });
}

const NO_SLOT: Slot = { release() {} };

async function sendInSlot(
  call: Call,
  candidate: Candidate,
  number: number,
): Promise<Result<Reply>> {
  const began = call.world.now();
  const slot = await takeSlot(call, candidate);
  if (slot.ok) return await sendUnlessOpen(call, candidate, { number, slot: slot.value });
  // A call that was cancelled in the queue has made no attempt.
  if (call.cancellation.reason === null) {
    recordAttempt(call, candidate, { number, began, failure: slot.failure });
  }
  return slot;
}

/** Sends the attempt unless the circuit breaker is open. The slot is released when the attempt ends. */
async function sendUnlessOpen(
  call: Call,
  candidate: Candidate,
  { number, slot }: { readonly number: number; readonly slot: Slot },
): Promise<Result<Reply>> {
  const { state, generation, report } = call;
  const { account } = candidate.target.provider;
  const began = call.world.now();
  const permit = state.breakers.admit(account, generation.config.circuit_breaker);
  if ("openFor" in permit) {
    slot.release();
    const refused = circuitOpen(permit.openFor);
    recordAttempt(call, candidate, { number, began, failure: refused.failure });
    return refused;
  }
  let isCommitted = false;
  let isStream = false;
  call.capture?.upstreamRequest(candidate.request);
  try {
    const reply = await open(call, candidate, (failure) => {
      if (!isCommitted) return;
      slot.release();
      permit.end(streamVerdict(failure));
      report.failure = failure;
      report.brokeOff = failure !== null;
    });
    isCommitted = reply.ok;
    isStream = reply.ok && reply.value.kind === "stream";
    if (!reply.ok) permit.end(verdictOf(reply.failure));
    else if (isStream) permit.committed();
    else permit.end("success");
    recordAttempt(call, candidate, { number, began, failure: reply.ok ? null : reply.failure });
    return reply;
  } finally {
    // Only the first `end` has an effect: this call is for a thrown error.
    if (!isCommitted) permit.end("neutral");
    if (!isStream) slot.release();
  }
}

/** An attempt that ends now. */
interface EndedAttempt {
  /** 1 for the first attempt at the candidate. */
  readonly number: number;
  readonly began: number;
  /** Null if the attempt has succeeded. */
  readonly failure: Failure | null;
}

/** Adds an attempt that ends now to the report of the call. */
function recordAttempt(
  { report, world }: Call,
  { target: { provider, model } }: Candidate,
  { number, began, failure }: EndedAttempt,
): void {
  report.attempts.push({
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

/** Returns the verdict of the circuit breaker on a delivered stream: a failure only if the server broke it. */
function streamVerdict(failure: Failure | null): BreakerVerdict {
  if (failure === null) return "success";
  // The provider delivered its whole stream, only not as promised.
  if (failure.kind === "promise_broken") return "neutral";
  return isServerFailure(failure) ? "failure" : "neutral";
}
