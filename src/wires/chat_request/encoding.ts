import type { ChatRequest } from "./chat_request.ts";
import { isObject, type JsonObject, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { nesting } from "./refusals.ts";
import { unsupportedField } from "./closed_fields.ts";
import type { FieldTable } from "../../prompt/field_table.ts";
import type { ChatField } from "../../prompt/chat_fields.ts";

/**
 * Translates one group of request fields. Returns fields of the upstream request that no other
 * section returns.
 */
export type Section<Input> = (input: Input) => Result<JsonObject>;

/**
 * Returns the request body for a translation, with numbers as exact text. A Refusal names the first
 * field that is nested too deeply or not supported.
 */
export function parseExactBody(
  { document }: ChatRequest,
  fields: FieldTable<ChatField>,
): Result<JsonObject> {
  const deep = nesting(document.value);
  if (deep !== null) return deep;
  const exact = parseExact(document.text);
  const body = isObject(exact) ? exact : document.value;
  return unsupportedField(body, fields) ?? success(body);
}

/** Returns the upstream request: the fields of `first`, then the fields of all sections in their order. */
export function assemble<Input>(
  first: JsonObject,
  sections: readonly Section<Input>[],
  input: Input,
): Result<JsonObject> {
  let request = first;
  for (const section of sections) {
    const members = section(input);
    if (!members.ok) return members;
    request = { ...request, ...members.value };
  }
  return success(request);
}
