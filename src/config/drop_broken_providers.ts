import { isObject } from "../core/json/json.ts";
import type { Path, Problem } from "./problems.ts";

/** A configuration before defaults, without its broken providers. */
export interface Salvaged {
  readonly value: unknown;
  /** IDs of the omitted providers. */
  readonly leftOut: readonly string[];
}

/**
 * Returns the configuration without the providers that have problems, and without the targets and
 * fallbacks that name them. Null if there is a problem anywhere else.
 */
export function withoutBroken(value: unknown, problems: readonly Problem[]): Salvaged | null {
  if (!isObject(value) || !isObject(value.providers)) return null;
  const broken = new Set(problems.flatMap(({ path }) => providerAt(path) ?? []));
  const isElsewhere = problems.some(({ path }) =>
    providerAt(path) === null && !namesOneOf(broken, targetAt(value.routing, path))
  );
  if (isElsewhere) return null;
  const intact = Object.entries(value.providers).filter(([id]) => !broken.has(id));
  const providers = Object.fromEntries(intact);
  const routing = routingWithout(broken, value.routing);
  return { value: { ...value, providers, routing }, leftOut: [...broken] };
}

function providerAt([section, id]: Path): string | null {
  return section === "providers" && typeof id === "string" ? id : null;
}

/** Returns the target or fallback that contains a path; undefined for any other path. */
function targetAt(routing: unknown, [section, list, route, kind, index]: Path): unknown {
  if (section !== "routing" || list !== "routes") return undefined;
  if (!isObject(routing) || !Array.isArray(routing.routes) || typeof route !== "number") return;
  const written: unknown = routing.routes[route];
  const isKnown = kind === "targets" || kind === "fallback";
  if (!isObject(written) || !isKnown || typeof index !== "number") return undefined;
  const items = written[kind];
  return Array.isArray(items) ? items[index] : undefined;
}

function namesOneOf(broken: ReadonlySet<string>, target: unknown): boolean {
  return isObject(target) && typeof target.provider === "string" && broken.has(target.provider);
}

function routingWithout(broken: ReadonlySet<string>, routing: unknown): unknown {
  if (!isObject(routing) || !Array.isArray(routing.routes)) return routing;
  const rest = (items: unknown) =>
    Array.isArray(items) ? items.filter((item) => !namesOneOf(broken, item)) : items;
  const routes = routing.routes.map((route: unknown) => {
    if (!isObject(route)) return route;
    const fallback = route.fallback === undefined ? {} : { fallback: rest(route.fallback) };
    return { ...route, targets: rest(route.targets), ...fallback };
  });
  return { ...routing, routes };
}
