import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Failed, type Result, success } from "../../core/result.ts";
import type { Members } from "../../prompt/field_table.ts";
import { COMMON } from "./common_rows.ts";
import type { Losses } from "./losses.ts";
import {
  contradiction,
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "./refusals.ts";

/** A function that the request declares as a tool. */
export interface NamedFunction {
  readonly name: string;
  readonly description: string | null;
  /** JSON schema of the arguments; null if the function has no parameters. */
  readonly parameters: JsonObject | null;
  readonly strict: boolean;
}

/** Returns a refusal if the request sets both `tools` and legacy `functions`; otherwise null. */
export function refuseBothTools({ tools, functions }: JsonObject): Failed<Refusal> | null {
  return isEmpty(tools) || isEmpty(functions)
    ? null
    : contradiction("functions", "Send either 'tools' or 'functions', not both.");
}

/** Returns a refusal if the request sets both `tool_choice` and legacy `function_call`; otherwise null. */
export function refuseBothChoices(
  { tool_choice, function_call }: JsonObject,
): Failed<Refusal> | null {
  return (tool_choice ?? null) === null || (function_call ?? null) === null
    ? null
    : contradiction("function_call", "Send either 'tool_choice' or 'function_call', not both.");
}

/** Returns the result of `make` for each object of a list field. A null or absent field is an empty list. */
export function mapObjects<Made>(
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

/** Hosted tools to leave out of a request, which is recorded as a loss. */
export interface OmittedTools {
  /** Types of the tools. */
  readonly omitTools: readonly string[];
  readonly losses: Losses;
}

/** Returns the result of `make` for each tool of a request that is not left out, like `mapObjects`. */
export function mapTools<Made>(
  given: Optional,
  { omitTools, losses }: OmittedTools,
  make: (tool: JsonObject, path: string) => Result<Made>,
): Result<readonly Made[]> {
  const made = mapObjects<Made | null>(given, "tools", (tool, path) => {
    if (!omitTools.some((type) => type === tool.type)) return make(tool, path);
    losses.add(path);
    return success(null);
  });
  return made.ok ? success(made.value.filter((tool) => tool !== null)) : made;
}

/** Returns the `function` object of a tool. `known` are the members that the tool may have. */
export function findFunction(
  tool: JsonObject,
  path: string,
  known: Members,
): Result<JsonObject> {
  if (tool.type !== "function") return unsupported(`${path}.type`);
  const unknown = unknownMember(tool, known, path);
  if (unknown !== null) return unknown;
  return isObject(tool.function)
    ? success(tool.function)
    : wrongType(`${path}.function`, "an object");
}

const FUNCTION = COMMON.members("tools[function].function");

/** Returns a function declaration with validated fields. A Refusal names the first wrong field. */
export function parseFunction(item: JsonObject, path: string): Result<NamedFunction> {
  const unknown = unknownMember(item, FUNCTION, path);
  if (unknown !== null) return unknown;
  const named = parseNamedTool(item, path);
  if (!named.ok) return named;
  const parameters = item.parameters ?? null;
  const strict = item.strict ?? false;
  if (typeof strict !== "boolean") return wrongType(`${path}.strict`, "true or false");
  if (parameters !== null && !isObject(parameters)) {
    return wrongType(`${path}.parameters`, "an object");
  }
  return success({ ...named.value, parameters, strict });
}

/** Returns the name and description of a tool of any type. */
export function parseNamedTool(
  { name, description = null }: JsonObject,
  path: string,
): Result<Pick<NamedFunction, "name" | "description">> {
  if ((name ?? null) === null) return missing(`${path}.name`);
  if (typeof name !== "string") return wrongType(`${path}.name`, "a string");
  return description === null || typeof description === "string"
    ? success({ name, description })
    : wrongType(`${path}.description`, "a string");
}
