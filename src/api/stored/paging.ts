import type { JsonObject } from "../../core/json/json.ts";
import { refuse, type Result, success } from "../../core/failure/result.ts";
import { wrongValue } from "../../prompt/refusals.ts";
import { identifierProblem } from "./identifier.ts";

const MAX_PAGE_ITEMS = 100;
const DEFAULT_PAGE_ITEMS = 20;

/** The requested page of a list. */
export interface Page {
  /** The id of the item before the page; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/**
 * Parses `after`, `limit` (1 to 100, default 20) and `order` (default `desc`); refuses an invalid
 * value by name.
 */
export function parsePage(query: URLSearchParams): Result<Page> {
  const after = query.get("after");
  const problem = after === null ? null : identifierProblem(after, "after");
  if (problem !== null) return problem;
  const written = query.get("limit") ?? String(DEFAULT_PAGE_ITEMS);
  const limit = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (limit < 1 || limit > MAX_PAGE_ITEMS) {
    return wrongValue("limit", `a number from 1 to ${MAX_PAGE_ITEMS}`);
  }
  const order = query.get("order") ?? "desc";
  return order === "asc" || order === "desc"
    ? success({ after, limit, order })
    : wrongValue("order", "asc or desc");
}

/** Returns the list object with one page of `items`, which must be oldest first. */
export function encodePage(items: readonly JsonObject[], page: Page): Result<JsonObject> {
  const ordered = page.order === "asc" ? items : items.toReversed();
  const before = page.after === null ? -1 : ordered.findIndex(({ id }) => id === page.after);
  if (page.after !== null && before < 0) {
    return wrongValue("after", "the id of an item of the list");
  }
  const rest = ordered.slice(before + 1);
  return success(listObject(rest.slice(0, page.limit), rest.length > page.limit));
}

/** Returns the list object of these items, in the same order. */
export function listObject(data: readonly JsonObject[], hasMore = false): JsonObject {
  return {
    object: "list",
    data: [...data],
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** Refuses the first of these query parameters that the query has; null if it has none. */
export function queryProblem(query: URLSearchParams, names: readonly string[]) {
  const name = names.find((one) => query.has(one));
  return name === undefined ? null : refuse(
    "unsupported_feature",
    `The query parameter '${name}' is not supported for what the gateway itself keeps.`,
    name,
  );
}
