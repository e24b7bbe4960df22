import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
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
} from "../field_checks.ts";
import { type ApiError, newApiError } from "../protocol.ts";

const REASONING_EFFORTS = "none minimal low medium high xhigh max";
/** True for a value that `include` may hold (Responses API, `include`). */
const isIncludable = oneOf(
  "file_search_call.results web_search_call.results web_search_call.action.sources " +
    "message.input_image.image_url computer_call_output.output.image_url " +
    "code_interpreter_call.outputs reasoning.encrypted_content message.output_text.logprobs",
);

// Responses API, create: type and range of each field; `null` where the API document allows it.
const FIELD_RULES: readonly FieldRule[] = [
  { name: "model", expected: "a string", isValid: isText },
  {
    name: "input",
    expected: "a string or an array of items",
    isValid: (value) => isText(value) || Array.isArray(value),
  },
  { name: "instructions", expected: "a string or null", isValid: orNull(isText) },
  { name: "stream", expected: "a boolean or null", isValid: orNull(isFlag) },
  { name: "store", expected: "a boolean or null", isValid: orNull(isFlag) },
  { name: "background", expected: "a boolean or null", isValid: orNull(isFlag) },
  { name: "previous_response_id", expected: "a string or null", isValid: orNull(isText) },
  {
    name: "conversation",
    expected: "a string, an object with an id or null",
    isValid: orNull(isConversation),
  },
  { name: "metadata", expected: "an object of strings or null", isValid: orNull(isMetadata) },
  { name: "temperature", expected: "a number from 0 to 2 or null", isValid: orNull(between(0, 2)) },
  { name: "top_p", expected: "a number from 0 to 1 or null", isValid: orNull(between(0, 1)) },
  {
    name: "max_output_tokens",
    expected: "an integer of at least 16 or null",
    isValid: orNull(integerBetween(16, Infinity)),
  },
  {
    name: "max_tool_calls",
    expected: "an integer or null",
    isValid: orNull(integerBetween(-Infinity, Infinity)),
  },
  {
    name: "top_logprobs",
    expected: "an integer from 0 to 20 or null",
    isValid: orNull(integerBetween(0, 20)),
  },
  { name: "parallel_tool_calls", expected: "a boolean or null", isValid: orNull(isFlag) },
  {
    name: "truncation",
    expected: "auto, disabled or null",
    isValid: orNull(oneOf("auto disabled")),
  },
  {
    name: "include",
    expected: "an array of what can be included, or null",
    isValid: orNull(isInclude),
  },
  { name: "text", expected: "an object with a known format", isValid: isTextOptions },
  {
    name: "reasoning",
    expected: "an object with a known effort, or null",
    isValid: orNull(isReasoning),
  },
  {
    name: "tools",
    expected: "an array of tools",
    isValid: (value) => Array.isArray(value) && value.every(isTool),
  },
  { name: "tool_choice", expected: "a tool choice", isValid: isChoice },
];

/**
 * Yields the errors in the fields of a create, compact or count request (Responses API, create).
 */
export function* responsesFieldErrors(body: JsonObject): Generator<ApiError> {
  yield* fieldRuleErrors(body, FIELD_RULES);
  if (body.previous_response_id != null && body.conversation != null) {
    yield newApiError(
      "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
      { param: "previous_response_id", code: "mutually_exclusive_parameters" },
    );
  }
}

/** Yields the errors that only a create request can have (Responses API, create). */
export function* createErrors(body: JsonObject): Generator<ApiError> {
  if (body.model === undefined) yield missingParameter("model");
  const { input, prompt, previous_response_id: previous, conversation } = body;
  if (input === undefined && prompt == null && previous == null && conversation == null) {
    yield missingParameter("input");
  }
  if (body.background === true && body.store === false) {
    yield invalidValue("background", "background needs store to be true.");
  }
}

/** True if every value of an array may be included in a response. */
export function isInclude(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isIncludable);
}

function isConversation(value: JsonValue): boolean {
  return typeof value === "string" || isObject(value) && typeof value.id === "string";
}

function isReasoning(value: JsonValue): boolean {
  return isObject(value) && orNull(oneOf(REASONING_EFFORTS))(value.effort ?? null) &&
    orNull(oneOf("auto concise detailed"))(value.summary ?? null);
}

function isTextOptions(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { format } = value;
  if (format === undefined) return true;
  if (!isObject(format)) return false;
  return format.type === "json_schema"
    ? typeof format.name === "string" && isObject(format.schema)
    : oneOf("text json_object")(format.type ?? null);
}

function isTool(tool: JsonValue): boolean {
  if (!isObject(tool) || typeof tool.type !== "string") return false;
  if (tool.type !== "function") return true;
  return typeof tool.name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(tool.name) &&
    orNull(isObject)(tool.parameters ?? null);
}

function isChoice(choice: JsonValue): boolean {
  if (!isObject(choice)) return oneOf("none auto required")(choice);
  if (choice.type === "function") return typeof choice.name === "string";
  if (choice.type === "allowed_tools") return Array.isArray(choice.tools);
  return typeof choice.type === "string";
}
