import type { RequestType } from "../../../core/endpoint.ts";
import { type Failed, refuse, type Result } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { hasCapability } from "../../../routing/capability.ts";
import type { Candidate, Inference } from "../../../call/inference.ts";
import { exchangeOnce } from "../../../exchange.ts";
import type { Target } from "../../../wires/wire.ts";
import type { Endpoint } from "../../client_api.ts";
import { type MessagesRequest, parseMessagesRequest } from "../request.ts";
import { forwardedCount } from "./forwarded.ts";
import { newTranslatedCounts } from "./translated.ts";

/** Path of the endpoint that counts tokens. */
export const COUNT_PATH = "/v1/messages/count_tokens";

/**
 * Returns `POST /v1/messages/count_tokens` (Messages API, token counting). Only an upstream that
 * has the model can count, so nothing is estimated: clients that can estimate do so when they are
 * refused.
 */
export function countTokens(
  matchesAs: readonly [RequestType, ...RequestType[]],
  maxBodyBytes: number,
): Endpoint {
  return {
    method: "POST",
    path: COUNT_PATH,
    about: "Counts the tokens of a message request; needs a provider that can count.",
    body: true,
    maxBodyBytes,
    matchesAs,
    async handle(call, { document, query }) {
      const request = parseMessagesRequest(document, query);
      if (!request.ok) return request;
      return await exchangeOnce(call, newInference(call, request.value, matchesAs));
    },
  };
}

function newInference(
  call: Call,
  request: MessagesRequest,
  matchesAs: Inference["matchesAs"],
): Inference {
  const translatedCount = newTranslatedCounts(request);

  function prepare(target: Target): Result<Candidate> {
    return refuseUncountable(target) ??
      (target.wire.name === "messages"
        ? forwardedCount(call, request, target)
        : translatedCount(target));
  }

  return {
    matchesAs,
    model: request.model,
    stream: false,
    owner: null,
    canonical: () => null,
    prepare,
  };
}

/** Refuses a target that cannot count the tokens of a message; null if it can. */
export function refuseUncountable({ wire, provider }: Target): Failed | null {
  if (wire.name === "messages") return null;
  if (wire.name === "responses" && hasCapability(provider, "response_input_tokens")) return null;
  return refuse(
    "token_counting_unsupported",
    "This provider cannot count tokens; send the request to a provider of type messages, " +
      "or to one that declares capabilities.response_input_tokens.",
  );
}
