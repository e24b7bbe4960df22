import type { Refusal } from "../core/failure.ts";
import { isObject, type JsonValue } from "../core/json/json.ts";
import { type Failed, refuse } from "../core/result.ts";
import type { Pricing } from "../observe/cost.ts";
import { hasBudget, type PresentedKey, refuseModel, refuseUnpriced } from "./permissions.ts";

/** Members of a request by which a provider that is a router itself may choose another model or price. */
export interface Steering {
  /** Models that the request names beside its own, with the path of each. */
  readonly models: readonly { readonly param: string; readonly model: string }[];
  /** The first member that names no model, or not as the gateway reads it; null for none. */
  readonly unread: string | null;
}

/** Members that name further models. */
const LISTS: ReadonlySet<string> = new Set(["models", "fallbacks"]);

/** Members that choose in another way: routes, deployments, and providers behind the provider. */
const CHOICES: ReadonlySet<string> = new Set([
  "route",
  "provider",
  "provider_options",
  "provideroptions",
  "custom_llm_provider",
  "preset",
  "plugins",
  "engine",
  "deployment",
  "deployment_id",
  "fallback",
  "fallback_models",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "model_list",
  "user_config",
  "api_base",
  "base_url",
  "extra_body",
]);

/** Members that choose a price, with their values at the usual price, which the gateway knows. */
const USUAL_PRICES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  service_tier: isOneOf("auto", "default", "standard_only"),
  inference_geo: isOneOf("global"),
  // The speed of speech is a number.
  speed: (value) => typeof value === "number" || isOneOf("standard")(value),
};

function isOneOf(...usual: readonly JsonValue[]): (value: JsonValue) => boolean {
  return (value) => usual.includes(value);
}

/** A preset of a router, alone or behind the name of a model. */
const PRESET = "@preset/";

/**
 * Returns the members of a request that choose another model or price than the one that the key is checked
 * for; null for none, and for a key without `models` and budgets. Some servers ignore the case of names. The
 * name of a parameter of the query begins with `?`.
 */
export function parseSteering(
  key: PresentedKey,
  members: () => Iterable<readonly [name: string, value?: JsonValue | undefined]>,
): Steering | null {
  if (key === null) return null;
  const hasUsd = hasBudget(key, "nanoUsd");
  const hasModels = (key.permissions?.models ?? null) !== null;
  if (!hasModels && !hasUsd && !hasBudget(key, "tokens")) return null;
  const models: { readonly param: string; readonly model: string }[] = [];
  let unread: string | null = null;
  for (const [name, value = null] of members()) {
    const folded = name.toUpperCase().toLowerCase().replace(/^\?|[.[].*/gs, "");
    const named = name === folded && LISTS.has(name) ? parseModels(name, value) : null;
    if (named !== null) models.push(...named);
    else if (isChoice(name, folded, value) && value !== null) unread ??= name;
    else if (hasUsd && !isUsualPrice(folded, value)) unread ??= name;
  }
  return models.length === 0 && unread === null ? null : { models, unread };
}

function isChoice(name: string, folded: string, value: JsonValue): boolean {
  if (name === "model") return typeof value === "string" && value.includes(PRESET);
  return LISTS.has(folded) || CHOICES.has(folded) || folded === "model";
}

function isUsualPrice(folded: string, value: JsonValue): boolean {
  return value === null || !Object.hasOwn(USUAL_PRICES, folded) ||
    USUAL_PRICES[folded]?.(value) === true;
}

/** Returns the models of a list of names or of objects with a `model`; null for anything else. */
function parseModels(name: string, list: JsonValue): Steering["models"] | null {
  if (!Array.isArray(list)) return null;
  const models: { readonly param: string; readonly model: string }[] = [];
  for (const [at, entry] of list.entries()) {
    const model = isObject(entry) ? entry.model : entry;
    if (typeof model !== "string") return null;
    models.push({ param: `${name}[${at}]`, model });
  }
  return models;
}

/** Returns the refusal of such members for a provider; null if the key may use each model that they name. */
export function refuseSteering(
  key: PresentedKey,
  pricing: Pricing,
  provider: string,
  { models, unread }: Steering,
): Failed<Refusal> | null {
  for (const { param, model } of models) {
    const refused = refuseModel(key, provider, model) ??
      refuseUnpriced(key, pricing, provider, model);
    if (refused !== null) return { ok: false, failure: { ...refused.failure, param } };
  }
  return unread === null ? null : refuse(
    "unsupported_feature",
    `This client key may use some models only, or has budgets, and '${unread}' may choose another ` +
      "model or price at the provider; omit it.",
    unread,
  );
}
