import type { Refusal } from "../core/failure/failure.ts";
import { isObject, type JsonValue } from "../core/json/json.ts";
import { pushAll } from "../core/push_all.ts";
import { type Failed, refuse } from "../core/failure/result.ts";
import type { Pricing } from "../observe/cost.ts";
import type { ClientKey } from "./client_key.ts";
import { hasBudget, type PresentedKey, refuseModel, refuseUnpriced } from "./permissions.ts";

/**
 * Members of a request by which a provider that is a router itself may choose another model or
 * price.
 */
export interface Steering {
  /** Models that the request names besides its own, with the path of each. */
  readonly models: readonly { readonly at: string; readonly model: string }[];
  /** The first member that names no model, or not as the gateway reads it; null for none. */
  readonly unread: string | null;
}

/**
 * Maximum number of models that a request may name besides its own, for a key that is checked for
 * each.
 */
const MAX_NAMED_MODELS = 100;

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

/** Members of a request. */
type Members = Iterable<readonly [name: string, value?: JsonValue | undefined]>;

/**
 * Returns the members of a request that choose another model or price than the one that the key is
 * checked for; null for none, and for a key without `models` and budgets. `model` is that of a
 * header, which wins. Some servers ignore the case of names.
 */
export function parseSteering(
  key: PresentedKey,
  model: string | null,
  members: () => Members,
): Steering | null {
  if (!isChecked(key)) return null;
  const hasUsd = hasBudget(key, "nanoUsd");
  const models: { readonly at: string; readonly model: string }[] = [];
  let unread: string | null = isSeveral(model) ? "model" : null;
  for (const [name, value = null] of members()) {
    const folded = foldedName(name);
    const named = name === folded && LISTS.has(name) ? parseModels(name, value) : null;
    if (named !== null) pushAll(models, named);
    else if (name === "tools") pushAll(models, parseToolModels(value));
    else if (name === "model" ? isSeveral(value) : isChoice(folded) && value !== null) {
      unread ??= name;
    } else if (hasUsd && !isUsualPrice(folded, value)) unread ??= name;
  }
  if (models.length > MAX_NAMED_MODELS) return { models: [], unread: unread ?? "models" };
  return models.length === 0 && unread === null ? null : { models, unread };
}

/**
 * Returns the refusal of a query that chooses a model or price; null if it chooses none, or the key
 * is not checked for it. Some servers read such a parameter before the body.
 */
export function refuseQuery(key: PresentedKey, query: URLSearchParams): Failed<Refusal> | null {
  if (query.size === 0 || !isChecked(key)) return null;
  const isPrice = (name: string) => hasBudget(key, "nanoUsd") && Object.hasOwn(USUAL_PRICES, name);
  for (const name of query.keys()) {
    const folded = foldedName(name);
    if (isChoice(folded) || isPrice(folded)) return refuseUnread(name);
  }
  return null;
}

/** True for a key with `models` or budgets. */
function isChecked(key: PresentedKey): key is ClientKey {
  return key !== null && ((key.permissions?.models ?? null) !== null ||
    hasBudget(key, "nanoUsd") || hasBudget(key, "tokens"));
}

/** Returns the name of a member as a server reads it that ignores the case, without its path. */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase().replace(/[.[].*/s, "");
}

function isChoice(folded: string): boolean {
  return LISTS.has(folded) || CHOICES.has(folded) || folded === "model";
}

/** True for a model that names several at routers: by a preset, or with commas. */
function isSeveral(model: JsonValue): boolean {
  return typeof model === "string" && (model.includes(PRESET) || model.includes(","));
}

function isUsualPrice(folded: string, value: JsonValue): boolean {
  return value === null || !Object.hasOwn(USUAL_PRICES, folded) ||
    USUAL_PRICES[folded]?.(value) === true;
}

/** Returns the models of a list of names or of objects with a `model`; null for anything else. */
function parseModels(name: string, list: JsonValue): Steering["models"] | null {
  if (!Array.isArray(list)) return null;
  const models: { readonly at: string; readonly model: string }[] = [];
  for (const [index, entry] of list.entries()) {
    const model = isObject(entry) ? entry.model : entry;
    if (typeof model !== "string") return null;
    models.push({ at: `${name}[${index}]`, model });
  }
  return models;
}

/**
 * Returns the models of tools that run at the provider with a model of their own, such as for
 * images.
 */
function parseToolModels(tools: JsonValue): Steering["models"] {
  return !Array.isArray(tools)
    ? []
    : tools.flatMap((tool, index) =>
      isObject(tool) && typeof tool.model === "string"
        ? [{ at: `tools[${index}].model`, model: tool.model }]
        : []
    );
}

/**
 * Returns the refusal of such members for a provider; null if the key may use each model that they
 * name.
 */
export function refuseSteering(
  key: PresentedKey,
  pricing: Pricing,
  provider: string,
  { models, unread }: Steering,
): Failed<Refusal> | null {
  for (const { at, model } of models) {
    const refused = refuseModel(key, provider, model) ??
      refuseUnpriced(key, pricing, provider, model);
    if (refused !== null) return { ok: false, failure: { ...refused.failure, at } };
  }
  return unread === null ? null : refuseUnread(unread);
}

function refuseUnread(unread: string): Failed<Refusal> {
  return refuse(
    "unsupported_feature",
    {
      kind: "rule",
      before: "This client key may use some models only, or has budgets, and ",
      rule: "may choose another model or price at the provider; omit it",
    },
    unread,
  );
}

/**
 * Returns the refusal of a service tier that a named model chooses, for a key with a budget in USD;
 * null for others, and for a tier with the usual price.
 */
export function refuseTier(key: PresentedKey, tier = "auto"): Failed<Refusal> | null {
  if (key === null || !hasBudget(key, "nanoUsd") || isUsualPrice("service_tier", tier)) return null;
  return refuse(
    "model_not_priced",
    "This client key has a budget in USD, and this model has a service tier whose price is not known.",
    "model",
  );
}
