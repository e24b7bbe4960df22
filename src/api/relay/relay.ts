import { RELAY_FAMILIES } from "../../core/endpoint.ts";
import { openaiErrors } from "../../core/failure/openai_error.ts";
import type { ClientApi, Endpoint } from "../client_api.ts";
import { needsStore } from "../stored/stored_objects.ts";
import { sendOwned } from "./owned.ts";
import { sendRouted } from "./routed.ts";
import { RELAYED, type RelayedEndpoint } from "./table.ts";

/**
 * The client APIs that are relayed to providers of type compat, one for each family of endpoints.
 */
export const relayedApis: readonly ClientApi[] = RELAY_FAMILIES.map((family) => ({
  name: family,
  errors: openaiErrors,
  endpoints: RELAYED.filter((one) => one.family === family).flatMap(newEndpoints),
}));

function newEndpoints(relayed: RelayedEndpoint): readonly Endpoint[] {
  const { path, about } = relayed;
  if (relayed.kind === "owned") {
    const { method, body } = relayed;
    return [{
      method,
      path,
      about,
      body: body === "json" ? true : body === "none" ? false : body,
      handle: needsStore((call, request) => sendOwned(call, relayed, request)),
    }];
  }
  return [path, ...relayed.aliases ?? []].map((path) => ({
    method: "POST",
    path,
    about,
    body: relayed.body === "json" ? true : relayed.body,
    matchesAs: [relayed.path],
    ...relayed.operation !== null && { operation: relayed.operation },
    ...relayed.billed !== null && { isBilled: true },
    sharesAnswer: true,
    ...relayed.answer !== "text" && (relayed.billed === "images" || relayed.answer === "bytes") &&
      { masksValues: true },
    handle: (call, request) => sendRouted(call, relayed, request),
  }));
}
