import type { Account } from "./account.ts";
import type { SimCall } from "./sim_call.ts";

/** A call that has found its way: what stood in its path, and who makes it. */
export interface RoutedCall extends SimCall {
  readonly query: URLSearchParams;
  /** The parts of the path that the route leaves open, decoded. */
  readonly ids: readonly string[];
  readonly account: Account;
}

/** Does what one method of one path is for. */
export type RouteHandler = (call: RoutedCall) => Promise<Response> | Response;

/** A method and a path in which `:x` stands for one segment and `*x` for all the rest. */
export type RouteTable = ReadonlyMap<string, RouteHandler>;

/** A route, and what stood in the places that its path leaves open. */
export interface RouteMatch {
  readonly handler: RouteHandler;
  readonly ids: readonly string[];
}

/** The first route of the table that fits; null when none does. */
export function findRoute(table: RouteTable, method: string, path: string): RouteMatch | null {
  for (const [pattern, handler] of table) {
    const ids = matchPath(pattern, `${method} ${path}`);
    if (ids !== null) return { handler, ids };
  }
  return null;
}

function matchPath(pattern: string, path: string): readonly string[] | null {
  const expression = pattern.replace(/:\w+/g, "([^/]+)").replace(/\*\w+/g, "(.+)");
  const found = new RegExp(`^${expression}$`).exec(path);
  return found === null ? null : found.slice(1).map(decodeSegment);
}

/** A segment without its percent signs. A query is decoded leniently: nothing is thrown. */
function decodeSegment(segment: string): string {
  return new URLSearchParams(`id=${segment.replaceAll("+", "%2B").replaceAll("&", "%26")}`)
    .get("id") ?? segment;
}
