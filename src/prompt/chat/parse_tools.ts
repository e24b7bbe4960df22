import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { CustomTool, FieldRef, FunctionTool, Tool } from "../prompt.ts";
import { allIn, flagOf, mapObjects, requiredText, textOf } from "../read.ts";
import {
  contradiction,
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
} from "../refusals.ts";
import { parseCache } from "./parse_content.ts";

/** Tools of a request, from `tools` or legacy `functions`. */
export interface GivenTools {
  readonly tools: readonly Tool[];
  readonly hasLegacyTools: boolean;
}

/**
 * Returns the tools of a Chat request without those that the route leaves out; no tools, and none
 * of them checked, if it `isToolless`.
 */
export function parseTools(
  tools: JsonValue,
  functions: JsonValue,
  isToolless: boolean,
  carrier: Carrier,
): Result<GivenTools> {
  const hasLegacyTools = !isEmpty(functions);
  if (hasLegacyTools && !isEmpty(tools)) {
    return contradiction("functions", "Send either 'tools' or 'functions', not both.");
  }
  if (isToolless) return success({ tools: [], hasLegacyTools });
  const read = hasLegacyTools
    ? mapObjects(
      functions,
      "functions",
      (item, path) => parseFunction(item, { field: "functions", path }, path, null, carrier),
    )
    : mapObjects<Tool | null>(tools, "tools", (tool, path) => {
      if (!carrier.omits(tool.type)) return parseTool(tool, path, carrier);
      carrier.lose(path);
      return success(null);
    });
  if (!read.ok) return read;
  return success({ tools: read.value.filter((tool) => tool !== null), hasLegacyTools });
}

function parseTool(tool: JsonObject, path: string, carrier: Carrier): Result<Tool> {
  const { type } = tool;
  if (type !== "function" && type !== "custom") return unsupported(`${path}.type`);
  const field = `tools[${type}]` as const;
  const at: FieldRef = { field, path, refusedPath: `${path}.type` };
  const refused = carrier.use(at) ?? carrier.unknown(tool, field, path);
  if (refused !== null) return refused;
  const inside = `${path}.${type}`;
  const given = tool[type];
  if (!isObject(given)) return wrongType(inside, "an object");
  return type === "custom"
    ? parseCustom(given, at, inside, carrier)
    : parseFunction(given, at, inside, parseCache(tool, path, carrier), carrier);
}

/** Returns a function, whose members are at a path below the tool. */
function parseFunction(
  item: JsonObject,
  at: FieldRef,
  path: string,
  cache: FunctionTool["cache"],
  carrier: Carrier,
): Result<FunctionTool> {
  const rows = at.field === "functions" ? "functions[]" : "tools[function].function";
  const unknown = carrier.unknown(item, "tools[function].function", path);
  if (unknown !== null) return unknown;
  const strictAt: FieldRef = { field: `${rows}.strict`, path: `${path}.strict` };
  const read = allIn({
    ...named(item, { field: `${rows}.name`, path }),
    parameters: isObject(item.parameters ?? {})
      ? success(isObject(item.parameters) ? item.parameters : null)
      : wrongType(`${path}.parameters`, "an object"),
    strict: flagOf(item.strict, strictAt),
  });
  if (!read.ok) return read;
  const { parameters, strict } = read.value;
  const parametersAt: FieldRef = { field: `${rows}.parameters`, path: `${path}.parameters` };
  const refused = (parameters === null ? null : carrier.use(parametersAt)) ??
    (strict?.value === true ? carrier.use(strictAt) : null);
  return refused ?? success({
    kind: "function",
    at,
    cache,
    ...read.value,
    parameters: { value: parameters, at: parametersAt },
  });
}

/** Returns the members that each tool has. */
function named({ name, description }: JsonObject, { field, path }: FieldRef) {
  const text = textOf(description, { field, path: `${path}.description` });
  return {
    name: requiredText(name, { field, path: `${path}.name` }),
    description: text.ok ? success(text.value?.value ?? null) : text,
  };
}

function parseCustom(
  custom: JsonObject,
  at: FieldRef,
  path: string,
  carrier: Carrier,
): Result<CustomTool> {
  const unknown = carrier.unknown(custom, "tools[custom].custom", path);
  if (unknown !== null) return unknown;
  const read = allIn({
    ...named(custom, { field: "tools[custom].custom.name", path }),
    format: parseFormat(custom.format, `${path}.format`, carrier),
  });
  return read.ok ? success({ kind: "custom", at, ...read.value }) : read;
}

function parseFormat(
  format: Optional,
  path: string,
  carrier: Carrier,
): Result<CustomTool["format"]> {
  if ((format ?? null) === null) return success(null);
  if (!isObject(format)) return wrongType(path, "an object");
  const { type, grammar } = format;
  if (type !== "text" && type !== "grammar") return unsupported(`${path}.type`);
  const unknown = carrier.unknown(format, `tools[custom].custom.format[${type}]`, path);
  if (unknown !== null) return unknown;
  if (type === "text") return success({ kind: "text" });
  const at = `${path}.grammar`;
  if (!isObject(grammar)) return wrongType(at, "an object");
  const other = carrier.unknown(grammar, "tools[custom].custom.format[grammar].grammar", at);
  if (other !== null) return other;
  const { definition, syntax } = grammar;
  if (typeof definition !== "string") return missing(`${at}.definition`);
  if (typeof syntax !== "string") return missing(`${at}.syntax`);
  return success(grammarFormat(path, { definition, syntax, definitionPath: `${at}.definition` }));
}

/** Returns the format of a custom tool at a path. */
export function grammarFormat(
  path: string,
  { definition, syntax, definitionPath }: Readonly<
    Record<"definition" | "syntax" | "definitionPath", string>
  >,
): CustomTool["format"] {
  const field = "tools[custom].custom.format[grammar].grammar.definition";
  return {
    kind: "grammar",
    at: { field, path },
    definition: { value: definition, at: { field, path: definitionPath } },
    syntax,
  };
}
