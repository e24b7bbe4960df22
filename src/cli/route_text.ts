import type { ProviderConfig, RouteConfig } from "../config/schema.ts";
import { formatDuration } from "../config/units.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import type { Strategy } from "../state/balancers.ts";

/** What a request must have to take this route. Values of headers may be secrets, so they are left out. */
export function matchText({ path, headers, models }: RouteConfig["match"]): string {
  const names = Object.keys(headers);
  return [
    path === "" ? "any path" : `path ${path}…`,
    ...(names.length === 0 ? [] : [`header ${names.join(", ")}`]),
    models === undefined ? "any model" : `model ${models.join(", ")}`,
  ].join(", ");
}

/** A target in short: `openai/gpt-4o`, or how its model is found. */
export function targetText({ provider: { id, settings }, model }: RouteTarget): string {
  if (model !== null) return `${id}/${model}`;
  const { default_model } = settings;
  return `${id} (requested model${default_model === undefined ? "" : `, else ${default_model}`})`;
}

/** The part of the requests that a target gets among these, in percent. */
export function shareText(
  target: RouteTarget,
  among: readonly RouteTarget[],
  strategy: Strategy,
): string {
  const weights = among.reduce((sum, { weight }) => sum + weight, 0);
  const share = strategy === "round-robin" ? 1 / among.length : target.weight / weights;
  return `${Number((share * 100).toFixed(1))}%`;
}

/** The protocol, the server and the deadline of a target; of its address only the host. */
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

/** Text of the limit of attempts at once; empty without a limit. */
function slotsText({ max_concurrent, max_queued, queue_timeout }: ProviderConfig): string[] {
  if (max_concurrent === undefined) return [];
  const queue = max_queued === 0
    ? "none queued"
    : `${max_queued} queued up to ${formatDuration(queue_timeout)}`;
  return [`at most ${max_concurrent} at once, ${queue}`];
}

/** A route in one line: what it matches and who serves it. */
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

/** Each route with the words of the file that it was made from. */
export function writtenRoutes(
  { routes, config }: Generation,
): readonly { readonly route: Route; readonly match: RouteConfig["match"] }[] {
  return config.routing.routes.flatMap(({ name, match }) => {
    const route = routes.find((one) => one.name === name);
    return route === undefined ? [] : [{ route, match }];
  });
}
