import type { ProviderConfig, RouteConfig } from "../config/schema.ts";
import { formatDuration } from "../config/units.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import type { Strategy } from "../state/balancers.ts";

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

/** Returns the share of requests of a target among these targets, in percent. */
export function shareText(
  target: RouteTarget,
  among: readonly RouteTarget[],
  strategy: Strategy,
): string {
  const weights = among.reduce((sum, { weight }) => sum + weight, 0);
  const share = strategy === "round-robin" ? 1 / among.length : target.weight / weights;
  return `${Number((share * 100).toFixed(1))}%`;
}

/** Returns protocol, host and limits of a target; no other part of its address. */
export function serverText({ provider: { settings, base }, wire }: RouteTarget): string {
  const { timeout, timeout_mode } = settings;
  const type = wire.name === "responses" ? `${settings.type}, Responses API` : settings.type;
  const until = timeout_mode === "ttft" ? "to the first byte" : "in all";
  const limits = [
    `${formatDuration(timeout)} ${until}`,
    ...slotsText(settings),
  ];
  return `${type} at ${new URL(base).host}, ${limits.join(", ")}`;
}

/** Returns what the gateway checks on the responses of a target, as text; null if it checks nothing. */
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
  return config.routing.routes.flatMap(({ name, match }) => {
    const route = routes.find((one) => one.name === name);
    return route === undefined ? [] : [{ route, match }];
  });
}
