import type { JsonObject } from "../core/json.ts";
import { invalid } from "./checks.ts";
import type { Complaint } from "./voice.ts";

const USUAL_LIMIT = 20;

/** How a list is cut into pages. */
export interface PageRules {
  /** The order when none is asked for. */
  readonly order: "asc" | "desc";
  /** The greatest limit. */
  readonly most: number;
}

/** One page of a list whose elements have an `id`, as `after`, `limit` and `order` ask for it. */
export function pageOf(
  items: readonly JsonObject[],
  query: URLSearchParams,
  rules: PageRules,
): { readonly page: JsonObject } | { readonly complaint: Complaint } {
  const order = query.get("order") ?? rules.order;
  if (order !== "asc" && order !== "desc") {
    return { complaint: invalid("order", "order must be asc or desc.") };
  }
  const limit = query.get("limit") ?? String(USUAL_LIMIT);
  if (!/^\d{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > rules.most) {
    return { complaint: invalid("limit", `limit must be an integer from 1 to ${rules.most}.`) };
  }
  const sorted = order === "asc" ? items : items.toReversed();
  const after = query.get("after");
  const before = after === null ? -1 : sorted.findIndex(({ id }) => id === after);
  if (after !== null && before === -1) {
    return { complaint: invalid("after", `after names no element of this list: '${after}'.`) };
  }
  const data = sorted.slice(before + 1, before + 1 + Number(limit));
  return {
    page: {
      object: "list",
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: before + 1 + data.length < sorted.length,
    },
  };
}
