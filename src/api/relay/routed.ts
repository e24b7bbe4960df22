import { exchange, requestedModel } from "../../exchange.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import { refuseIncapable } from "../../routing/capability.ts";
import type { Candidate, Inference } from "../../call/inference.ts";
import { refuseUnknownCost } from "../../access/permissions.ts";
import { refuseQuery } from "../../access/steering.ts";
import type { ApiRequest } from "../client_api.ts";
import { type RelayedRequest, relayedRequest } from "./request.ts";
import { relayedHandler } from "./response.ts";
import type { RoutedEndpoint } from "./table.ts";

/** Sends a request for a model to a target with the capability of the endpoint. */
export async function sendRouted(
  call: Call,
  endpoint: RoutedEndpoint,
  request: ApiRequest,
): Promise<Result<Reply>> {
  const relayed = relayedRequest(request);
  if (!relayed.ok) return relayed;
  call.report.stream = relayed.value.stream;
  return await exchange(call, newInference(call, endpoint, relayed.value, request.query));
}

function newInference(
  call: Call,
  endpoint: RoutedEndpoint,
  request: RelayedRequest,
  query: URLSearchParams,
): Inference {
  const search = query.size === 0 ? "" : `?${query}`;
  const path = `${endpoint.path.slice("/v1".length)}${search}`;
  const { contentType } = request;
  return {
    matchesAs: [endpoint.path],
    model: request.model,
    ...endpoint.model === "optional" && { isModelOptional: true },
    stream: request.stream,
    owner: null,
    // Generated media are large, and the texts of the endpoints are not requested twice.
    canonical: () => null,
    prepare(target) {
      const refused = refuseIncapable(
        target.provider,
        endpoint.family,
        namesProvider(call, request),
      );
      const { client: { key }, generation: { config } } = call;
      // Every candidate must have a price.
      const billed = endpoint.billed === "tokens" ? null : endpoint.billed;
      const refusal = refused ?? refuseUnknownCost(key, config, target, billed) ??
        refuseQuery(key, query);
      if (refusal !== null) return refusal;
      const payload = request.payload(target.model);
      if (!payload.ok) return payload;
      return success<Candidate>({
        target,
        request: {
          method: "POST",
          path,
          payload: payload.value,
          ...contentType !== null && { versionHeaders: { "content-type": contentType } },
        },
        hasSideEffects: false,
        ...endpoint.path === "/v1/completions" && { textMember: "text" },
        ...endpoint.billed !== "tokens" && { billing: "reported" },
        ...requestUnits(endpoint, request),
        responseHandler: () => relayedHandler(endpoint, request),
        onComplete: () => null,
      });
    },
  };
}

/** True if the client names the provider, in a header or before the model. */
function namesProvider(call: Call, { model }: RelayedRequest): boolean {
  const requested = requestedModel(call, model);
  return requested.ok && requested.value.provider !== null;
}

/**
 * Returns the units that the request itself has, for a client that leaves before the response is
 * complete.
 */
function requestUnits(
  { billed }: RoutedEndpoint,
  { count, characters, seconds }: RelayedRequest,
): Pick<Candidate, "requestUnits"> {
  if (billed === "images") return { requestUnits: { images: count } };
  if (billed === "seconds") return seconds === null ? {} : { requestUnits: { seconds } };
  return billed === "characters" && characters !== null ? { requestUnits: { characters } } : {};
}
