import { type Failure, isRefusal } from "../core/failure/failure.ts";
import type { Reply } from "../core/stream/reply.ts";
import { failed, type Result, success } from "../core/failure/result.ts";
import { type Candidate, setCarriage } from "../call/inference.ts";
import type { Call } from "../call/call.ts";
import { awaitTranslation } from "../call/call_turns.ts";

/** A candidate with thinking turned off, and the refusal of the planned one. */
interface Repeated {
  readonly candidate: Candidate;
  readonly refusal: Failure;
}

/** The candidates of a call whose thinking was turned off, by the candidates that were planned. */
export type Unthinking = Map<Candidate, Repeated>;

/**
 * Sends a candidate. If its model refuses a tool loop because it continues without thinking, it is
 * sent again at once with thinking turned off, and only so from then on: a refused request was
 * certainly not processed. If the model rejects that too, the failure is its refusal of what the
 * client has sent: the other one may be about a field that only the gateway has set.
 */
export async function sendThinkingOrNot(
  call: Call,
  candidate: Candidate,
  unthinking: Unthinking,
  send: (candidate: Candidate) => Promise<Result<Reply>>,
): Promise<Result<Reply>> {
  if (!unthinking.has(candidate)) {
    const reply = await send(candidate);
    if (reply.ok || isRefusal(reply.failure) || reply.failure.isThinkingMissing !== true) {
      return reply;
    }
    if (candidate.withoutThinking === undefined) return reply;
    const stopped = await awaitTranslation(call, "entering");
    if (stopped !== null) return stopped;
    const changed = candidate.withoutThinking();
    if (!changed.ok) return reply;
    unthinking.set(candidate, { candidate: changed.value, refusal: reply.failure });
    setCarriage(call.report, changed.value);
  }
  const repeated = unthinking.get(candidate);
  const reply = await send(repeated?.candidate ?? candidate);
  if (!reply.ok && reply.failure.kind === "upstream_rejected" && repeated !== undefined) {
    unthinking.delete(candidate);
    setCarriage(call.report, candidate);
    return failed(repeated.refusal);
  }
  return reply.ok && reply.value.kind === "whole"
    ? success({ ...reply.value, isCacheable: false })
    : reply;
}
