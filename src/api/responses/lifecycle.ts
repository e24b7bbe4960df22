import { type Result, success } from "../../core/failure/result.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import { requireCapability } from "../../routing/capability.ts";
import { findProvenance, isUpstreamOnly, resolveOwner, shownOf } from "../../routing/ownership.ts";
import type { Place } from "../../call/inference.ts";
import type { Shown } from "../../store/bindings.ts";
import type { Endpoint } from "../client_api.ts";
import { identifierProblem, pathIdProblem } from "../stored/identifier.ts";
import { needsStore } from "../stored/stored_objects.ts";
import * as local from "./state/local_lifecycle.ts";
import * as native from "./native/lifecycle.ts";

/** A stored response, in the gateway's own store or at a provider. */
type StoredResponse =
  | { readonly kind: "local"; readonly response: local.LocalResponse }
  | {
    readonly kind: "upstream";
    readonly id: string;
    readonly place: Place;
    readonly shown?: Shown;
  };

/** Endpoints of stored responses (OpenAI API, Responses). */
export const lifecycle: readonly Endpoint[] = [
  endpoint(
    { method: "GET", below: "", about: "Returns a stored response." },
    local.retrieve,
    native.retrieve,
  ),
  endpoint(
    { method: "DELETE", below: "", about: "Deletes a stored response." },
    local.remove,
    native.remove,
  ),
  endpoint(
    { method: "POST", below: "/cancel", about: "Cancels a background response." },
    local.cancel,
    native.cancel,
  ),
  endpoint(
    { method: "GET", below: "/input_items", about: "Lists its input items." },
    local.inputItems,
    native.inputItems,
  ),
];

function endpoint(
  { method, below, about }: Pick<Endpoint, "method" | "about"> & { readonly below: string },
  runLocally: local.Operation,
  upstream: native.Operation,
): Endpoint {
  const isRetrieval = method === "GET" && below === "";
  return {
    method,
    path: `/v1/responses/:response_id${below}`,
    about,
    body: false,
    ...(isRetrieval ? { sharesAnswer: true } as const : {}),
    handle: needsStore(async (call, request) => {
      call.report.stream = isRetrieval && request.query.get("stream") === "true";
      const stored = await locateResponse(call, request.params.response_id ?? "");
      if (!stored.ok) return stored;
      if (stored.value.kind === "local") {
        return await runLocally(call, request, stored.value.response);
      }
      const { id, place, shown } = stored.value;
      const able = requireCapability(place.provider, upstream.capability);
      return able.ok ? await upstream.run(call, request, { ...place, id, shown }) : able;
    }),
  };
}

async function locateResponse(call: Call, id: string): Promise<Result<StoredResponse>> {
  const param = "response_id";
  const problem = identifierProblem(id, param);
  if (problem !== null) return problem;
  const named = requestedModel(call, "");
  if (!named.ok) return named;
  const { provider } = named.value;
  const found = await call.state.objects.responses.find(id);
  if (!found.ok) return found;
  const owned = resolveOwner(call, { param, provider }, found.value?.binding ?? null);
  if (!owned.ok) return owned;
  if (owned.value === null) return local.unknownResponse(call);
  const { provider: owner, account } = owned.value;
  const place = { provider: owner, account };
  const unsafe = pathIdProblem(id, param, owned.value.isReturned);
  if (unsafe !== null) return unsafe;
  const origin = findProvenance(owned.value);
  const shown = shownOf(call, owned.value);
  const upstream = { kind: "upstream", id, place, ...shown !== undefined && { shown } } as const;
  if (origin === null || account === null) return success(upstream);
  const snapshot = found.value?.snapshot ?? null;
  if (snapshot !== null) {
    return success({ kind: "local", response: { id, account: account.digest, snapshot } });
  }
  return isUpstreamOnly(origin) ? success(upstream) : local.unknownResponse(call);
}
