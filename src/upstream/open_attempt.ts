import type { Call } from "../call/call.ts";
import type { Candidate } from "../call/inference.ts";
import type { AttemptSpan } from "../core/call_span.ts";
import { type Failure, isRefusal } from "../core/failure/failure.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { Usage } from "../core/stream/events.ts";
import type { Outcome } from "../core/stream/stream.ts";
import { finishOutcome } from "../redaction/finish_outcome.ts";
import type { ResponseMemory } from "../traffic/call_memory.ts";
import { type Failover, secretsOf } from "../wires/wire.ts";
import type { AttemptTimer } from "./attempt_timer.ts";
import type { BodyReader } from "./body.ts";
import { TOO_MUCH_WAITING } from "./deliver.ts";
import { newLargeCounts } from "./large_counts.ts";
import { redactedFailure } from "./rejection.ts";

/** Settings of a target that no route has. */
export const NO_FAILOVER: Failover = { firstContentMs: null, contextSize: null, fallbackOn: [] };

/** Events of one attempt. */
export interface AttemptEvents {
  /** Called when a stream ends, with null if it was complete. */
  onEnd(failure: Failure | null): void;
  /** Called when content of a stream has arrived before its delivery; absent if not needed. */
  onContent?(): void;
  /** Called with the first bytes of the response body; absent if their time is not needed. */
  onFirstByte?(): void;
  /** Span of the attempt; absent or null while spans are not exported. */
  readonly span?: AttemptSpan | null;
}

/** Reading of a response for its token counts after its client has left. */
export interface LateReading {
  /** True if the counts may still come. */
  isAwaited: () => boolean;
}

/**
 * Values of `LateReading` that hold nothing. A closure over what reads the response would keep the
 * objects of calls that are over for the next calls: measured, 1.5 times the processor time of a
 * small call.
 */
export const ALWAYS = () => true, NEVER = () => false;

/** One attempt whose response is read. */
export interface OpenAttempt {
  readonly call: Call;
  readonly candidate: Candidate;
  readonly timer: AttemptTimer;
  readonly memory: ResponseMemory;
  readonly span: AttemptSpan | null;
  readonly events: Pick<AttemptEvents, "onEnd" | "onContent">;
  /** True if the tokens of the call are charged to the key of its client. */
  readonly isCharged: boolean;
  readonly late: LateReading;
}

export function isCancelled({ call }: OpenAttempt): boolean {
  return call.cancellation.reason !== null;
}

/** True if the counts of the response are charged, estimated or exported. */
export function isCounted({ call, span }: OpenAttempt): boolean {
  return call.client.meter !== null || span !== null;
}

/** True if an empty response that a content filter has ended is answered by the next target. */
export function avoidsFilter({ target: { failover }, hasSideEffects }: Candidate): boolean {
  // A response that is stored at the provider is the client's, also if it is empty.
  return failover?.fallbackOn.includes("content_filter") === true && !hasSideEffects;
}

/** True if the gateway ends the response at stop texts. */
export function hasStops({ request: { promises } }: Candidate): boolean {
  return promises?.some(({ kind }) => kind === "stop") ?? false;
}

/** True if the provider has answered with more than can be read, which it bills. */
export function isTooLarge(failure: Failure): boolean {
  return failure.kind === "upstream_response_too_large" && failure !== TOO_MUCH_WAITING;
}

/**
 * True if the provider continues after a stream that cannot be delivered, and then reports its
 * counts; also after an error in a stream that was delivered until then.
 */
export function isUnusable(failure: Failure, isDelivered: boolean): boolean {
  const { kind } = failure;
  const isReported = isDelivered && !isRefusal(failure) && failure.upstream !== null;
  return isReported || kind === "promise_broken" || kind === "invalid_upstream_response" ||
    isTooLarge(failure);
}

/** Sets the source of the counts that the provider has reported. */
export function reportCounts({ call, span }: OpenAttempt, counts: () => Usage | null): void {
  call.client.meter?.stream(counts);
  span?.uses(counts);
}

/**
 * Counts what a whole response says that is too large to be parsed, or breaks off. The strings of
 * one that has no text, such as a ranking, are no output.
 */
export async function countUnusable(
  attempt: OpenAttempt,
  bytes: Uint8Array,
  body: BodyReader,
): Promise<void> {
  if (!isCounted(attempt)) return;
  const { client: { meter }, report: { endpoint: { operation } } } = attempt.call;
  attempt.late.isAwaited = ALWAYS;
  attempt.timer.linger();
  const { usage, textBytes } = await newLargeCounts(body)(bytes);
  reportCounts(attempt, () => usage);
  if (operation === "chat" || operation === "text_completion") meter?.refuse(textBytes);
}

/** Stores the outcome as the client receives it; a failure if a rule of privacy refuses it. */
export function storeFinished(
  { call, candidate }: OpenAttempt,
  outcome: Outcome,
): Promise<Result<void>> | null {
  return call.client.privacy === null
    ? candidate.onComplete(outcome)
    : finishAndStore(call, candidate, outcome);
}

async function finishAndStore(
  call: Call,
  candidate: Candidate,
  outcome: Outcome,
): Promise<Result<void>> {
  const finished = await finishOutcome(call, outcome, candidate);
  if (!finished.ok) return finished;
  return await candidate.onComplete(finished.value) ?? success(undefined);
}

/** Reports the end of the response without the secrets of its provider. */
export function reportEnd({ candidate, events }: OpenAttempt, failure: Failure | null): void {
  events.onEnd(failure === null ? null : redactedFailure(failure, secretsOf(candidate.target)));
}
