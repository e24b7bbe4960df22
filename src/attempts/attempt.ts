import type { Failure } from "../core/failure.ts";
import { connectionCause, FAULTS, isRefusal } from "../core/failure.ts";
import type { Reply } from "../core/reply.ts";
import { failed, fault, type Result } from "../core/result.ts";
import type { Call } from "../gateway/call.ts";
import type { Attempt, Plan } from "../gateway/inference.ts";
import type { BreakerVerdict } from "../state/breakers.ts";
import { open } from "../upstream/open.ts";
import { again, type Next } from "./again.ts";
import { pause } from "./pause.ts";

/** Tries the plan, target by target; the last failure decides what the client sees. */
export async function attempt(call: Call, plan: Plan): Promise<Result<Reply>> {
  const [first, ...others] = plan;
  let outcome = await tryTarget(call, first);
  for (const other of others) {
    if (outcome.next.do !== "fall back") break;
    call.report.fallbacks++;
    outcome = await tryTarget(call, other);
  }
  return outcome.reply;
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
    if (openFor <= next.after) await pause(call, next.after);
    const { reason } = call.departure;
    if (reason !== null) return { reply: failed(reason), next: { do: "stop" } };
  }
}

async function tryOnce(call: Call, attempt: Attempt, number: number): Promise<Result<Reply>> {
  const { vault, generation, report } = call;
  const { id, account } = attempt.target.provider;
  const since = () => call.world.now() - report.began;
  const began = since();
  if (call.departure.reason !== null) return failed(call.departure.reason);
  const permit = vault.breakers.admit(account, generation.config.circuit_breaker);
  if ("openFor" in permit) {
    const message = "The provider has failed too often and is left alone for a while.";
    const refused = fault("circuit_open", message, { taken: false, retryAfter: permit.openFor });
    tell(refused.failure);
    return refused;
  }
  let isCommitted = false;
  report.sent = attempt.request;
  try {
    const reply = await open(call, attempt, (failure) => {
      if (!isCommitted) return;
      permit.end(verdictOf(failure, true));
      report.failure = failure;
      report.brokeOff = failure !== null;
    });
    isCommitted = reply.ok;
    if (!reply.ok) permit.end(verdictOf(reply.failure, false));
    else if (reply.value.as === "answer") permit.end("success");
    else permit.committed();
    tell(reply.ok ? null : reply.failure);
    return reply;
  } finally {
    // Only the first end counts: this one is for what is thrown.
    if (!isCommitted) permit.end("neutral");
  }

  function tell(failure: Failure | null) {
    const { model } = attempt.target;
    const outcome = failure?.kind ?? "success";
    const cause = connectionCause(failure);
    report.tries.push({ provider: id, model, outcome, cause, number, began, ended: since() });
  }
}

/** A stream that broke after delivery began is a failure whatever broke it, unless the client left. */
function verdictOf(failure: Failure | null, isBroken: boolean): BreakerVerdict {
  if (failure === null) return "success";
  if (failure.kind === "client_cancelled" || isRefusal(failure)) return "neutral";
  return isBroken ? "failure" : FAULTS[failure.kind][5];
}
