import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { oneOf, words } from "./field_checks.ts";

const INTEGER_OPTIONS = words(
  "num_predict top_k seed repeat_last_n num_ctx num_keep num_batch num_gpu main_gpu " +
    "num_thread",
);
const NUMBER_OPTIONS = words(
  "temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty",
);
const isThinkLevel = oneOf("low medium high max");
/** Padded base64 of the standard alphabet, without a `data:` prefix. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Yields the errors in a chat body. The runtime ignores unknown fields (local API, chat). */
export function* localFieldErrors(body: JsonObject): Generator<string> {
  const { model, messages, stream, think, format, tools } = body;
  if (typeof model !== "string" || model === "") yield "model is required";
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    yield "json: cannot unmarshal stream into Go struct field ChatRequest.stream of type bool";
  }
  if (think !== undefined && think !== null && typeof think !== "boolean") {
    if (!isThinkLevel(think)) yield `invalid think value: ${JSON.stringify(think)}`;
  }
  const isForm = isObject(format) || format === undefined || format === null || format === "" ||
    format === "json";
  if (!isForm) yield `invalid format: ${JSON.stringify(format)}; expected "json" or a JSON schema`;
  yield* optionErrors(body.options);
  if (tools !== undefined && tools !== null && !(Array.isArray(tools) && tools.every(isTool))) {
    yield "json: cannot unmarshal into Go struct field ChatRequest.tools of type api.Tools";
  }
  if (messages === undefined || messages === null) return;
  if (!Array.isArray(messages)) {
    return yield "json: cannot unmarshal into Go struct field ChatRequest.messages of type []api.Message";
  }
  for (const message of messages) yield* messageErrors(message);
}

function* optionErrors(options: JsonValue | undefined): Generator<string> {
  if (options === undefined || options === null) return;
  if (!isObject(options)) {
    return yield "json: cannot unmarshal into Go struct field ChatRequest.options of type map";
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === null) continue;
    if (INTEGER_OPTIONS.includes(name) && !Number.isInteger(value)) {
      yield `option "${name}" must be of type integer`;
    }
    if (NUMBER_OPTIONS.includes(name) && typeof value !== "number") {
      yield `option "${name}" must be of type float32`;
    }
  }
  const { stop } = options;
  if (stop === undefined || stop === null) return;
  if (!Array.isArray(stop)) return yield 'option "stop" must be of type array';
  if (stop.some((item) => typeof item !== "string")) {
    yield 'option "stop" must be of an array of strings';
  }
}

function isTool(tool: JsonValue): boolean {
  return isObject(tool) && isObject(tool.function) && typeof tool.function.name === "string" &&
    (tool.function.parameters === undefined || isObject(tool.function.parameters));
}

function* messageErrors(message: JsonValue): Generator<string> {
  if (!isObject(message)) return yield "json: cannot unmarshal into api.Message";
  for (const key of ["role", "content", "thinking", "tool_name", "tool_call_id"]) {
    const value = message[key];
    if (value === undefined || value === null || typeof value === "string") continue;
    const kind = Array.isArray(value) ? "array" : typeof value;
    yield `json: cannot unmarshal ${kind} into Go struct field .messages.${key} of type string`;
  }
  if (message.role === undefined) yield "invalid role";
  yield* imageErrors(message.images);
  yield* toolCallErrors(message.tool_calls);
}

function* imageErrors(images: JsonValue | undefined): Generator<string> {
  if (images === undefined || images === null) return;
  if (!Array.isArray(images)) return yield "json: cannot unmarshal into .messages.images";
  for (const image of images) {
    if (typeof image !== "string" || !BASE64.test(image)) {
      yield "illegal base64 data at input byte 4";
    }
  }
}

function* toolCallErrors(calls: JsonValue | undefined): Generator<string> {
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) return yield "json: cannot unmarshal into .messages.tool_calls";
  for (const call of calls) {
    const called = isObject(call) ? call.function : undefined;
    if (!isObject(called) || typeof called.name !== "string") {
      return yield "json: cannot unmarshal into .tool_calls.function";
    }
    if (!isObject(called.arguments)) {
      yield "json: cannot unmarshal string into .tool_calls.function.arguments of type map";
    }
  }
}
