import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import {
  between,
  type FieldRule,
  fieldRuleErrors,
  integerBetween,
  invalidValue,
  isFlag,
  isMetadata,
  isText,
  missingParameter,
  oneOf,
  orNull,
} from "./field_checks.ts";
import type { ApiError } from "./protocol.ts";

// Chat Completions, create: type and range of each field; `null` where the API document allows it.
const FIELD_RULES: readonly FieldRule[] = [
  { name: "stream", expected: "a boolean or null", isValid: orNull(isFlag) },
  { name: "stream_options", expected: "an object or null", isValid: orNull(isObject) },
  { name: "store", expected: "a boolean or null", isValid: orNull(isFlag) },
  { name: "metadata", expected: "an object of strings or null", isValid: orNull(isMetadata) },
  { name: "temperature", expected: "a number from 0 to 2 or null", isValid: orNull(between(0, 2)) },
  { name: "top_p", expected: "a number from 0 to 1 or null", isValid: orNull(between(0, 1)) },
  {
    name: "presence_penalty",
    expected: "a number from -2 to 2 or null",
    isValid: orNull(between(-2, 2)),
  },
  {
    name: "frequency_penalty",
    expected: "a number from -2 to 2 or null",
    isValid: orNull(between(-2, 2)),
  },
  {
    name: "n",
    expected: "an integer from 1 to 128 or null",
    isValid: orNull(integerBetween(1, 128)),
  },
  {
    name: "max_tokens",
    expected: "a positive integer or null",
    isValid: orNull(integerBetween(1, Infinity)),
  },
  {
    name: "max_completion_tokens",
    expected: "a positive integer or null",
    isValid: orNull(integerBetween(1, Infinity)),
  },
  {
    name: "seed",
    expected: "an integer or null",
    isValid: orNull(integerBetween(-Infinity, Infinity)),
  },
  { name: "logprobs", expected: "a boolean or null", isValid: orNull(isFlag) },
  {
    name: "top_logprobs",
    expected: "an integer from 0 to 20 or null",
    isValid: orNull(integerBetween(0, 20)),
  },
  { name: "logit_bias", expected: "an object or null", isValid: orNull(isObject) },
  { name: "stop", expected: "a string, up to 4 strings or null", isValid: orNull(isStop) },
  { name: "parallel_tool_calls", expected: "a boolean", isValid: isFlag },
  { name: "user", expected: "a string", isValid: isText },
  {
    name: "reasoning_effort",
    expected: "an effort or null",
    isValid: orNull(oneOf("none minimal low medium high xhigh max")),
  },
  { name: "verbosity", expected: "a verbosity or null", isValid: orNull(oneOf("low medium high")) },
  { name: "response_format", expected: "a response format", isValid: isFormat },
  {
    name: "tools",
    expected: "an array of tools",
    isValid: (value) => Array.isArray(value) && value.every(isTool),
  },
  { name: "tool_choice", expected: "a tool choice", isValid: isChoice },
];

/** Yields the errors in the fields of a chat request (Chat Completions, create). */
export function* compatFieldErrors(body: JsonObject): Generator<ApiError> {
  if (typeof body.model !== "string") yield missingParameter("model");
  yield* fieldRuleErrors(body, FIELD_RULES);
  if (isObject(body.stream_options) && body.stream !== true) {
    yield invalidValue("stream_options", "stream_options is only allowed when stream is enabled.");
  }
  if (typeof body.top_logprobs === "number" && body.logprobs !== true) {
    yield invalidValue("top_logprobs", "top_logprobs needs logprobs.");
  }
  if (body.tool_choice !== undefined && body.tool_choice !== "none" && body.tools === undefined) {
    yield invalidValue("tool_choice", "tool_choice is only allowed when tools are specified.");
  }
}

function isStop(value: JsonValue): boolean {
  if (typeof value === "string") return true;
  return Array.isArray(value) && value.length >= 1 && value.length <= 4 && value.every(isText);
}

function isFormat(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  if (value.type === "text" || value.type === "json_object") return true;
  const { json_schema: form } = value;
  return value.type === "json_schema" && isObject(form) && typeof form.name === "string" &&
    (form.schema === undefined || isObject(form.schema));
}

function isTool(tool: JsonValue): boolean {
  if (!isObject(tool)) return false;
  if (tool.type === "custom") return isObject(tool.custom) && typeof tool.custom.name === "string";
  const { function: called } = tool;
  return tool.type === "function" && isObject(called) && typeof called.name === "string" &&
    /^[a-zA-Z0-9_-]{1,64}$/.test(called.name) &&
    (called.parameters === undefined || isObject(called.parameters));
}

function isChoice(choice: JsonValue): boolean {
  if (!isObject(choice)) return oneOf("none auto required")(choice);
  const { type, function: called, custom, allowed_tools: allowed } = choice;
  if (type === "function") return isObject(called) && typeof called.name === "string";
  if (type === "custom") return isObject(custom) && typeof custom.name === "string";
  return type === "allowed_tools" && isObject(allowed) && Array.isArray(allowed.tools) &&
    oneOf("auto required")(allowed.mode ?? null);
}
