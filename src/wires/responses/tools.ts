import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  contradiction,
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../fields.ts";
import type { Asked } from "./controls.ts";

/** `tools`, `tool_choice` and `parallel_tool_calls`, from the tools of Chat or its older functions. */
export function tools({ body }: Asked): Result<JsonObject> {
  const { functions, function_call, tool_choice } = body;
  const isLegacy = !isEmpty(functions);
  if (!isEmpty(body.tools) && isLegacy) {
    return contradiction("functions", "Send either 'tools' or 'functions', not both.");
  }
  if ((tool_choice ?? null) !== null && (function_call ?? null) !== null) {
    return contradiction(
      "function_call",
      "Send either 'tool_choice' or 'function_call', not both.",
    );
  }
  const made = isLegacy
    ? eachOf(functions, "functions", functionTool)
    : eachOf(body.tools, "tools", toolOf);
  if (!made.ok) return made;
  const choice = (function_call ?? null) === null
    ? choiceOf(tool_choice, "tool_choice")
    : functionChoice(function_call);
  if (!choice.ok) return choice;
  // An answer with functions has room for one call.
  const parallel = isLegacy ? false : body.parallel_tool_calls ?? null;
  return success({
    ...made.value.length > 0 && { tools: [...made.value] },
    ...choice.value !== null && { tool_choice: choice.value },
    ...parallel !== null && { parallel_tool_calls: parallel },
  });
}

function eachOf(
  given: Optional,
  path: string,
  read: (item: JsonObject, path: string) => Result<JsonObject>,
): Result<readonly JsonObject[]> {
  const list = given ?? [];
  if (!Array.isArray(list)) return wrongType(path, "an array");
  const made: JsonObject[] = [];
  for (const [index, item] of list.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(item)) return wrongType(at, "an object");
    const one = read(item, at);
    if (!one.ok) return one;
    made.push(one.value);
  }
  return success(made);
}

/** Only functions: a call of a custom tool would have no place among Chat's events. */
function toolOf(item: JsonObject, path: string): Result<JsonObject> {
  if (item.type !== "function") return unsupported(`${path}.type`);
  const unknown = unknownMember(item, ["type", "function"], path);
  if (unknown !== null) return unknown;
  if (!isObject(item.function)) return wrongType(`${path}.function`, "an object");
  return functionTool(item.function, `${path}.function`);
}

function functionTool(item: JsonObject, path: string): Result<JsonObject> {
  const unknown = unknownMember(item, ["name", "description", "parameters", "strict"], path);
  if (unknown !== null) return unknown;
  const { name } = item;
  const description = item.description ?? null;
  // Both may be left out in Chat, where that means no parameters and not strict.
  const parameters = item.parameters ?? { type: "object", properties: {} };
  const strict = item.strict ?? false;
  if ((name ?? null) === null) return missing(`${path}.name`);
  if (typeof name !== "string") return wrongType(`${path}.name`, "a string");
  if (description !== null && typeof description !== "string") {
    return wrongType(`${path}.description`, "a string");
  }
  if (!isObject(parameters)) return wrongType(`${path}.parameters`, "an object");
  if (typeof strict !== "boolean") return wrongType(`${path}.strict`, "true or false");
  return success({
    type: "function",
    name,
    ...description !== null && { description },
    parameters,
    strict,
  });
}

const PLAIN: readonly Optional[] = ["none", "auto", "required"];

/** `tool_choice` without its nesting; null when nothing is asked for. */
function choiceOf(choice: Optional, path: string): Result<JsonValue> {
  if ((choice ?? null) === null) return success(null);
  if (typeof choice === "string") {
    return PLAIN.includes(choice)
      ? success(choice)
      : wrongValue(path, "'auto', 'none', 'required' or an object");
  }
  if (!isObject(choice)) return wrongType(path, "a string or an object");
  switch (choice.type) {
    case "function":
      return namedChoice(choice, path);
    case "allowed_tools":
      return allowedChoice(choice, path);
    default:
      return unsupported(`${path}.type`);
  }
}

function namedChoice(choice: JsonObject, path: string): Result<JsonObject> {
  const unknown = unknownMember(choice, ["type", "function"], path);
  if (unknown !== null) return unknown;
  return nameOf(choice.function, `${path}.function`);
}

function nameOf(called: Optional, path: string): Result<JsonObject> {
  if (!isObject(called)) return wrongType(path, "an object");
  const unknown = unknownMember(called, ["name"], path);
  if (unknown !== null) return unknown;
  const { name } = called;
  return typeof name === "string" ? success({ type: "function", name }) : missing(`${path}.name`);
}

function allowedChoice(choice: JsonObject, path: string): Result<JsonObject> {
  const unknown = unknownMember(choice, ["type", "allowed_tools"], path);
  if (unknown !== null) return unknown;
  const inner = choice.allowed_tools;
  const at = `${path}.allowed_tools`;
  if (!isObject(inner)) return wrongType(at, "an object");
  const other = unknownMember(inner, ["mode", "tools"], at);
  if (other !== null) return other;
  const { mode } = inner;
  if (mode !== "auto" && mode !== "required") {
    return wrongValue(`${at}.mode`, "'auto' or 'required'");
  }
  const named = eachOf(
    inner.tools,
    `${at}.tools`,
    (tool, place) =>
      tool.type === "function" ? namedChoice(tool, place) : unsupported(`${place}.type`),
  );
  return named.ok ? success({ type: "allowed_tools", mode, tools: [...named.value] }) : named;
}

function functionChoice(choice: Optional): Result<JsonValue> {
  return isObject(choice) ? nameOf(choice, "function_call") : choiceOf(choice, "function_call");
}
