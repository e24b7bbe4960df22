import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json.ts";
import type { Failed } from "../../core/result.ts";
import { isEmpty, unknownMember, unsupported, wrongType } from "../fields.ts";

/** Fields that have a place in a Messages request; their own files look at their values. */
const ENCODED: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_completion_tokens",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "thinking",
  "user",
  "safety_identifier",
  "service_tier",
]);

/** Fields without a counterpart, with the values that ask for nothing beside null. */
const HARMLESS: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ["n", (value) => numberOf(value) === 1],
  ["metadata", isEmpty],
  ["store", (value) => value === false],
  ["frequency_penalty", (value) => numberOf(value) === 0],
  ["presence_penalty", (value) => numberOf(value) === 0],
  ["logit_bias", isEmpty],
  ["logprobs", (value) => value === false],
  ["top_logprobs", (value) => numberOf(value) === 0],
  ["modalities", (value) => Array.isArray(value) && value.length === 1 && value[0] === "text"],
  ["verbosity", (value) => value === "medium"],
]);

/**
 * The refusal of the first field that the Messages API has no counterpart for, unless its value
 * asks for nothing; null when there is none. A body with an unknown key is refused upstream, so
 * whatever is not listed is refused here.
 */
export function unsupportedField(body: JsonObject): Failed<Refusal> | null {
  for (const [key, value] of Object.entries(body)) {
    if ((value ?? null) === null || value === undefined || ENCODED.has(key)) continue;
    if (HARMLESS.get(key)?.(value) !== true) return unsupported(key);
  }
  return unsupportedStreamOption(body.stream_options ?? null);
}

function unsupportedStreamOption(options: JsonValue): Failed<Refusal> | null {
  if (options === null) return null;
  if (!isObject(options)) return wrongType("stream_options", "an object");
  if (options.include_obfuscation === true) {
    return unsupported("stream_options.include_obfuscation");
  }
  return unknownMember(options, ["include_usage", "include_obfuscation"], "stream_options");
}
