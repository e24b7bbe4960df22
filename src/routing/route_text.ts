import { credentialIdentity } from "../config/credential_rules.ts";
import { namedRoutes } from "../config/models_rules.ts";
import type { ProviderConfig, RouteConfig } from "../config/schema.ts";
import { formatDuration } from "../config/units.ts";
import { hasPool, servingAccounts } from "./key_pool.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { EXPLORED_RATIO, type Strategy } from "../traffic/balancers.ts";

/** Returns the conditions of a route. Header values may be secrets, so they are omitted. */
export function matchText(
  { path, headers, models, key, labels }: RouteConfig["match"],
): string {
  const names = Object.keys(headers);
  const wanted = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    path === "" ? "any path" : `path ${path}…`,
    ...(names.length === 0 ? [] : [`header ${names.join(", ")}`]),
    models === undefined ? "any model" : `model ${models.join(", ")}`,
    ...(key === undefined ? [] : [`client key ${key.join(", ")}`]),
    ...(wanted.length === 0 ? [] : [`label ${wanted.join(", ")}`]),
  ].join(", ");
}

/** Returns a target as `openai/gpt-4o`, or with the source of its model. */
export function targetText({ provider: { id, settings }, model }: RouteTarget): string {
  if (model !== null) return `${id}/${model}`;
  const { default_model } = settings;
  return `${id} (requested model${default_model === undefined ? "" : `, else ${default_model}`})`;
}

/**
 * Returns the share of requests of a target among these targets, in percent; `any` if it depends on
 * times.
 */
export function shareText(
  target: RouteTarget,
  among: readonly RouteTarget[],
  strategy: Strategy,
): string {
  const share = targetShare(target, among, strategy);
  return share === null ? "any" : percent(share);
}

/**
 * Returns the share of requests of a target among these targets, from 0 to 1; null if it depends on
 * times.
 */
export function targetShare(
  target: RouteTarget,
  among: readonly RouteTarget[],
  strategy: Strategy,
): number | null {
  if (strategy === "lowest-latency" && among.length > 1) return null;
  const weights = among.reduce((sum, { weight }) => sum + weight, 0);
  return strategy === "round-robin" ? 1 / among.length : target.weight / weights;
}

/** Returns a share from 0 to 1 in percent. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))}%`;
}

/**
 * Returns what a strategy sees when it picks a target, as a sentence; null if the shares say all.
 */
export function strategyText(strategy: Strategy): string | null {
  switch (strategy) {
    case "weighted":
    case "round-robin":
    case "random":
      return null;
    case "least-pending":
      return "The target with the fewest running calls per weight serves the request; " +
        "the shares are those of equal targets.";
    case "lowest-latency":
      return `The target with the lowest median time to the first byte serves the request; ${
        percent(EXPLORED_RATIO)
      } of the requests explore other targets.`;
    case "sticky":
      return "The session, else the client key, stays with one target; " +
        "without either the shares apply.";
  }
}

/** Returns protocol, host and limits of a target; no other part of its address. */
export function serverText({ provider: { settings, base }, wire, failover }: RouteTarget): string {
  const { timeout, timeout_mode } = settings;
  const { firstContentMs, contextSize } = failover;
  const type = wire.name === "responses" ? `${settings.type}, Responses API` : settings.type;
  const until = timeout_mode === "ttft" ? "to the first byte" : "in all";
  const limits = [
    `${formatDuration(timeout)} ${until}`,
    ...firstContentMs === null ? [] : [`${formatDuration(firstContentMs)} to the first content`],
    ...contextSize === null ? [] : [`context of ${contextSize} tokens`],
    ...slotsText(settings),
  ];
  return `${type} at ${new URL(base).host}, ${limits.join(", ")}`;
}

/**
 * Returns the keys of a target's provider by name, with weights and model patterns; null if it has
 * only one.
 */
export function keysText({ provider }: RouteTarget): string | null {
  if (!hasPool(provider)) return null;
  const { api_keys, key_rest } = provider.settings;
  const keys = api_keys.map(({ name, credential, weight, models }) => {
    const served = models === undefined ? "" : `, for ${models.join(", ")}`;
    const own = credential === undefined ? "" : `, ${credentialIdentity(credential).join(", ")}`;
    return `${name} (${weight === 0 ? "only what it owns" : `weight ${weight}`}${served}${own})`;
  });
  return `keys: ${keys.join(", ")}; a refused key rests for ${formatDuration(key_rest)}`;
}

/**
 * Returns who the credential of a target's provider is for; null if the provider has several keys.
 */
export function credentialText({ provider }: RouteTarget): string | null {
  const credential = provider.settings.api_keys[0]?.credential;
  return credential === undefined || hasPool(provider)
    ? null
    : `credential: ${credentialIdentity(credential).join(", ")}`;
}

/**
 * Returns the keys that serve a model with their shares, by name; null if the provider has only
 * one.
 */
export function keySharesText({ provider }: RouteTarget, model: string): string | null {
  if (!hasPool(provider)) return null;
  const keys = servingAccounts(provider, model);
  const weights = keys.reduce((sum, { weight }) => sum + weight, 0);
  return `keys: ${
    keys.map(({ name, weight }) => `${name} ${percent(weight / weights)}`).join(", ")
  }`;
}

/**
 * Returns what the gateway checks on the responses of a target, as text; null if it checks nothing.
 */
export function verifiedText({ provider: { settings }, wire }: RouteTarget): string | null {
  if (wire.verified({ ...settings, verify: true }).length === 0) return null;
  return `verifies: ${wire.verified(settings).join(", ") || "nothing, because verify is false"}`;
}

/** Returns the text of the concurrency limit; empty without a limit. */
function slotsText({ max_concurrent, max_queued, queue_timeout }: ProviderConfig): string[] {
  if (max_concurrent === undefined) return [];
  const queue = max_queued === 0
    ? "none queued"
    : `${max_queued} queued up to ${formatDuration(queue_timeout)}`;
  return [`at most ${max_concurrent} at once, ${queue}`];
}

/** Returns a route as one line: its conditions and its targets. */
export function routeLine(route: Route, match: RouteConfig["match"]): string {
  const open = route.targets.filter(({ weight }) => weight > 0);
  const [only] = open;
  const served = open.length === 1 && only !== undefined ? targetText(only) : [
    `${route.strategy}: `,
    open.map((target) => `${targetText(target)} ${shareText(target, open, route.strategy)}`)
      .join(", "),
  ].join("");
  const others = route.fallback.map(targetText).join(", ");
  const fallback = others === "" ? "" : `; fallback: ${others}`;
  return `${route.name}: ${matchText(match)} -> ${served}${fallback}`;
}

/** Returns each route with its conditions in the configuration. */
export function writtenRoutes(
  { routes, config }: Generation,
): readonly { readonly route: Route; readonly match: RouteConfig["match"] }[] {
  const named = namedRoutes(config).map(({ route }) => route);
  return [...named, ...config.routing.routes].flatMap(({ name, match }) => {
    const route = routes.find((one) => one.name === name);
    return route === undefined ? [] : [{ route, match }];
  });
}
