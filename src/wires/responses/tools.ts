import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  findFunction,
  mapObjects,
  mapTools,
  parseFunction,
  refuseBothChoices,
  refuseBothTools,
} from "../chat_request/chat_tools.ts";
import { isEmpty } from "../chat_request/refusals.ts";
import { functionChoice, toolChoice } from "./choice.ts";
import type { SectionInput } from "./controls.ts";
import { customTool } from "./custom_tool.ts";
import { FIELDS } from "./fields.ts";
import { webSearchTools } from "./web_search.ts";

/**
 * Returns `tools`, `tool_choice` and `parallel_tool_calls`, from the request's tools or its legacy
 * functions.
 */
export function tools(asked: SectionInput): Result<JsonObject> {
  const { body } = asked;
  const { functions, function_call, tool_choice } = body;
  const both = refuseBothTools(body) ?? refuseBothChoices(body);
  if (both !== null) return both;
  const isLegacy = !isEmpty(functions);
  const made = isLegacy
    ? mapObjects(functions, "functions", functionTool)
    : mapTools(body.tools, asked, encodeTool);
  if (!made.ok) return made;
  const hosted = webSearchTools(asked);
  if (!hosted.ok) return hosted;
  const choice = (function_call ?? null) === null
    ? toolChoice(tool_choice)
    : functionChoice(function_call);
  if (!choice.ok) return choice;
  const all = [...made.value, ...hosted.value];
  // A legacy response can hold only one call.
  const parallel = isLegacy ? false : body.parallel_tool_calls ?? null;
  return success({
    ...all.length > 0 && { tools: all },
    ...choice.value !== null && { tool_choice: choice.value },
    ...parallel !== null && { parallel_tool_calls: parallel },
  });
}

function encodeTool(item: JsonObject, path: string): Result<JsonObject> {
  if (item.type === "custom") return customTool(item, path);
  const called = findFunction(item, path, FIELDS.members("tools[function]"));
  return called.ok ? functionTool(called.value, `${path}.function`) : called;
}

function functionTool(item: JsonObject, path: string): Result<JsonObject> {
  const named = parseFunction(item, path);
  if (!named.ok) return named;
  const { name, description, parameters, strict } = named.value;
  return success({
    type: "function",
    name,
    ...description !== null && { description },
    // Chat allows both fields to be absent, which means no parameters and not strict.
    parameters: parameters ?? { type: "object", properties: {} },
    strict,
  });
}
