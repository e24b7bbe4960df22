import type { EndpointName } from "../core/endpoint.ts";
import type { Refusal } from "../core/failure.ts";
import { type Failed, refuse } from "../core/result.ts";
import type { Target } from "../wires/wire.ts";
import type { ClientKey, Permissions } from "./client_key.ts";

/** The client key of a call; null if no key is required, and before admission. */
export type PresentedKey = ClientKey | null;

/** Returns the refusal of a client API that the key may not use; null if it may. */
export function refuseEndpoint(
  key: PresentedKey,
  api: EndpointName | null,
): Failed<Refusal> | null {
  const endpoints = key?.permissions?.endpoints ?? null;
  if (endpoints === null || api === null || endpoints.has(api)) return null;
  return refuse(
    "endpoint_not_allowed",
    "This client key may not use this endpoint; send the request with another key.",
  );
}

/** Returns the refusal of a provider that the key may not use; null if it may. */
export function refuseProvider(key: PresentedKey, provider: string): Failed<Refusal> | null {
  const providers = key?.permissions?.providers ?? null;
  if (providers === null || providers.has(provider)) return null;
  return refuse(
    "provider_not_allowed",
    "This client key may not use this provider; request another one, or leave the choice to the route.",
    "provider",
  );
}

/**
 * Returns the refusal of a provider or model that the key may not use; null if it may use both. Null
 * as model is a model that is not known.
 */
export function refuseModel(
  key: PresentedKey,
  provider: string,
  model: string | null,
): Failed<Refusal> | null {
  const permissions = key?.permissions ?? null;
  if (permissions === null) return null;
  return refuseProvider(key, provider) ??
    (model === null || isModelAllowed(permissions, provider, model) ? null : refuse(
      "model_not_allowed",
      "This client key may not use this model; GET /v1/models lists the models that it may use.",
      "model",
    ));
}

/** Returns the refusal of a target that the key may not use; null if it may. */
export function refuseTarget(
  key: PresentedKey,
  { provider, model }: Pick<Target, "provider" | "model">,
): Failed<Refusal> | null {
  return refuseModel(key, provider.id, model);
}

/** Returns the refusal of a model without a price for a key with a budget in USD. */
export function refuseUnpriced(): Failed<Refusal> {
  return refuse(
    "model_not_priced",
    "This client key has a budget in USD, and the price of this model is not known.",
    "model",
  );
}

/** True if one pattern matches the bare model, or the model with its provider. */
function isModelAllowed({ models }: Permissions, provider: string, model: string): boolean {
  if (models === null) return true;
  const canonical = `${provider}/${model}`;
  return models.some((isMeant) => isMeant(model) || isMeant(canonical));
}

/** True if a client key was refused the use of a model or a provider. */
export function isPermissionRefusal({ kind }: Refusal): boolean {
  return kind === "model_not_allowed" || kind === "provider_not_allowed";
}
