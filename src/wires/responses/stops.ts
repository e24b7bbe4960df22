import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { sentStops } from "../verified/stop_promises.ts";
import type { SectionInput } from "./controls.ts";

/**
 * Returns no members: the Responses API lacks `stop`, and the gateway ends the response before the
 * text. A Refusal if the request wants token probabilities too, because a token may be cut.
 */
export function stops({ prompt: { stop, logprobs }, carrier }: SectionInput): Result<JsonObject> {
  const sent = sentStops(stop, { isSent: () => false, verify: true, carrier });
  if (!sent.ok) return sent;
  return stop !== null && logprobs.isWanted
    ? carrier.refuse(stop.at, "Send it without 'logprobs'.")
    : success({});
}
