import { isObject, type JsonObject } from "../core/json/json.ts";
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
    providerAt(path) === null && !namesOneOf(broken, targetAt(value, path))
  );
  if (isElsewhere) return null;
  const intact = Object.entries(value.providers).filter(([id]) => !broken.has(id));
  const providers = Object.fromEntries(intact);
  const routing = routingWithout(broken, value.routing);
  const models = isObject(value.models)
    ? { models: mapValues(value.models, (model) => bodyWithout(broken, model)) }
    : {};
  return { value: { ...value, providers, routing, ...models }, leftOut: [...broken] };
}

function providerAt([section, id]: Path): string | null {
  return section === "providers" && typeof id === "string" ? id : null;
}

/** Returns the target or fallback that contains a path; undefined for any other path. */
function targetAt(value: JsonObject, path: Path): unknown {
  const { routing, models } = value;
  const isModel = path[0] === "models";
  const isRoute = path[0] === "routing" && path[1] === "routes";
  if (!isModel && !isRoute) return undefined;
  const routes = isObject(routing) ? routing.routes : undefined;
  const body = isModel ? memberAt(models, path[1]) : memberAt(routes, path[2]);
  const [kind, index] = path.slice(isModel ? 2 : 3);
  if (kind !== "targets" && kind !== "fallback") return undefined;
  return memberAt(memberAt(body, kind), index);
}

function memberAt(value: unknown, step: string | number | undefined): unknown {
  if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined;
  return isObject(value) && step !== undefined ? value[step] : undefined;
}

function namesOneOf(broken: ReadonlySet<string>, target: unknown): boolean {
  return isObject(target) && typeof target.provider === "string" && broken.has(target.provider);
}

function routingWithout(broken: ReadonlySet<string>, routing: unknown): unknown {
  if (!isObject(routing) || !Array.isArray(routing.routes)) return routing;
  return { ...routing, routes: routing.routes.map((route) => bodyWithout(broken, route)) };
}

/** Returns the body of a route or a named model without the targets of broken providers. */
function bodyWithout(broken: ReadonlySet<string>, route: unknown): unknown {
  if (!isObject(route)) return route;
  const rest = (items: unknown) =>
    Array.isArray(items) ? items.filter((item) => !namesOneOf(broken, item)) : items;
  const fallback = route.fallback === undefined ? {} : { fallback: rest(route.fallback) };
  return { ...route, targets: rest(route.targets), ...fallback };
}

function mapValues(object: JsonObject, change: (value: unknown) => unknown) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
