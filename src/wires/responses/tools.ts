import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Choice, ChosenTool, CustomTool, Tool, WebSearch } from "../../prompt/prompt.ts";
import type { SectionInput } from "./controls.ts";

/** Returns `tools`, `tool_choice` and `parallel_tool_calls`. */
export function tools({ prompt }: SectionInput): Result<JsonObject> {
  const { hasLegacyTools, parallelCalls, webSearch } = prompt;
  const all = [
    ...prompt.tools.map(encodeTool),
    ...webSearch === null ? [] : [searchTool(webSearch)],
  ];
  const choice = encodeChoice(prompt.choice);
  // A legacy response can hold only one call.
  const parallel = hasLegacyTools ? false : parallelCalls?.value ?? null;
  return success({
    ...all.length > 0 && { tools: all },
    ...choice !== null && { tool_choice: choice },
    ...parallel !== null && { parallel_tool_calls: parallel },
  });
}

function encodeTool(tool: Tool): JsonObject {
  const { kind, name, description } = tool;
  return {
    type: kind,
    name: name.value,
    ...description !== null && { description },
    ...kind === "custom" ? customMembers(tool) : {
      // Both fields may be absent, which means no parameters and not strict.
      parameters: tool.parameters.value ?? { type: "object", properties: {} },
      strict: tool.strict?.value ?? false,
    },
  };
}

/** Returns the format of a custom tool without the nested object of Chat. */
function customMembers({ format }: CustomTool): JsonObject {
  if (format === null) return {};
  if (format.kind === "text") return { format: { type: "text" } };
  const { definition, syntax } = format;
  return { format: { type: "grammar", definition: definition.value, syntax } };
}

/** Returns the hosted tool of a web search, with the location without the nested object of Chat. */
function searchTool({ contextSize, location }: WebSearch): JsonObject {
  return {
    type: "web_search",
    ...contextSize !== null && { search_context_size: contextSize },
    ...location !== null && { user_location: { type: "approximate", ...location } },
  };
}

function encodeChoice(choice: Choice): JsonValue {
  switch (choice.kind) {
    case "unset":
      return null;
    case "named":
      return chosenTool(choice.tool);
    case "allowed":
      return { type: "allowed_tools", mode: choice.mode, tools: choice.tools.map(chosenTool) };
    default:
      return choice.kind;
  }
}

function chosenTool({ kind, name }: ChosenTool): JsonObject {
  return { type: kind, name };
}
