import type { EndpointName } from "../core/endpoint.ts";
import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, refuse } from "../core/failure/result.ts";
import type { Provider, Target } from "../wires/wire.ts";
import { findPrice, type Pricing } from "../observe/cost.ts";
import type { ClientKey, Permissions, ScopeLimits } from "./client_key.ts";

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
 * Returns the refusal of a provider or model that the key may not use; null if it may use both.
 * Null as model is a model that is not known. A key that may use the name of a named model may use
 * its targets by that `name`.
 */
export function refuseModel(
  key: PresentedKey,
  provider: string,
  model: string | null,
  name: string | null = null,
): Failed<Refusal> | null {
  const permissions = key?.permissions ?? null;
  if (permissions === null) return null;
  return refuseProvider(key, provider) ??
    (model === null || isModelAllowed(permissions, provider, model, name) ? null : refuse(
      "model_not_allowed",
      "This client key may not use this model; GET /v1/models lists the models that it may use.",
      "model",
    ));
}

/**
 * Returns the refusal of a target that the key may not use, or whose price it needs; null if it
 * may.
 */
export function refuseTarget(
  key: PresentedKey,
  pricing: Pricing,
  { provider, model, named }: Pick<Target, "provider" | "model" | "named">,
): Failed<Refusal> | null {
  return refuseModel(key, provider.id, model, named?.name) ??
    refuseUnpriced(key, pricing, provider.id, model);
}

/** True if targets differ for the key: by its permissions, or by their price. */
export function isRestricted(key: PresentedKey): key is ClientKey {
  return key !== null && (key.permissions !== null || hasBudget(key, "nanoUsd"));
}

/**
 * Returns the refusal of a model without a price for a key with a budget in USD; null for others.
 */
export function refuseUnpriced(
  key: PresentedKey,
  pricing: Pricing,
  provider: string,
  model: string | null,
): Failed<Refusal> | null {
  if (key === null || !hasBudget(key, "nanoUsd")) return null;
  if (model !== null && findPrice(pricing, provider, model) !== null) return null;
  return refuse(
    "model_not_priced",
    "This client key has a budget in USD, and the price of this model is not known.",
    "model",
  );
}

/** True if the key, or one of its groups, has a budget in this unit. */
export function hasBudget({ limits }: ClientKey, unit: "nanoUsd" | "tokens"): boolean {
  if (limits === null) return false;
  const has = ({ budgets }: ScopeLimits) => budgets.some((budget) => budget[unit] !== null);
  return has(limits) || limits.groups.some((group) => has(group.limits));
}

/** Unit that bills an operation without reported tokens; null if it costs nothing. */
export type BilledBy = "images" | "seconds" | "characters" | "tokens" | null;

/** Member of a price for each unit that the gateway counts or estimates itself. */
const PRICE_MEMBERS = {
  images: "per_image",
  seconds: "per_minute",
  characters: "per_million_characters",
  tokens: "input",
} as const;

/**
 * Returns the refusal of an operation for a key with a budget in USD if the model has no price in
 * the unit that is known of every call, also of one that the client leaves; null for others.
 */
export function refuseUnknownCost(
  key: PresentedKey,
  pricing: Pricing,
  { provider, model }: { readonly provider: Pick<Provider, "id">; readonly model: string | null },
  billed: BilledBy,
): Failed<Refusal> | null {
  if (key === null || model === null || billed === null || !hasBudget(key, "nanoUsd")) return null;
  const price = findPrice(pricing, provider.id, model);
  const member = PRICE_MEMBERS[billed];
  // A model without any price is refused as such.
  if (price === null || price[member] !== undefined || isFreePrice(price)) return null;
  return refuse(
    "model_not_priced",
    `This client key has a budget in USD, and the cost of this operation is not known of every call: ` +
      `the price of its model has no '${member}'.`,
    "model",
  );
}

/** True for a price of tokens that is zero, as of local models. */
function isFreePrice({ input, output }: NonNullable<ReturnType<typeof findPrice>>): boolean {
  return input === 0 && output === 0;
}

/**
 * Returns the refusal of a response in the background for a key with budgets or a rate of tokens:
 * its provider reports no tokens to the gateway. Null for other keys.
 */
export function refuseBackground(key: PresentedKey): Failed<Refusal> | null {
  return !isChargedKey(key) ? null : refuse(
    "unsupported_feature",
    "This client key has budgets or a rate of tokens, and the tokens of a response in the " +
      "background are not reported; omit 'background'.",
    "background",
  );
}

/**
 * Returns the refusal of a batch for a key that may use some models only, or that has budgets or a
 * rate of tokens: the gateway does not see the requests of a batch, nor their tokens. Null for
 * other keys.
 */
export function refuseBatch(key: PresentedKey): Failed<Refusal> | null {
  if ((key?.permissions?.models ?? null) !== null) {
    return refuse(
      "model_not_allowed",
      "This client key may use some models only, and the models of a batch are in its file; " +
        "send the requests one by one, or the batch with another key.",
    );
  }
  return !isChargedKey(key) ? null : refuse(
    "unsupported_feature",
    "This client key has budgets or a rate of tokens, and the tokens of a batch are not reported; " +
      "send the requests one by one, or the batch with another key.",
  );
}

/** True if the key, or one of its groups, has budgets or a rate of tokens. */
export function isChargedKey(key: PresentedKey): boolean {
  const limits = key?.limits ?? null;
  if (limits === null) return false;
  return [limits, ...limits.groups.map((group) => group.limits)]
    .some(({ tokensPerMinute, budgets }) => tokensPerMinute !== null || budgets.length > 0);
}

/** True if one pattern matches the bare model, the model with its provider, or the name. */
function isModelAllowed(
  { models }: Permissions,
  provider: string,
  model: string,
  name: string | null,
): boolean {
  if (models === null) return true;
  const canonical = `${provider}/${model}`;
  return models.some((isMeant) =>
    isMeant(model) || isMeant(canonical) || name !== null && isMeant(name)
  );
}

/** True if a client key was refused the use of a model or a provider. */
export function isPermissionRefusal({ kind }: Refusal): boolean {
  return kind === "model_not_allowed" || kind === "provider_not_allowed" ||
    kind === "model_not_priced";
}
