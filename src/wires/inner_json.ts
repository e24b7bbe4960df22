import type { Refusal } from "../core/failure.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { type Failed, refuse } from "../core/result.ts";
import { countItems } from "../core/json/scan.ts";
import type { Optional } from "./chat_request/refusals.ts";

/** Members and elements that the JSON texts within the strings of one request may hold together. */
export const MAX_INNER_ITEMS = 200_000;

/** The count of members and elements in the JSON texts of one request, each of which is parsed. */
export interface InnerItems {
  /** Counts a text; false if the texts so far hold more than `MAX_INNER_ITEMS`. */
  admits(text: string): boolean;
}

/**
 * Returns a count that begins at 0. Arguments of tool calls and the like are strings of the request
 * body, so the limit on the members of the body does not see what is in them.
 */
export function newInnerItems(): InnerItems {
  let count = 0;
  return {
    admits(text) {
      count += countItems(text, MAX_INNER_ITEMS - count);
      return count <= MAX_INNER_ITEMS;
    },
  };
}

/** Returns the refusal of a request whose JSON texts hold too much. */
export function tooManyInnerItems(path: string): Failed<Refusal> {
  return refuse(
    "request_too_large",
    `'${path}' brings the JSON texts within the request to more than ${MAX_INNER_ITEMS} ` +
      "members and elements; send fewer.",
    path,
  );
}

/**
 * Returns the refusal of messages whose tool calls have arguments with too many members and elements;
 * null if they may be parsed. Shapes are not checked.
 */
export function argumentItemsProblem(messages: Optional): Failed<Refusal> | null {
  const items = newInnerItems();
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    if (!isObject(message)) continue;
    for (const [path, called] of calledIn(message)) {
      const text = isObject(called) ? called.arguments : null;
      if (typeof text !== "string" || items.admits(text)) continue;
      return tooManyInnerItems(`messages[${index}].${path}.arguments`);
    }
  }
  return null;
}

function calledIn({ tool_calls, function_call }: JsonObject): (readonly [string, Optional])[] {
  const calls = (Array.isArray(tool_calls) ? tool_calls : []).map((call, index) =>
    [`tool_calls[${index}].function`, isObject(call) ? call.function : null] as const
  );
  return function_call === undefined ? calls : [...calls, ["function_call", function_call]];
}
