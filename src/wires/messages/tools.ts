import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  findFunction,
  mapObjects,
  mapTools,
  parseFunction,
  refuseBothChoices,
  refuseBothTools,
} from "../chat_request/chat_tools.ts";
import { cacheControl } from "./content.ts";
import { FIELDS } from "./fields.ts";
import type { SectionInput } from "./controls.ts";
import { toolsOfHistory } from "./tool_history.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";

/** Valid tool names (Messages API, tools). */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** Root keywords that the Messages API refuses in a schema. One invalid tool fails the whole request. */
const FOREIGN_ROOT: readonly string[] = ["oneOf", "anyOf", "allOf", "$ref"];

const CALLED = FIELDS.members("tool_choice[function].function");

/**
 * Returns `tools` and `tool_choice`, from the request's tools or its legacy functions; without
 * either, from the calls of the conversation.
 */
export function tools(input: SectionInput): Result<JsonObject> {
  const { body } = input;
  const { functions, function_call, tool_choice } = body;
  const both = refuseBothTools(body) ?? refuseBothChoices(body);
  if (both !== null) return both;
  const source = isEmpty(functions) ? "tools" : "functions";
  const made = source === "tools"
    ? mapTools(body.tools, input, encodeTool)
    : mapObjects(functions, source, encodeFunction);
  if (!made.ok) return made;
  const names = made.value.map(({ name }) => name);
  // A legacy response can hold only one call.
  const isSingle = body.parallel_tool_calls === false || source === "functions";
  const choice = (function_call ?? null) === null
    ? encodeChoice(tool_choice, "tool_choice", names, isSingle)
    : encodeChoice(asToolChoice(function_call), "function_call", names, isSingle);
  if (!choice.ok) return choice;
  if (names.length === 0) return success(toolsOfHistory(body.messages, TOOL_NAME));
  const kind = choice.value.type;
  if ((kind === "any" || kind === "tool") && isThinking(body.thinking)) {
    return unsupported("tool_choice", "A forced call and thinking exclude each other.");
  }
  return success({
    tools: [...made.value],
    ...kind !== undefined && { tool_choice: choice.value },
  });
}

/** Returns the choice of a legacy function in the form of a tool choice. */
function asToolChoice(given: Optional): Optional {
  return isObject(given) ? { type: "function", function: given } : given;
}

function isThinking(given: Optional): boolean {
  return isObject(given) && given.type !== "disabled";
}

function encodeTool(item: JsonObject, path: string): Result<JsonObject> {
  const called = findFunction(item, path, FIELDS.members("tools[function]"));
  if (!called.ok) return called;
  const tool = encodeFunction(called.value, `${path}.function`);
  if (!tool.ok) return tool;
  const control = cacheControl(item, path);
  return control.ok ? success({ ...tool.value, ...control.value }) : control;
}

function encodeFunction(item: JsonObject, path: string): Result<JsonObject> {
  const named = parseFunction(item, path);
  if (!named.ok) return named;
  const { name, description, parameters, strict } = named.value;
  if (!TOOL_NAME.test(name)) {
    return unsupported(`${path}.name`, "Use at most 128 letters, digits, '_' and '-'.");
  }
  const schema = encodeSchema(parameters ?? {}, `${path}.parameters`);
  if (!schema.ok) return schema;
  return success({
    name,
    ...description !== null && { description },
    input_schema: schema.value,
    ...strict && { strict },
  });
}

function encodeSchema(given: JsonObject, path: string): Result<JsonObject> {
  if (isEmpty(given)) return success({ type: "object", properties: {} });
  if (FOREIGN_ROOT.some((key) => Object.hasOwn(given, key))) {
    return unsupported(path, "Its root must be a plain object schema.");
  }
  if (given.type === "object") return success(given);
  return given.type === undefined && isObject(given.properties)
    ? success({ type: "object", ...given })
    : unsupported(path, "Its root must be of type object.");
}

/** Returns `tool_choice`. An object without a type requests nothing. */
function encodeChoice(
  given: Optional,
  path: string,
  names: readonly Optional[],
  isSingle: boolean,
): Result<JsonObject> {
  const single = isSingle ? { disable_parallel_tool_use: true } : {};
  const choice = given ?? (isSingle ? "auto" : null);
  if (choice === null) return success({});
  if (choice === "auto") return success({ type: "auto", ...single });
  // The upstream refuses the flag together with "none".
  if (choice === "none") return success({ type: "none" });
  if (typeof choice === "string" && choice !== "required") {
    return wrongValue(path, "'auto', 'none', 'required' or an object");
  }
  if (choice !== "required" && !isObject(choice)) return wrongType(path, "a string or an object");
  if (isObject(choice)) {
    if (choice.type !== "function") return unsupported(`${path}.type`);
    const unknown = unknownMember(choice, FIELDS.members("tool_choice[function]"), path);
    if (unknown !== null) return unknown;
  }
  if (names.length === 0) return wrongValue(path, "'auto' or 'none' when there are no tools");
  if (choice === "required") return success({ type: "any", ...single });
  return namedChoice(choice, path, names, single);
}

function namedChoice(
  choice: JsonObject,
  path: string,
  names: readonly Optional[],
  single: JsonObject,
): Result<JsonObject> {
  const namePath = path === "function_call" ? `${path}.name` : `${path}.function.name`;
  const called = isObject(choice.function) ? choice.function : {};
  const unknown = unknownMember(called, CALLED, namePath.replace(/\.name$/, ""));
  if (unknown !== null) return unknown;
  const name = called.name ?? null;
  if (name === null) return missing(namePath);
  if (!names.includes(name)) return wrongValue(namePath, "the name of one of the tools");
  return success({ type: "tool", name, ...single });
}
