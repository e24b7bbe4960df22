import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Failed, type Result, success } from "../../core/result.ts";
import {
  contradiction,
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "./refusals.ts";

/** What a function says of itself. */
export interface NamedFunction {
  readonly name: string;
  readonly description: string | null;
  /** Null where there are none. */
  readonly parameters: JsonObject | null;
  readonly strict: boolean;
}

/** The refusal of tools beside functions, which are their older name; null where there is one of them. */
export function bothTools({ tools, functions }: JsonObject): Failed<Refusal> | null {
  return isEmpty(tools) || isEmpty(functions)
    ? null
    : contradiction("functions", "Send either 'tools' or 'functions', not both.");
}

/** The refusal of a choice under both of its names; null where there is one of them. */
export function bothChoices({ tool_choice, function_call }: JsonObject): Failed<Refusal> | null {
  return (tool_choice ?? null) === null || (function_call ?? null) === null
    ? null
    : contradiction("function_call", "Send either 'tool_choice' or 'function_call', not both.");
}

/** What is made of each object of a list; null and absent are an empty one. */
export function eachOf<Made>(
  given: Optional,
  path: string,
  make: (item: JsonObject, path: string) => Result<Made>,
): Result<readonly Made[]> {
  const list = given ?? [];
  if (!Array.isArray(list)) return wrongType(path, "an array");
  const made: Made[] = [];
  for (const [index, item] of list.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(item)) return wrongType(at, "an object");
    const one = make(item, at);
    if (!one.ok) return one;
    made.push(one.value);
  }
  return success(made);
}

/** The function within a tool; `others` are the members that the tool may have beside it. */
export function functionWithin(
  tool: JsonObject,
  path: string,
  others: readonly string[] = [],
): Result<JsonObject> {
  if (tool.type !== "function") return unsupported(`${path}.type`);
  const unknown = unknownMember(tool, ["type", "function", ...others], path);
  if (unknown !== null) return unknown;
  return isObject(tool.function)
    ? success(tool.function)
    : wrongType(`${path}.function`, "an object");
}

/** A function with all its members checked; a Refusal names the first that is wrong. */
export function namedFunction(item: JsonObject, path: string): Result<NamedFunction> {
  const unknown = unknownMember(item, ["name", "description", "parameters", "strict"], path);
  if (unknown !== null) return unknown;
  const named = namedTool(item, path);
  if (!named.ok) return named;
  const parameters = item.parameters ?? null;
  const strict = item.strict ?? false;
  if (typeof strict !== "boolean") return wrongType(`${path}.strict`, "true or false");
  if (parameters !== null && !isObject(parameters)) {
    return wrongType(`${path}.parameters`, "an object");
  }
  return success({ ...named.value, parameters, strict });
}

/** Name and description of a tool of any kind. */
export function namedTool(
  { name, description = null }: JsonObject,
  path: string,
): Result<Pick<NamedFunction, "name" | "description">> {
  if ((name ?? null) === null) return missing(`${path}.name`);
  if (typeof name !== "string") return wrongType(`${path}.name`, "a string");
  return description === null || typeof description === "string"
    ? success({ name, description })
    : wrongType(`${path}.description`, "a string");
}
