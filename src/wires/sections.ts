import type { JsonObject } from "../core/json/json.ts";
import { type Result, success } from "../core/failure/result.ts";

/**
 * Translates one group of request fields. Returns fields of the upstream request that no other
 * section returns.
 */
export type Section<Input> = (input: Input) => Result<JsonObject>;

/**
 * Returns the upstream request: the fields of `first`, then the fields of all sections in their
 * order.
 */
export function assemble<Input>(
  first: JsonObject,
  sections: readonly Section<Input>[],
  input: Input,
): Result<JsonObject> {
  const request = { ...first };
  for (const section of sections) {
    const members = section(input);
    if (!members.ok) return members;
    Object.assign(request, members.value);
  }
  return success(request);
}
