import { newPrivacyCounts } from "../core/privacy_counts.ts";
import type { Fault } from "../core/failure/failure.ts";
import { type Failed, fault, type Result, success } from "../core/failure/result.ts";
import type { Outcome } from "../core/stream/stream.ts";
import { type AnswerText, newRuleText, newTokenText } from "../privacy/answer_text.ts";
import { finishObject, textSteps } from "../privacy/finish.ts";
import type { CallPrivacy } from "../privacy/types.ts";
import { atPace } from "../core/at_once.ts";
import type { Call } from "../call/call.ts";
import type { Candidate } from "../call/inference.ts";
import { paceOf } from "./request.ts";
import { knownTokens, storeValues } from "./stored_values.ts";

/**
 * Returns the outcome of a call as it is stored: with what the client receives, so that a later
 * request finds it. Refused as the response rules say; nothing is stored then.
 */
export async function finishOutcome(
  call: Call,
  outcome: Outcome,
  { hasSideEffects }: Pick<Candidate, "hasSideEffects">,
): Promise<Result<Outcome>> {
  const { privacy } = call.client;
  if (privacy === null) return success(outcome);
  // The delivered answer counts, not its copy.
  const counts = newPrivacyCounts();
  const tokens = knownTokens(privacy);
  const { policy: { response } } = privacy;
  const rules = newRuleText(response, counts);
  const ruled = response.length === 0 ? outcome : await finishWith(call, rules, outcome, privacy);
  if (rules.isRefused()) return refuseAnswer(call);
  if (hasSideEffects && outcome.resource !== null) {
    await storeValues(call, privacy, outcome.resource);
  }
  if (tokens.size === 0) return success(ruled);
  return success(await finishWith(call, newTokenText(tokens, counts), ruled, privacy));
}

/** Stores the values of a call for a response that its provider stores and has not ended yet. */
export async function storeValuesOf(call: Call, id: string): Promise<void> {
  const { privacy } = call.client;
  if (privacy !== null) await storeValues(call, privacy, { id });
}

/**
 * Stores the values of a request for what it changes at its provider, which may have done so even
 * if its answer is refused or never arrives.
 */
export async function storeSentValues(
  call: Call,
  privacy: CallPrivacy,
  { hasSideEffects }: Pick<Candidate, "hasSideEffects">,
): Promise<void> {
  if (hasSideEffects && privacy.tokens.size > 0) await storeValues(call, privacy, {});
}

async function finishWith(
  call: Call,
  answer: AnswerText,
  outcome: Outcome,
  { answer: form }: CallPrivacy,
): Promise<Outcome> {
  const { resource, reasoning } = outcome;
  const pace = paceOf(call);
  return {
    ...outcome,
    resource: resource === null ? null : await atPace(pace, finishObject(answer, resource, form)),
    ...reasoning !== undefined && {
      reasoning: {
        ...reasoning,
        text: await atPace(pace, textSteps(answer, reasoning.text, "plain")),
      },
    },
  };
}

/** Returns the failure of an answer that a response rule refuses; clients must not repeat it. */
export function refuseAnswer({ responseHeaders }: Pick<Call, "responseHeaders">): Failed<Fault> {
  responseHeaders["x-should-retry"] = "false";
  return fault("response_refused", "A rule of the gateway does not let this answer pass.");
}
