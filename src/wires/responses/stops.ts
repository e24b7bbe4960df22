import { type Result, success } from "../../core/failure/result.ts";
import { notCarried } from "../../prompt/carry.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { splitStops } from "../verified/stop_promises.ts";

/**
 * Returns the promise of `stop`, which the Responses API lacks: the gateway ends the response
 * before the text. A Refusal if the request wants token probabilities too, because a token may be
 * cut.
 */
export function stopPromises(
  { stop, logprobs }: Prompt,
): Result<readonly ResponsePromise[]> {
  const split = splitStops(stop, { isSent: () => false, verify: true });
  if (!split.ok) return split;
  return stop !== null && logprobs.isWanted
    ? notCarried(stop.at, "Send it without 'logprobs'.")
    : success(split.value.promises);
}
