import type { Route } from "./visit.ts";

/** A method and a path in which `:x` stands for one segment and `*x` for all the rest. */
export type RouteTable = ReadonlyMap<string, Route>;

/** A route, and what stood in the places that its path leaves open. */
export interface Found {
  readonly route: Route;
  readonly ids: readonly string[];
}

/** The first route of the table that fits; null when none does. */
export function findRoute(table: RouteTable, method: string, path: string): Found | null {
  for (const [written, route] of table) {
    const ids = matchOf(written, `${method} ${path}`);
    if (ids !== null) return { route, ids };
  }
  return null;
}

function matchOf(written: string, asked: string): readonly string[] | null {
  const pattern = written.replace(/:\w+/g, "([^/]+)").replace(/\*\w+/g, "(.+)");
  const found = new RegExp(`^${pattern}$`).exec(asked);
  return found === null ? null : found.slice(1).map(decoded);
}

/** A segment without its percent signs. A query is decoded leniently: nothing is thrown. */
function decoded(segment: string): string {
  return new URLSearchParams(`id=${segment.replaceAll("+", "%2B").replaceAll("&", "%26")}`)
    .get("id") ?? segment;
}
