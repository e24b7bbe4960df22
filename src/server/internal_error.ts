import { bugText } from "../core/bug_text.ts";
import { type Failed, fault } from "../core/result.ts";
import type { Call } from "../call/call.ts";

/** What a client is told when something was thrown, which is a bug; the report says where. */
export function internalError(call: Call, error: unknown): Failed {
  call.report.bug = bugText(error);
  const bug = fault("internal_error", "The gateway has failed; this is a bug in it.");
  // An upstream stream that was opened before is never read: its connection and its slot are given back.
  call.cancellation.cancel(bug.failure);
  return bug;
}
