import type { ProviderConfig } from "../../config/schema.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { isEmpty, unsupported } from "../chat_request/refusals.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { parseStops } from "../verified/stop_promises.ts";

/**
 * Returns the promise of `stop`, which the Responses API lacks: the gateway ends the response before the
 * text. A Refusal if the provider's `verify` is false, or if the request wants token probabilities too, because a token may be cut.
 */
export function stopPromises(
  { stop, logprobs }: JsonObject,
  { verify }: Pick<ProviderConfig, "verify">,
): Result<readonly ResponsePromise[]> {
  if (isEmpty(stop)) return success([]);
  if (!verify) return unsupported("stop", "Use a provider with 'verify: true'.");
  const parsed = parseStops(stop, { isSent: () => false, verify: true });
  if (!parsed.ok) return parsed;
  const { promises } = parsed.value;
  return promises.length > 0 && logprobs === true
    ? unsupported("stop", "Send it without 'logprobs'.")
    : success(promises);
}
