import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonDocument } from "../../core/json/json.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { isEmpty } from "../chat_request/refusals.ts";
import { newPatterns } from "./patterns.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Encoding } from "../wire.ts";
import type { ResponsePromise } from "./response_promise.ts";
import { parseStrictSchema } from "./strict_schema.ts";

/** Path of the flag of a strict response format. */
const STRICT_PATH = "response_format.json_schema.strict";

/** True if the model may call tools, which it can only if the request has tools. */
export function permitsCalls({ value }: JsonDocument): boolean {
  const { tools, functions, tool_choice: choice, function_call: call } = value;
  return choice !== "none" && call !== "none" && !(isEmpty(tools) && isEmpty(functions));
}

/** True if the model may call tools, which it can only if the prompt has tools. */
export function mayCall({ tools, choice }: Prompt): boolean {
  return choice.kind !== "none" && tools.length > 0;
}

/**
 * Returns the promise of the format of a prompt. An upstream that enforces JSON does so only in a response
 * that may not be a call. A strict schema (OpenAI API, structured outputs) is checked although the upstream
 * enforces it. One that cannot be checked has no promise: then only the upstream enforces it.
 */
export function promisesOfFormat(
  prompt: Prompt,
  { target: { provider: { settings } }, patterns }: Encoding,
  enforcesJson: boolean,
): readonly ResponsePromise[] {
  const { format } = prompt;
  if (!settings.verify || format === null) return [];
  const permitsCalls = mayCall(prompt);
  switch (format.kind) {
    case "text":
      return [];
    case "json_object":
      return enforcesJson && !permitsCalls
        ? []
        : [{ kind: "json_object", path: format.at.path, permitsCalls }];
    case "json_schema": {
      const { strict, schema: given } = format;
      if (!settings.capabilities.structured_outputs || strict?.value !== true) return [];
      const { path } = strict.at;
      const schema = parseStrictSchema(given.value, path, patterns);
      return schema.ok ? [{ kind: "json_schema", path, schema: schema.value, permitsCalls }] : [];
    }
  }
}

/**
 * Returns the promise of a response format. An upstream that enforces JSON does so only in a response that
 * may not be a call. A strict schema (OpenAI API, structured outputs) is checked although the upstream
 * enforces it. One that cannot be checked has no promise: then only the upstream enforces it.
 */
export function formatPromises(
  { document, patterns = newPatterns() }: ChatRequest,
  { verify, capabilities }: ProviderConfig,
  enforcesJson: boolean,
): readonly ResponsePromise[] {
  const { response_format: format } = document.value;
  if (!verify || !isObject(format)) return [];
  const { type, json_schema: named } = format;
  const mayCall = permitsCalls(document);
  if (type === "json_object") {
    return enforcesJson && !mayCall
      ? []
      : [{ kind: "json_object", path: "response_format", permitsCalls: mayCall }];
  }
  if (!capabilities.structured_outputs) return [];
  if (type !== "json_schema" || !isObject(named) || named.strict !== true) return [];
  if (!isObject(named.schema)) return [];
  const schema = parseStrictSchema(named.schema, STRICT_PATH, patterns);
  return schema.ok
    ? [{ kind: "json_schema", path: STRICT_PATH, schema: schema.value, permitsCalls: mayCall }]
    : [];
}
