import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import {
  fieldRuleErrors,
  FLAG,
  INTEGER,
  integerFrom,
  invalidValue,
  isText,
  METADATA,
  missingParameter,
  nullable,
  numberFrom,
  oneOf,
  POSITIVE,
  rule,
  TEXT,
} from "./field_checks.ts";
import type { ApiError } from "./protocol.ts";

// Chat Completions, create: type and range of each field; `null` where the API document allows it.
const FIELD_RULES = {
  stream: nullable(FLAG),
  stream_options: nullable(rule("an object", isObject)),
  store: nullable(FLAG),
  metadata: nullable(METADATA),
  temperature: nullable(numberFrom(0, 2)),
  top_p: nullable(numberFrom(0, 1)),
  presence_penalty: nullable(numberFrom(-2, 2)),
  frequency_penalty: nullable(numberFrom(-2, 2)),
  n: nullable(integerFrom(1, 128)),
  max_tokens: nullable(POSITIVE),
  max_completion_tokens: nullable(POSITIVE),
  seed: nullable(INTEGER),
  logprobs: nullable(FLAG),
  top_logprobs: nullable(integerFrom(0, 20)),
  logit_bias: nullable(rule("an object", isObject)),
  stop: nullable(rule("a string, up to 4 strings", isStop)),
  parallel_tool_calls: FLAG,
  user: TEXT,
  reasoning_effort: nullable(rule("an effort", oneOf("none minimal low medium high xhigh max"))),
  verbosity: nullable(rule("a verbosity", oneOf("low medium high"))),
  response_format: rule("a response format", isFormat),
  tools: rule("an array of tools", (value) => Array.isArray(value) && value.every(isTool)),
  tool_choice: rule("a tool choice", isChoice),
};

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
