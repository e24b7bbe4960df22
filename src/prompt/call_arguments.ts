import type { JsonObject } from "../core/json/json.ts";
import type { Result } from "../core/failure/result.ts";
import { newInnerItems, tooManyInnerItems } from "./inner_json.ts";
import type { ToolCall } from "./prompt.ts";
import { parseArguments } from "./refusals.ts";

/**
 * Returns a parser of the arguments of the calls of one request, for protocols that have an object
 * where others have its text. A Refusal names arguments that are not the text of an object, and
 * those with which the texts of the request have too many members and elements.
 */
export function newArgumentParser(): (call: ToolCall) => Result<JsonObject> {
  const items = newInnerItems();
  return ({ text: { value, at: { path } } }) =>
    items.admits(value) ? parseArguments(value, path) : tooManyInnerItems(path);
}
