import { bugText } from "../core/failure/bug_text.ts";
import type { Fault } from "../core/failure/failure.ts";
import { type Failed, internalFault } from "../core/failure/result.ts";
import type { Call } from "../call/call.ts";

/**
 * Returns the failure of a call in which an error was thrown, which is a bug. The report has the
 * place of the bug; the client does not get it.
 */
export function internalError(call: Call, error: unknown): Failed<Fault> {
  call.report.bug = bugText(error);
  const bug = internalFault();
  // An upstream stream that was opened before is never read: cancelling releases its connection and
  // its slot.
  call.cancellation.cancel(bug.failure);
  return bug;
}
