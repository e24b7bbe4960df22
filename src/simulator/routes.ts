import type { Account } from "./account.ts";
import type { BoundedMap } from "./bounded_map.ts";
import { type Answer, notFound, type SimCall } from "./sim_call.ts";
import type { JsonObject } from "../core/json/json.ts";
import { invalidValue } from "./field_checks.ts";

/** A call matched to a route, with its path parameters and account. */
export interface RoutedCall extends SimCall {
  readonly query: URLSearchParams;
  /** The decoded path parameters, in order. */
  readonly ids: readonly string[];
  readonly account: Account;
}

/** Handles the calls of one method and path. */
export type RouteHandler = (call: RoutedCall) => Promise<Answer> | Answer;

/**
 * Handlers by method and path pattern, in which `:x` matches one segment and `*x` the rest of the
 * path.
 */
export type RouteTable = ReadonlyMap<string, RouteHandler>;

/** Returns the first route that matches the method and path; null if none does. */
export function findRoute(
  table: RouteTable,
  method: string,
  path: string,
): { readonly handler: RouteHandler; readonly ids: readonly string[] } | null {
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

/**
 * Percent-decodes a path segment. A query string is decoded leniently, so an invalid escape does
 * not throw.
 */
function decodeSegment(segment: string): string {
  return new URLSearchParams(`id=${segment.replaceAll("+", "%2B").replaceAll("&", "%26")}`)
    .get("id") ?? segment;
}

/**
 * Returns a handler of calls for an object that the account must have. `name` is its kind in the
 * error.
 */
export function onStored<T>(
  storeOf: (account: Account) => BoundedMap<T>,
  name: string,
  act: (call: RoutedCall, stored: T) => Promise<Answer> | Answer,
): RouteHandler {
  return (call) => {
    const [id = ""] = call.ids;
    const stored = storeOf(call.account).get(id);
    return stored === undefined ? notFound(name, id) : act(call, stored);
  };
}

const DEFAULT_LIMIT = 20;

/** The query defaults and limits of a list endpoint. */
interface PageRules {
  /** The order without an `order` parameter. */
  readonly defaultOrder: "asc" | "desc";
  /** The largest `limit` that is accepted. */
  readonly maxLimit: number;
}

/**
 * Returns the page of a list that the query's `after`, `limit` and `order` select. Elements are
 * found by `id`.
 */
export function paginate(
  items: readonly JsonObject[],
  query: URLSearchParams,
  rules: PageRules,
): Answer {
  const order = query.get("order") ?? rules.defaultOrder;
  if (order !== "asc" && order !== "desc") {
    return invalidValue("order", "order must be asc or desc.");
  }
  const limit = query.get("limit") ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > rules.maxLimit) {
    return invalidValue("limit", `limit must be an integer from 1 to ${rules.maxLimit}.`);
  }
  const sorted = order === "asc" ? items : items.toReversed();
  const after = query.get("after");
  const before = after === null ? -1 : sorted.findIndex(({ id }) => id === after);
  if (after !== null && before === -1) {
    return invalidValue("after", `after names no element of this list: '${after}'.`);
  }
  const data = sorted.slice(before + 1, before + 1 + Number(limit));
  return Response.json({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: before + 1 + data.length < sorted.length,
  });
}
