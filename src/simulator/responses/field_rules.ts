import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
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
/** What an answer can be asked to include (Responses API, `include`). */
const isIncludable = oneOf(
  "file_search_call.results web_search_call.results web_search_call.action.sources " +
    "message.input_image.image_url computer_call_output.output.image_url " +
    "code_interpreter_call.outputs reasoning.encrypted_content message.output_text.logprobs",
);

// Responses API, create: type and range of each field; `null` where the document allows it.
const FIELD_RULES: readonly FieldRule[] = [
  ["model", "a string", isText],
  ["input", "a string or an array of items", (value) => isText(value) || Array.isArray(value)],
  ["instructions", "a string or null", orNull(isText)],
  ["stream", "a boolean or null", orNull(isFlag)],
  ["store", "a boolean or null", orNull(isFlag)],
  ["background", "a boolean or null", orNull(isFlag)],
  ["previous_response_id", "a string or null", orNull(isText)],
  ["conversation", "a string, an object with an id or null", orNull(isConversation)],
  ["metadata", "an object of strings or null", orNull(isMetadata)],
  ["temperature", "a number from 0 to 2 or null", orNull(between(0, 2))],
  ["top_p", "a number from 0 to 1 or null", orNull(between(0, 1))],
  ["max_output_tokens", "an integer of at least 16 or null", orNull(integerBetween(16, Infinity))],
  ["max_tool_calls", "an integer or null", orNull(integerBetween(-Infinity, Infinity))],
  ["top_logprobs", "an integer from 0 to 20 or null", orNull(integerBetween(0, 20))],
  ["parallel_tool_calls", "a boolean or null", orNull(isFlag)],
  ["truncation", "auto, disabled or null", orNull(oneOf("auto disabled"))],
  ["include", "an array of what can be included, or null", orNull(isInclude)],
  ["text", "an object with a known format", isTextOptions],
  ["reasoning", "an object with a known effort, or null", orNull(isReasoning)],
  ["tools", "an array of tools", (value) => Array.isArray(value) && value.every(isTool)],
  ["tool_choice", "a tool choice", isChoice],
];

/** The fields of a create, compact or count that are wrong (Responses API, create). */
export function* responsesFieldErrors(body: JsonObject): Generator<ApiError> {
  yield* fieldRuleErrors(body, FIELD_RULES);
  if (body.previous_response_id != null && body.conversation != null) {
    yield newApiError(
      "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
      { param: "previous_response_id", code: "mutually_exclusive_parameters" },
    );
  }
}

/** What a create needs besides (Responses API, create). */
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

/** Whether every value can be included in an answer. */
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
