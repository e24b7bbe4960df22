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
import { type ApiError, newApiError } from "./protocol.ts";

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

const PART_TYPES_BY_ROLE: ReadonlyMap<string, readonly string[]> = new Map([
  ["developer", ["text"]],
  ["system", ["text"]],
  ["user", ["text", "image_url", "input_audio", "file"]],
  ["assistant", ["text", "refusal"]],
  ["tool", ["text"]],
  ["function", []],
]);

/**
 * Yields the errors in the messages of a chat request and in their order (Chat Completions,
 * messages).
 */
export function* compatMessageErrors(messages: JsonValue | undefined): Generator<ApiError> {
  if (!Array.isArray(messages) || messages.length === 0) {
    return yield invalidValue("messages", "messages must be an array of at least one message.");
  }
  const open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`;
    if (!isObject(message)) return yield invalidValue(path, "A message must be an object.");
    yield* oneMessageErrors(message, path);
    if (message.role === "tool") {
      if (typeof message.tool_call_id !== "string" || !open.delete(message.tool_call_id)) {
        yield invalidValue(path, "A tool message must answer a preceding message with tool_calls.");
      }
      continue;
    }
    if (open.size > 0) yield unanswered(path);
    for (const call of callIdsOf(message)) open.add(call);
  }
  if (open.size > 0) yield unanswered("messages");
}

function unanswered(path: string): ApiError {
  return newApiError("Each of tool_calls must be answered by a tool message.", { param: path });
}

function callIdsOf(message: JsonObject): readonly string[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return calls.flatMap((call) => isObject(call) && typeof call.id === "string" ? [call.id] : []);
}

function* oneMessageErrors(message: JsonObject, path: string): Generator<ApiError> {
  const { role, content, tool_calls: calls } = message;
  const parts = typeof role === "string" ? PART_TYPES_BY_ROLE.get(role) : undefined;
  if (parts === undefined) return yield invalidValue(`${path}.role`, "This role is unknown.");
  // SDKs send the null back that they put where a message has no calls.
  if (calls != null && (!Array.isArray(calls) || !calls.every(isCall))) {
    yield invalidValue(`${path}.tool_calls`, "tool_calls must be an array of calls.");
  }
  if (Array.isArray(content)) {
    const fits = content.length > 0 && content.every((part) => isPart(part, parts));
    if (!fits) {
      yield invalidValue(`${path}.content`, "A part of the content is wrong for this role.");
    }
  } else if (typeof content !== "string" && !mayLackContent(message)) {
    yield invalidValue(`${path}.content`, "content must be a string or an array of parts.");
  }
}

function mayLackContent({ role, content, tool_calls, function_call, refusal }: JsonObject) {
  if (content !== null && content !== undefined) return false;
  if (role === "function") return true;
  return role === "assistant" && (Array.isArray(tool_calls) || isObject(function_call) ||
    typeof refusal === "string");
}

function isCall(call: JsonValue): boolean {
  if (!isObject(call) || typeof call.id !== "string") return false;
  const { type, function: called, custom } = call;
  if (type === "custom") return isObject(custom) && typeof custom.input === "string";
  return type === "function" && isObject(called) && typeof called.name === "string" &&
    typeof called.arguments === "string";
}

function isPart(part: JsonValue, allowed: readonly string[]): boolean {
  if (!isObject(part) || typeof part.type !== "string" || !allowed.includes(part.type)) {
    return false;
  }
  const { type, text, refusal, image_url: image, input_audio: audio, file } = part;
  if (type === "text") return typeof text === "string";
  if (type === "refusal") return typeof refusal === "string";
  if (type === "image_url") return isObject(image) && typeof image.url === "string";
  return type === "input_audio"
    ? isObject(audio) && typeof audio.data === "string" && typeof audio.format === "string"
    : isObject(file);
}
