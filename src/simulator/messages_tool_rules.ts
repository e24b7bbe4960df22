import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { extraInputErrors, oneOf, words } from "./field_checks.ts";

const TOOL_FIELDS = words(
  "name description input_schema type strict cache_control input_examples defer_loading " +
    "eager_input_streaming allowed_callers",
);
const KEYWORDS_REFUSED_AT_ROOT = words("oneOf anyOf allOf $ref");

/** Yields the errors in tools and tool choice (Messages API, tools). */
export function* toolErrors(body: JsonObject): Generator<string> {
  const { tools, tool_choice: choice } = body;
  if (tools !== undefined) {
    if (!Array.isArray(tools)) return yield "tools: Input should be a valid list";
    for (const [at, tool] of tools.entries()) yield* oneToolErrors(tool, `tools.${at}`);
    const names = tools.map((tool) => isObject(tool) ? tool.name : null);
    if (new Set(names).size < names.length) yield "tools: Tool names must be unique.";
  }
  if (choice === undefined) return;
  if (!Array.isArray(tools) || tools.length === 0) {
    yield "tool_choice: may only be specified while providing tools";
  }
  yield* toolChoiceErrors(choice, body);
}

function* oneToolErrors(tool: JsonValue, path: string): Generator<string> {
  if (!isObject(tool)) return yield `${path}: Input should be an object`;
  if (typeof tool.name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) {
    yield `${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  }
  // Hosted tools have a different type and no schema.
  if (tool.type != null && tool.type !== "custom") return;
  yield* extraInputErrors(tool, TOOL_FIELDS, `${path}.`);
  const { input_schema: schema, description } = tool;
  if (description !== undefined && typeof description !== "string") {
    yield `${path}.description: Input should be a valid string`;
  }
  if (!isObject(schema) || schema.type !== "object") {
    return yield `${path}.input_schema.type: Field required, must be 'object'`;
  }
  for (const key of KEYWORDS_REFUSED_AT_ROOT) {
    if (schema[key] !== undefined) {
      yield `${path}.input_schema: does not support ${key} at the top level`;
    }
  }
  if (tool.strict === true) yield* openObjectErrors(schema, `${path}.input_schema`);
}

function* toolChoiceErrors(choice: JsonValue, body: JsonObject): Generator<string> {
  if (!isObject(choice)) return yield "tool_choice: Input should be an object";
  const { type, name, disable_parallel_tool_use: single } = choice;
  if (type !== "auto" && type !== "any" && type !== "tool" && type !== "none") {
    yield "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'";
  }
  if (type === "none" && single !== undefined) {
    yield "tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted";
  }
  const tools = Array.isArray(body.tools) ? body.tools : [];
  if (type === "tool" && !tools.some((tool) => isObject(tool) && tool.name === name)) {
    yield `Tool '${name}' not found in provided tools`;
  }
  if (type !== "tool" && name !== undefined) {
    yield `tool_choice.${type}.name: Extra inputs are not permitted`;
  }
  if ((type === "any" || type === "tool") && enablesThinking(body)) {
    yield "Thinking may not be enabled when tool_choice forces tool use.";
  }
}

/** True if the request enables thinking. */
export function enablesThinking({ thinking }: JsonObject): boolean {
  return isObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive");
}

const isEffort = oneOf("low medium high xhigh max");
const KEYWORDS_REFUSED_IN_FORMAT = words(
  "oneOf minimum maximum multipleOf minLength maxLength maxItems",
);

/** Yields the errors in effort and output format (Messages API, structured outputs). */
export function* outputConfigErrors(
  config: JsonValue | undefined,
  beta: boolean,
): Generator<string> {
  if (config === undefined) return;
  if (!isObject(config)) return yield "output_config: Input should be an object";
  const known = ["effort", "format", ...beta ? ["task_budget"] : []];
  yield* extraInputErrors(config, known, "output_config.");
  const { effort, format } = config;
  if (effort !== undefined && !isEffort(effort)) {
    yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
  }
  if (format === undefined || format === null) return;
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) {
    return yield "output_config.format: Input should be {type: 'json_schema', schema}";
  }
  yield* extraInputErrors(format, ["type", "schema"], "output_config.format.");
  yield* openObjectErrors(format.schema, "output_config.format.schema");
  for (const schema of nestedSchemas(format.schema)) {
    for (const key of KEYWORDS_REFUSED_IN_FORMAT) {
      if (schema[key] !== undefined) yield `output_config.format.schema: '${key}' is not supported`;
    }
  }
}

function* openObjectErrors(root: JsonObject, path: string): Generator<string> {
  for (const schema of nestedSchemas(root)) {
    if (schema.type === "object" && schema.additionalProperties !== false) {
      yield `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
    }
  }
}

/** Yields a schema and all schemas nested in it. */
function* nestedSchemas(schema: JsonValue | undefined): Generator<JsonObject> {
  if (!isObject(schema)) return;
  yield schema;
  for (const key of ["properties", "$defs", "definitions"]) {
    const inside = schema[key];
    if (isObject(inside)) { for (const item of Object.values(inside)) yield* nestedSchemas(item); }
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const inside = schema[key];
    if (Array.isArray(inside)) { for (const item of inside) yield* nestedSchemas(item); }
  }
  yield* nestedSchemas(schema.items);
}
