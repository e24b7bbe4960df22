import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, refuse } from "../core/failure/result.ts";
import { countItems } from "../core/json/scan.ts";

/** Maximum number of members and elements in all JSON texts inside the strings of one request. */
const MAX_INNER_ITEMS = 200_000;

/**
 * Counts the members and elements in the JSON texts of one request. Each of these texts is parsed
 * later.
 */
export interface InnerItems {
  /**
   * Counts a text. False if all texts so far have more than `MAX_INNER_ITEMS` members and elements.
   */
  admits(text: string): boolean;
}

/**
 * Returns a counter that starts at 0. Arguments of tool calls are strings of the request body, so
 * the limit on members of the body does not count their content.
 */
export function newInnerItems(): InnerItems {
  let count = 0;
  return {
    admits(text) {
      count += countItems(text, MAX_INNER_ITEMS - count).count;
      return count <= MAX_INNER_ITEMS;
    },
  };
}

/** Returns the refusal of a request whose JSON texts exceed `MAX_INNER_ITEMS`. */
export function tooManyInnerItems(path: string): Failed<Refusal> {
  return refuse(
    "request_too_large",
    {
      kind: "rule",
      rule: `brings the JSON texts within the request to more than ${MAX_INNER_ITEMS} ` +
        "members and elements; send fewer",
    },
    path,
  );
}
