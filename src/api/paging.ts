import type { JsonObject } from "../core/json/json.ts";
import { refuse, type Result, success } from "../core/result.ts";
import { identifierProblem } from "./identifier.ts";

const MOST_LISTED = 100;
const LISTED = 20;

/** Which part of a list a client wants. */
export interface Page {
  /** The id of the item before the first wanted one; null begins at the beginning. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Reads `after`, `limit` (1 to 100, else 20) and `order` (else `desc`); a wrong one is refused by name. */
export function pageOf(query: URLSearchParams): Result<Page> {
  const after = query.get("after");
  const problem = after === null ? null : identifierProblem(after, "after");
  if (problem !== null) return problem;
  const written = query.get("limit") ?? String(LISTED);
  const limit = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (limit < 1 || limit > MOST_LISTED) {
    return refuse("invalid_value", `'limit' must be a number from 1 to ${MOST_LISTED}.`, "limit");
  }
  const order = query.get("order") ?? "desc";
  return order === "asc" || order === "desc"
    ? success({ after, limit, order })
    : refuse("invalid_value", "'order' must be asc or desc.", "order");
}

/** The list object with one page of the items, which are given oldest first. */
export function listOf(items: readonly JsonObject[], page: Page): Result<JsonObject> {
  const ordered = page.order === "asc" ? items : items.toReversed();
  const before = page.after === null ? -1 : ordered.findIndex(({ id }) => id === page.after);
  if (page.after !== null && before < 0) {
    return refuse("invalid_value", "'after' must be the id of an item of the list.", "after");
  }
  const rest = ordered.slice(before + 1);
  return success(listObject(rest.slice(0, page.limit), rest.length > page.limit));
}

/** The list object of these items, as they are ordered. */
export function listObject(data: readonly JsonObject[], hasMore = false): JsonObject {
  return {
    object: "list",
    data: [...data],
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** The first of these query parameters that is there is refused; null when none is. */
export function queryProblem(query: URLSearchParams, names: readonly string[]) {
  const name = names.find((one) => query.has(one));
  return name === undefined ? null : refuse(
    "unsupported_feature",
    `The query parameter '${name}' is not supported for what the gateway itself keeps.`,
    name,
  );
}
