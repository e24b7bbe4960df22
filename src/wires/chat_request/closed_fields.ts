import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { Failed } from "../../core/result.ts";
import { isEmpty, unknownMember, unsupported, wrongType } from "./refusals.ts";

/** Request fields that every translation supports. */
export const ENCODED_BY_ALL: readonly string[] = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_completion_tokens",
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "response_format",
  "reasoning_effort",
  "reasoning",
];

/**
 * Values of Chat fields that equal the default and therefore request nothing; null always does
 * (OpenAI API, Chat Completions, defaults).
 */
const IS_DEFAULT: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ["n", (value) => numberOf(value) === 1],
  ["stop", isEmpty],
  ["metadata", isEmpty],
  ["store", (value) => value === false],
  ["frequency_penalty", (value) => numberOf(value) === 0],
  ["presence_penalty", (value) => numberOf(value) === 0],
  ["logit_bias", isEmpty],
  ["logprobs", (value) => value === false],
  ["top_logprobs", (value) => numberOf(value) === 0],
  ["modalities", (value) => Array.isArray(value) && value.length === 1 && value[0] === "text"],
  ["verbosity", (value) => value === "medium"],
  ["service_tier", (value) => value === "auto" || value === "default"],
]);

/**
 * Returns the refusal of the first request field that the translation does not support; null if
 * there is none. Fields with a default value are accepted. `encoded` are the fields that the wire
 * translates.
 */
export function unsupportedField(
  body: JsonObject,
  encoded: ReadonlySet<string>,
): Failed<Refusal> | null {
  for (const [key, value] of Object.entries(body)) {
    if ((value ?? null) === null || value === undefined || encoded.has(key)) continue;
    if (IS_DEFAULT.get(key)?.(value) !== true) return unsupported(key);
  }
  return unsupportedStreamOption(body.stream_options ?? null);
}

/**
 * Returns the refusal of an unsupported stream option. Padding (`include_obfuscation`) is refused
 * because translated chunks lose it.
 */
function unsupportedStreamOption(options: JsonValue): Failed<Refusal> | null {
  if (options === null) return null;
  if (!isObject(options)) return wrongType("stream_options", "an object");
  if (options.include_obfuscation === true) {
    return unsupported("stream_options.include_obfuscation");
  }
  return unknownMember(options, ["include_usage", "include_obfuscation"], "stream_options");
}
