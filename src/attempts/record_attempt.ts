import {
  type Failure,
  FAULTS,
  isRefusal,
  isServerFailure,
  upstreamCause,
} from "../core/failure/failure.ts";
import type { Reply } from "../core/stream/reply.ts";
import { wordMask } from "../access/client_key_mask.ts";
import { keptName } from "../core/text_beginning.ts";
import type { Result } from "../core/failure/result.ts";
import { hasPool, loadKey } from "../routing/key_pool.ts";
import type { AttemptSpan } from "../core/call_span.ts";
import type { Call } from "../call/call.ts";
import type { Candidate } from "../call/inference.ts";

/**
 * Records the time to the first byte of an attempt. A failed attempt counts as the timeout of its
 * provider: a target that fails fast must not become the fastest one.
 */
export function recordTime(
  { state }: Call,
  { target }: Candidate,
  { reply, firstByteMs }: { readonly reply: Result<Reply>; readonly firstByteMs: number | null },
): void {
  if (!reply.ok && !isServerFailure(reply.failure)) return;
  const ms = reply.ok ? firstByteMs : target.provider.settings.timeout;
  if (ms !== null) state.loads.record(loadKey(target), ms);
}

/** An attempt that ends now. */
export interface EndedAttempt {
  /** 1 for the first attempt at the candidate. */
  readonly number: number;
  readonly began: number;
  /** True if another key was refused before in the same attempt. */
  readonly isRotated: boolean;
  /** Null if the attempt has succeeded. */
  readonly failure: Failure | null;
  /** Time of the first content of a stream. */
  readonly contentAt?: number | null;
  /** Span of the attempt; absent or null while spans are not exported. */
  readonly span?: AttemptSpan | null;
}

/**
 * Adds an attempt that ends now to the report of the call. An attempt that was not sent names no
 * key.
 */
export function recordAttempt(
  call: Call,
  { target: { provider, account, model } }: Candidate,
  { number, began, isRotated, failure, contentAt = null, span = null }: EndedAttempt,
): void {
  const { report, world } = call;
  const isSent = failure === null || isRefusal(failure) || FAULTS[failure.kind].notSent !== true;
  report.attempts.push({
    provider: provider.id,
    key: hasPool(provider) && isSent ? account.name : null,
    isRotated,
    // Reports wait for the metrics after their calls. A cut key would not be found.
    model: keptName(wordMask(call)?.(model) ?? model),
    outcome: failure?.kind ?? "success",
    cause: upstreamCause(failure),
    number,
    ...contentAt !== null && { firstContentMs: contentAt - began },
    ...span !== null && { span },
    began: began - report.began,
    ended: world.now() - report.began,
  });
}
