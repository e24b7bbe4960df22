import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { notCarried } from "../../prompt/carry.ts";
import type { Choice, FunctionTool, Prompt, Tool } from "../../prompt/prompt.ts";
import { isEmpty, wrongValue } from "../../prompt/refusals.ts";
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
export function tools({ prompt }: SectionInput): Result<JsonObject> {
  const made: JsonObject[] = [];
  for (const one of prompt.tools) {
    const tool = encodeTool(one);
    if (!tool.ok) return tool;
    made.push(tool.value);
  }
  const { choice, thinking, messages } = prompt;
  const encoded = encodeChoice(prompt);
  if (!encoded.ok) return encoded;
  if (made.length === 0) return success(toolsOfHistory(messages, TOOL_NAME));
  const isForced = choice.kind === "required" || choice.kind === "named";
  if (isForced && thinking !== null && thinking.kind !== "disabled") {
    return notCarried({ path: choice.at.path }, "A forced call and thinking exclude each other.");
  }
  return success({ tools: made, ...encoded.value !== null && { tool_choice: encoded.value } });
}

function encodeTool(tool: Tool): Result<JsonObject> {
  // They are functions here (`bridgeCustomTools`).
  if (tool.kind === "custom") return notCarried(tool.at);
  const { name, description, strict, cache } = tool;
  if (!TOOL_NAME.test(name.value)) {
    return notCarried(name.at, "Use at most 128 letters, digits, '_' and '-'.");
  }
  const schema = encodeSchema(tool);
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

function encodeSchema({ parameters: { value, at } }: FunctionTool): Result<JsonObject> {
  if (value === null || isEmpty(value)) return success({ type: "object", properties: {} });
  if (FOREIGN_ROOT.some((key) => Object.hasOwn(value, key))) {
    return notCarried(at, "Its root must be a plain object schema.");
  }
  if (value.type === "object") return success(value);
  return value.type === undefined && isObject(value.properties)
    ? success({ type: "object", ...value })
    : notCarried(at, "Its root must be of type object.");
}

/** Returns `tool_choice`; null if the request sets none. */
function encodeChoice(
  { choice, tools, parallelCalls, hasLegacyTools }: Prompt,
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
      return needsTools(choice, tools) ?? success({ type: "any", ...single });
    case "named": {
      const { name, at } = choice.tool;
      const isKnown = tools.some((tool) => tool.name.value === name);
      return needsTools(choice, tools) ??
        (isKnown
          ? success({ type: "tool", name, ...single })
          : wrongValue(at.path, "the name of one of the tools"));
    }
    case "allowed":
      return notCarried(choice.at);
  }
}

/** Returns the refusal of a forced call without tools; otherwise null. */
function needsTools({ at }: Exclude<Choice, { kind: "unset" }>, tools: readonly Tool[]) {
  return tools.length === 0
    ? wrongValue(at.path, "'auto' or 'none' when there are no tools")
    : null;
}
