import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import { choiceProblem } from "../../prompt/choice_problem.ts";
import type { FunctionTool, Prompt, Tool } from "../../prompt/prompt.ts";
import { isEmpty } from "../../prompt/refusals.ts";
import type { SectionInput } from "./controls.ts";
import { toolsOfHistory } from "./tool_history.ts";

/** Valid tool names (Messages API, tools). */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * Root keywords that the Messages API refuses in a schema. One invalid tool fails the whole
 * request.
 */
const FOREIGN_ROOT: readonly string[] = ["oneOf", "anyOf", "allOf", "$ref"];

/** Returns `tools` and `tool_choice`; without tools, from the calls of the conversation. */
export function tools({ prompt, carrier }: SectionInput): Result<JsonObject> {
  const made: JsonObject[] = [];
  for (const one of prompt.tools) {
    const tool = encodeTool(one, carrier);
    if (!tool.ok) return tool;
    made.push(tool.value);
  }
  const { choice, thinking, messages } = prompt;
  const encoded = choiceProblem(prompt, carrier) ?? encodeChoice(prompt, carrier);
  if (!encoded.ok) return encoded;
  if (made.length === 0) return success(toolsOfHistory(messages, TOOL_NAME));
  const isForced = choice.kind === "required" || choice.kind === "named";
  if (isForced && thinking !== null && thinking.kind !== "disabled") {
    return carrier.refuse(
      { path: choice.at.path },
      "A forced call and thinking exclude each other.",
    );
  }
  return success({ tools: made, ...encoded.value !== null && { tool_choice: encoded.value } });
}

function encodeTool(tool: Tool, carrier: Carrier): Result<JsonObject> {
  // They are functions here (`bridgeCustomTools`).
  if (tool.kind === "custom") return carrier.refuse(tool.at);
  const { name, description, strict, cache } = tool;
  if (!TOOL_NAME.test(name.value)) {
    return carrier.refuse(name.at, "Use at most 128 letters, digits, '_' and '-'.");
  }
  const schema = encodeSchema(tool, carrier);
  if (!schema.ok) return schema;
  if (cache?.ok === false) return cache;
  return success({
    name: name.value,
    ...description !== null && { description },
    input_schema: schema.value,
    ...strict?.value === true && { strict: true },
    ...cache !== null && { cache_control: cache.value.value },
  });
}

function encodeSchema(
  { parameters: { value, at } }: FunctionTool,
  carrier: Carrier,
): Result<JsonObject> {
  if (value === null || isEmpty(value)) return success({ type: "object", properties: {} });
  if (FOREIGN_ROOT.some((key) => Object.hasOwn(value, key))) {
    return carrier.refuse(at, "Its root must be a plain object schema.");
  }
  if (value.type === "object") return success(value);
  return value.type === undefined && isObject(value.properties)
    ? success({ type: "object", ...value })
    : carrier.refuse(at, "Its root must be of type object.");
}

/** Returns `tool_choice`, which names known tools only; null if the request sets none. */
function encodeChoice(
  { choice, parallelCalls, hasLegacyTools }: Prompt,
  carrier: Carrier,
): Result<JsonObject | null> {
  // A legacy response can hold only one call.
  const isSingle = parallelCalls?.value === false || hasLegacyTools;
  const single = isSingle ? { disable_parallel_tool_use: true } : {};
  switch (choice.kind) {
    case "unset":
      return success(isSingle ? { type: "auto", ...single } : null);
    case "auto":
      return success({ type: "auto", ...single });
    case "none":
      // The upstream refuses the flag together with "none".
      return success({ type: "none" });
    case "required":
      return success({ type: "any", ...single });
    case "named":
      return success({ type: "tool", name: choice.tool.name, ...single });
    case "allowed":
      return carrier.refuse(choice.at);
  }
}
