import {
  connectionCause,
  type Failure,
  FAULTS,
  isRefusal,
  isServerFailure,
} from "../core/failure/failure.ts";
import { repeatMask } from "../access/client_key_mask.ts";
import type { Reply } from "../core/stream/reply.ts";
import { pause } from "../core/pause.ts";
import { failed, type Result, success } from "../core/failure/result.ts";
import { circuitModel, isAble, openFor } from "../routing/accounts.ts";
import { mayHoldMore } from "../routing/context_size.ts";
import { hasPool, loadKey } from "../routing/key_pool.ts";
import type { Call } from "../call/call.ts";
import { type Candidate, type Candidates, setCarriage } from "../call/inference.ts";
import type { BreakerVerdict } from "../traffic/breakers.ts";
import type { Slot } from "../traffic/provider_slots.ts";
import { storageUnavailable } from "../store/store_failure.ts";
import { sendWithCredential } from "../upstream/credential_renewal.ts";
import { open } from "../upstream/open.ts";
import { sendWithKeys } from "./key_rotation.ts";
import { recordAttempt, recordTime } from "./record_attempt.ts";
import { sendThinkingOrNot, type Unthinking } from "./thinking_repeat.ts";
import { decideRetry, isRejection, type RetryDecision } from "./retry_policy.ts";
import { circuitOpen, releasedOnCancel, takeSlot } from "./slot.ts";

/**
 * Sends a call to its candidates in order until one responds; those that were silent are retried
 * last. A candidate that cannot hold a prompt that was too long for another one is skipped. If none
 * responds, returns the last failure; if one has rejected the request, the failure that began the
 * fallback, since a fallback may reject what the first candidate takes. `onLeft` is called with the
 * candidates that may still respond, before the attempts at each.
 */
export async function runCandidates(
  call: Call,
  candidates: Candidates,
  onLeft?: (left: readonly Candidate[]) => void,
): Promise<Result<Reply>> {
  const { report } = call;
  // A call queues for its target even if a fallback has a free slot. The candidates may all be
  // fallbacks.
  let current = report.fallbacks === 0 ? candidates[0] : nextOf(call, candidates) ?? candidates[0];
  const first = current;
  let began: Result<Reply> | null = null;
  let isRejected = false;
  let untried: readonly Candidate[] = candidates;
  const silent = new Map<Candidate, number>();
  const unthinking: Unthinking = new Map();
  for (;;) {
    untried = untried.filter((one) => one !== current);
    const made = silent.get(current) ?? 0;
    silent.delete(current);
    onLeft?.([current, ...untried, ...silent.keys()]);
    const { reply, next, attempts } = await runCandidate(call, current, {
      made,
      hasUntried: untried.length > 0,
      isFallback: current !== first,
      unthinking,
    });
    if (current === first) began = reply;
    if (!reply.ok && isRejection(reply.failure)) isRejected = true;
    if (next.kind === "later") silent.set(current, attempts);
    else if (next.kind !== "fallback") return reply.ok ? reply : endWith(reply);
    if (!reply.ok && reply.failure.kind === "context_length_exceeded") {
      const { target } = current;
      untried = untried.filter((one) => mayHoldMore(one.target, target));
      for (const one of silent.keys()) if (!mayHoldMore(one.target, target)) silent.delete(one);
    }
    const [later] = silent.keys();
    const following = nextOf(call, untried) ?? later;
    if (following === undefined) return endWith(reply);
    report.fallbacks++;
    current = following;
  }

  function endWith(last: Result<Reply>): Result<Reply> {
    // The end of the whole call, such as by its client, is no answer of a candidate.
    if (!isRejected || began === null || call.cancellation.isCancelled) return last;
    nameCandidate(report, unthinking.get(first)?.candidate ?? first);
    return began;
  }
}

/** Records the candidate whose response or failure the client gets. */
function nameCandidate(report: Call["report"], candidate: Candidate): void {
  report.provider = candidate.target.provider.id;
  // A request without a model has none in its report.
  report.model = candidate.target.model || null;
  setCarriage(report, candidate);
}

/**
 * Returns the next of these candidates to send to; undefined without one. A candidate without a
 * free slot is skipped if a later one can run now.
 */
function nextOf(call: Call, candidates: readonly Candidate[]): Candidate | undefined {
  const { slots } = call.state;
  const [first] = candidates;
  if (first === undefined || slots.isFree(first.target.provider)) return first;
  return candidates.find((one) => slots.isFree(one.target.provider) && isAble(call, one)) ?? first;
}

/** Sends a call once to one candidate, without retry or fallback. */
export async function runOnce(call: Call, candidate: Candidate): Promise<Result<Reply>> {
  const { provider, model } = candidate.target;
  setCarriage(call.report, candidate);
  call.report.provider = provider.id;
  if (model !== "") call.report.model = model;
  return await sendOnce(call, candidate, 1);
}

/** Events before the attempts at a candidate. */
interface Before {
  /** Number of earlier attempts at it. */
  readonly made: number;
  /** True if a candidate is left to which the call was not sent. */
  readonly hasUntried: boolean;
  /** True if it is tried in the place of another candidate. */
  readonly isFallback: boolean;
  readonly unthinking: Unthinking;
}

/** How the attempts at a candidate ended. */
interface Ended {
  readonly reply: Result<Reply>;
  readonly next: RetryDecision;
  /** Number of all attempts at it. */
  readonly attempts: number;
}

async function runCandidate(
  call: Call,
  candidate: Candidate,
  { made, hasUntried, isFallback, unthinking }: Before,
): Promise<Ended> {
  const { report, generation, controls } = call;
  const fallbackOn = candidate.target.failover?.fallbackOn ?? [];
  nameCandidate(report, unthinking.get(candidate)?.candidate ?? candidate);
  for (let attempts = made + 1;; attempts++) {
    const reply = await sendThinkingOrNot(
      call,
      candidate,
      unthinking,
      (one) => sendOnce(call, one, attempts),
    );
    if (reply.ok) return { reply, next: { kind: "stop" }, attempts };
    const next = decideRetry({
      failure: reply.failure,
      attempts,
      retry: generation.config.retry,
      retryAllowed: !controls.noRetry,
      random: call.world.random(),
      hasSideEffects: candidate.hasSideEffects,
      hasUntried,
      fallbackOn,
      isFallback,
    });
    if (next.kind !== "retry") return { reply, next, attempts };
    // If the circuit breaker will still be open after the delay, the retry fails at once, without
    // the delay.
    if (openFor(call, candidate) <= next.delayMs) {
      await pause(call.world, call.cancellation, next.delayMs);
    }
    const { reason } = call.cancellation;
    if (reason !== null) return { reply: failed(reason), next: { kind: "stop" }, attempts };
  }
}

function sendOnce(call: Call, candidate: Candidate, number: number): Promise<Result<Reply>> {
  const { reason } = call.cancellation;
  if (reason !== null) return Promise.resolve(failed(reason));
  if (candidate.storage !== undefined && call.state.availability?.isUp() === false) {
    return Promise.resolve(storageUnavailable(candidate.storage === "optional"));
  }
  const { slots, loads } = call.state;
  return slots.isInUse || loads.isInUse
    ? sendHolding(call, candidate, number)
    : sendAttempt(call, candidate, { number, held: NOTHING });
}

const NOTHING: Slot = { release() {} };

/** Makes an attempt that holds a slot of its provider and counts in the load of its target. */
async function sendHolding(
  call: Call,
  candidate: Candidate,
  number: number,
): Promise<Result<Reply>> {
  const { slots, loads } = call.state;
  const began = call.world.now();
  // Counted before the wait for a slot: calls that are planned meanwhile see it.
  const load = loads.isInUse
    ? releasedOnCancel(call, loads.begin(loadKey(candidate.target)))
    : NOTHING;
  const slot = slots.isInUse ? await takeSlot(call, candidate) : success(NOTHING);
  if (!slot.ok) {
    load.release();
    // A call that was cancelled in the queue has made no attempt.
    if (call.cancellation.reason === null) {
      recordAttempt(call, candidate, { number, began, isRotated: false, failure: slot.failure });
    }
    return slot;
  }
  const held: Slot = {
    release() {
      load.release();
      slot.value.release();
    },
  };
  let isStream = false;
  try {
    const reply = await sendAttempt(call, candidate, { number, held });
    isStream = reply.ok && reply.value.kind !== "whole";
    return reply;
  } finally {
    if (!isStream) held.release();
  }
}

/** An attempt with its slot and load, which the end of a delivered stream releases. */
interface Attempt {
  /** 1 for the first attempt at the candidate. */
  readonly number: number;
  readonly held: Slot;
}

function sendAttempt(call: Call, candidate: Candidate, attempt: Attempt): Promise<Result<Reply>> {
  const { number } = attempt;
  if (!hasPool(candidate.target.provider)) return send(candidate, false);
  const began = call.world.now();
  return sendWithKeys(call, candidate, {
    send,
    notSent: (failure) =>
      recordAttempt(call, candidate, { number, began, isRotated: false, failure }),
  });

  function send(prepared: Candidate, isRotated: boolean): Promise<Result<Reply>> {
    const { credential } = prepared.target.account;
    const sendOnce = (isRenewed: boolean) =>
      sendUnlessOpen(call, prepared, { ...attempt, isRotated: isRotated || isRenewed });
    return credential === null
      ? sendOnce(false)
      : sendWithCredential(call, credential.holder, sendOnce, refusedWith);
  }
}

/** Returns the status with which the provider has refused the key; undefined if it has not. */
function refusedWith(reply: Result<Reply>): number | undefined {
  return reply.ok || isRefusal(reply.failure) ? undefined : reply.failure.keyRefusal?.status;
}

/** Sends one request of an attempt unless the circuit breaker is open. */
async function sendUnlessOpen(
  call: Call,
  candidate: Candidate,
  { number, held, isRotated }: Attempt & { readonly isRotated: boolean },
): Promise<Result<Reply>> {
  const { state, generation, report } = call;
  const { account, model } = candidate.target;
  const began = call.world.now();
  const { circuit_breaker } = generation.config;
  const permit = state.breakers.admit(account.digest, circuit_breaker, circuitModel(call, model));
  if ("openFor" in permit) {
    const refused = circuitOpen(permit.openFor);
    recordAttempt(call, candidate, { number, began, isRotated, failure: refused.failure });
    return refused;
  }
  let isCommitted = false;
  let firstByteAt: number | null = null;
  let contentAt: number | null = null;
  call.capture?.upstreamRequest(candidate.request);
  const { target } = candidate;
  const span = report.span?.beginAttempt(target.provider.settings, repeatMask(call, target)) ??
    null;
  try {
    const reply = await open(call, candidate, {
      span,
      onEnd(failure) {
        if (!isCommitted) return;
        held.release();
        permit.end(streamVerdict(failure));
        report.failure = failure;
        report.brokeOff = failure !== null;
      },
      onContent: () => void (contentAt ??= call.world.now()),
      ...state.loads.isInUse && { onFirstByte: () => void (firstByteAt = call.world.now()) },
    });
    isCommitted = reply.ok;
    if (state.loads.isInUse) {
      recordTime(call, candidate, { reply, firstByteMs: firstByteAt && firstByteAt - began });
    }
    if (!reply.ok) permit.end(verdictOf(reply.failure));
    else if (reply.value.kind !== "whole") permit.committed();
    else permit.end("success");
    const failure = reply.ok ? null : reply.failure;
    recordAttempt(call, candidate, { number, began, isRotated, failure, contentAt, span });
    return reply;
  } finally {
    // Only the first `end` has an effect: this call is for a thrown error.
    if (!isCommitted) permit.end("neutral");
  }
}

/** Returns the verdict of the circuit breaker on an attempt that failed before delivery began. */
function verdictOf(failure: Failure): BreakerVerdict {
  if (isRefusal(failure)) return "neutral";
  const { breaker } = FAULTS[failure.kind];
  return breaker === "failure" ? failureOf(failure) : breaker;
}

/**
 * Returns the verdict of the circuit breaker on a delivered stream: a failure only if the server
 * broke it.
 */
function streamVerdict(failure: Failure | null): BreakerVerdict {
  if (failure === null) return "success";
  // The provider delivered its whole stream, only not as promised.
  if (failure.kind === "promise_broken") return "neutral";
  return isServerFailure(failure) ? failureOf(failure) : "neutral";
}

function failureOf(failure: Failure): BreakerVerdict {
  return connectionCause(failure) === null ? "failure" : "unreachable";
}
