import type { JsonObject } from "../core/json/json.ts";
import { invalidValue } from "./field_checks.ts";
import type { Answer } from "./sim_call.ts";

const DEFAULT_LIMIT = 20;

/** The query defaults and limits of a list endpoint. */
export interface PageRules {
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
