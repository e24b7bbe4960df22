import { REQUEST_TYPES } from "../core/endpoint.ts";
import { listOf } from "./list_of.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseNumber } from "./fields.ts";
import { likelyHint, type Path, type Problem, problem, repeatedHeaders } from "./problems.ts";
import { typeOf } from "./provider_rules.ts";
import { PROVIDER_ID } from "./provider_schema.ts";
import type { Config, RouteBody, RouteConfig } from "./schema.ts";

/** Returns the problems between routes, targets and providers. Takes values before defaults. */
export function routingProblems(routing: unknown, providers: unknown): Problem[] {
  if (!isObject(routing) || !Array.isArray(routing.routes)) return [];
  const names = new Set<string>();
  const problems: Problem[] = [];
  for (const [index, route] of routing.routes.entries()) {
    if (!isObject(route)) continue;
    const path = ["routing", "routes", index];
    if (typeof route.name === "string") {
      const text = "is already the name of an earlier route";
      if (names.has(route.name)) problems.push(problem([...path, "name"], text));
      names.add(route.name);
    }
    problems.push(
      ...matchProblems(route.match, path),
      ...bodyProblems(route, path, providers),
    );
  }
  return problems;
}

/** Returns the problems of the body of a route or a named model. */
export function bodyProblems(
  { targets, fallback }: JsonObject,
  path: Path,
  providers: unknown,
): Problem[] {
  const ids = isObject(providers)
    ? Object.keys(providers).filter((id) => PROVIDER_ID.test(id))
    : null;
  return [
    ...providerProblems(targets, [...path, "targets"], ids),
    ...providerProblems(fallback, [...path, "fallback"], ids),
    ...protocolProblems(targets, [...path, "targets"], providers),
    ...protocolProblems(fallback, [...path, "fallback"], providers),
    ...weightProblems(targets, [...path, "targets"]),
  ];
}

function matchProblems(match: unknown, path: Path): Problem[] {
  if (!isObject(match) || !isObject(match.headers)) return [];
  return repeatedHeaders(match.headers, [...path, "match", "headers"]);
}

function providerProblems(
  items: unknown,
  path: Path,
  ids: readonly string[] | null,
): Problem[] {
  if (!Array.isArray(items) || ids === null) return [];
  return items.flatMap((item, index): Problem[] => {
    if (!isObject(item) || typeof item.provider !== "string") return [];
    if (item.provider.trim() === "" || ids.includes(item.provider)) return [];
    const hint = likelyHint(item.provider, ids);
    return [problem([...path, index, "provider"], `is not a configured provider${hint}`)];
  });
}

function protocolProblems(items: unknown, path: Path, providers: unknown): Problem[] {
  if (!Array.isArray(items) || !isObject(providers)) return [];
  return items.flatMap((item, index): Problem[] => {
    if (!isObject(item) || item.upstream_request_type !== "responses") return [];
    const { provider: id } = item;
    const provider = typeof id === "string" ? providers[id] : undefined;
    const type = typeof id === "string" && isObject(provider) ? typeOf(id, provider) : null;
    if (type === null || type === "compat") return [];
    const text =
      `can be responses only at a provider of type compat; the type of this provider is ${type}`;
    return [problem([...path, index, "upstream_request_type"], text)];
  });
}

function weightProblems(targets: unknown, path: Path): Problem[] {
  if (!Array.isArray(targets) || targets.length === 0) return [];
  const isDrained = targets.every((target) => isObject(target) && parseNumber(target.weight) === 0);
  return isDrained ? [problem(path, "must contain at least one target with a weight above 0")] : [];
}

/** Returns a warning for each valid setting that is likely a mistake. */
export function routingWarnings({ routing: { routes }, providers }: Config): Problem[] {
  return routes.flatMap((route, index) => [
    ...shadowWarnings(routes.slice(0, index), route, index),
    ...fallbackWarnings(route, ["routing", "routes", index]),
    ...syntheticWarnings(route, index, Object.keys(providers)),
  ]);
}

function shadowWarnings(
  before: readonly RouteConfig[],
  route: RouteConfig,
  index: number,
): Problem[] {
  const first = before.findIndex(({ match }) =>
    match.models === undefined && match.key === undefined &&
    Object.keys({ ...match.headers, ...match.labels }).length === 0 &&
    route.match.path.startsWith(match.path)
  );
  if (first < 0) return [];
  const text =
    `is only reached by name, because routing.routes[${first}] matches its requests first`;
  return [problem(["routing", "routes", index], text)];
}

/** Returns a warning for each fallback that is a target, or has a weight. */
export function fallbackWarnings({ targets, fallback }: RouteBody, route: Path): Problem[] {
  return fallback.flatMap((item, place): Problem[] => {
    const isTarget = targets.some(({ provider, model, upstream_request_type: type }) =>
      provider === item.provider && model === item.model &&
      type === item.upstream_request_type
    );
    const text = "is already a target of this route";
    const path = [...route, "fallback", place];
    const weightless = "has no effect in a fallback: fallbacks are tried in order";
    return [
      ...(isTarget ? [problem(path, text)] : []),
      ...(item.weight === undefined ? [] : [problem([...path, "weight"], weightless, "key")]),
    ];
  });
}

/** Returns a warning for each match on a header of the gateway with an impossible value. */
function syntheticWarnings(
  { match }: RouteConfig,
  index: number,
  ids: readonly string[],
): Problem[] {
  return Object.entries(match.headers).flatMap(([name, value]): Problem[] => {
    const text = neverMet(name.toLowerCase(), value, ids);
    const path = ["routing", "routes", index, "match", "headers", name];
    return text === null ? [] : [problem(path, text)];
  });
}

function neverMet(name: string, value: string, ids: readonly string[]): string | null {
  if (name === "x-gateway-request-type" && !REQUEST_TYPES.includes(value)) {
    return `never matches; the request types are ${listOf(REQUEST_TYPES, "conjunction")}`;
  }
  return name === "x-gateway-provider" && !ids.includes(value)
    ? "never matches, because no provider has this ID"
    : null;
}
