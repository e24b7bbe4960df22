import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonDocument } from "../../core/json/json.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { isEmpty } from "../chat_request/refusals.ts";
import { newPatterns } from "./patterns.ts";
import type { ResponsePromise } from "./response_promise.ts";
import { parseStrictSchema } from "./strict_schema.ts";

/** Path of the flag of a strict response format. */
const STRICT_PATH = "response_format.json_schema.strict";

/** True if the model may call tools, which it can only if the request has tools. */
export function permitsCalls({ value }: JsonDocument): boolean {
  const { tools, functions, tool_choice: choice, function_call: call } = value;
  return choice !== "none" && call !== "none" && !(isEmpty(tools) && isEmpty(functions));
}

/**
 * Returns the promise of a strict response format (OpenAI API, structured outputs), which the gateway checks
 * although the upstream enforces it. A schema that cannot be checked has none: then only the upstream
 * enforces it.
 */
export function schemaPromises(
  { document, patterns = newPatterns() }: ChatRequest,
  { verify, capabilities }: ProviderConfig,
): readonly ResponsePromise[] {
  const { response_format: format } = document.value;
  if (!verify || !capabilities.structured_outputs || !isObject(format)) return [];
  const { type, json_schema: named } = format;
  if (type !== "json_schema" || !isObject(named) || named.strict !== true) return [];
  if (!isObject(named.schema)) return [];
  const schema = parseStrictSchema(named.schema, STRICT_PATH, patterns);
  return schema.ok
    ? [{
      kind: "json_schema",
      path: STRICT_PATH,
      schema: schema.value,
      permitsCalls: permitsCalls(document),
    }]
    : [];
}
