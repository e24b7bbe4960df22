import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
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
  orNull,
  rule,
  TEXT,
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
const FIELD_RULES = {
  model: TEXT,
  input: rule("a string or an array of items", (value) => isText(value) || Array.isArray(value)),
  instructions: nullable(TEXT),
  stream: nullable(FLAG),
  store: nullable(FLAG),
  background: nullable(FLAG),
  previous_response_id: nullable(TEXT),
  conversation: nullable(rule("a string, an object with an id", isConversation)),
  metadata: nullable(METADATA),
  temperature: nullable(numberFrom(0, 2)),
  top_p: nullable(numberFrom(0, 1)),
  max_output_tokens: nullable(
    rule("an integer of at least 16", (value) => Number.isInteger(value) && Number(value) >= 16),
  ),
  max_tool_calls: nullable(INTEGER),
  top_logprobs: nullable(integerFrom(0, 20)),
  parallel_tool_calls: nullable(FLAG),
  truncation: nullable(rule("auto, disabled", oneOf("auto disabled"))),
  include: rule("an array of what can be included, or null", orNull(isInclude)),
  text: rule("an object with a known format", isTextOptions),
  reasoning: rule("an object with a known effort, or null", orNull(isReasoning)),
  tools: rule("an array of tools", (value) => Array.isArray(value) && value.every(isTool)),
  tool_choice: rule("a tool choice", isChoice),
};

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
