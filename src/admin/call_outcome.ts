import { type Failure, FAULTS, isRefusal, logEndOf, REFUSALS } from "../core/failure.ts";
import { type CallReport, wasSent } from "../observe/report.ts";
import type { CallOutcome, FinishedCall } from "./snapshot.ts";

/** Returns what became of a finished call. */
export function outcomeOf(
  { failure, attempts }: Pick<CallReport, "failure" | "attempts">,
): CallOutcome {
  if (failure === null) return "complete";
  if (isRefusal(failure)) return "refused";
  if (FAULTS[failure.kind].byClient) return "left";
  if (!wasSent({ outcome: failure.kind })) return attempts.some(wasSent) ? "failed" : "not_sent";
  return logEndOf(failure) === "refused" ? "refused" : "failed";
}

/** Returns the code of a failure as clients receive it; its kind if it comes from a provider. */
export function codeOf(failure: Failure): string {
  return isRefusal(failure) ? REFUSALS[failure.kind].code ?? failure.kind : failure.kind;
}

/** Returns why a call is stored longer than others; null for a call that is not. */
export function markOf(
  { outcome, isSlow }: Pick<FinishedCall, "outcome" | "isSlow">,
): "failed" | "not_sent" | "refused" | "slow" | null {
  if (outcome === "complete" || outcome === "left") return isSlow ? "slow" : null;
  return outcome;
}
