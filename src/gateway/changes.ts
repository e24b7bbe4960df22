import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/schema.ts";

/** Returns the differences of two configurations in words: names of keys, never their values. */
export function changesBetween(previous: Config, next: Config): string[] {
  const before = new Map<string, unknown>(Object.entries(previous));
  return Object.entries(next).flatMap(([section, value]) => {
    if (isDeepStrictEqual(before.get(section), value)) return [];
    if (section === "providers") {
      return changedNames(section, providersOf(previous), providersOf(next));
    }
    if (section === "models") {
      return changedNames(
        section,
        new Map(Object.entries(previous.models)),
        new Map(Object.entries(next.models)),
      );
    }
    if (section === "routing") return routingChanges(previous, next);
    return [`${section} changed`];
  });
}

function routingChanges(previous: Config, next: Config): string[] {
  const { default_strategy: before } = previous.routing;
  const { default_strategy: after } = next.routing;
  const routes = changedNames("routes", routesOf(previous), routesOf(next));
  const isReordered = routes.length === 0 && before === after;
  return [
    ...routes,
    ...(before === after ? [] : ["routing.default_strategy changed"]),
    ...(isReordered ? ["routes: other order"] : []),
  ];
}

function changedNames(
  label: string,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): string[] {
  const words: string[] = [];
  for (const [name, value] of after) {
    if (!before.has(name)) words.push(`${name} added`);
    else if (!isDeepStrictEqual(before.get(name), value)) words.push(`${name} changed`);
  }
  for (const name of before.keys()) {
    if (!after.has(name)) words.push(`${name} removed`);
  }
  return words.length === 0 ? [] : [`${label}: ${words.join(", ")}`];
}

function providersOf({ providers }: Config): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(providers));
}

function routesOf({ routing }: Config): ReadonlyMap<string, unknown> {
  return new Map(routing.routes.map((route) => [route.name, route]));
}
