import { isRefusal } from "../core/failure/failure.ts";
import type { Reply } from "../core/stream/reply.ts";
import { type Result, success } from "../core/failure/result.ts";
import { type Candidate, setCarriage } from "../call/inference.ts";
import type { Call } from "../call/call.ts";

/** The candidates of a call whose thinking was turned off, by the candidates that were planned. */
export type Unthinking = Map<Candidate, Candidate>;

/**
 * Sends a candidate. If its model refuses a tool loop because it goes on without thinking, it is
 * sent again at once with thinking turned off, and only so from then on: a refused request was
 * certainly not processed.
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
    const changed = candidate.withoutThinking?.();
    if (changed?.ok !== true) return reply;
    unthinking.set(candidate, changed.value);
    setCarriage(call.report, changed.value);
  }
  const reply = await send(unthinking.get(candidate) ?? candidate);
  return reply.ok && reply.value.kind === "whole"
    ? success({ ...reply.value, isCacheable: false })
    : reply;
}
