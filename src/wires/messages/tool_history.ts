import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Optional } from "../chat_request/refusals.ts";

/**
 * Returns `tools` and `tool_choice` for a request that declares no tools; no fields if no tool was
 * called before. The Messages API refuses earlier calls in a request without tools, so their tools
 * are declared by name, with an open schema, and the model must not call them. A name that is no
 * valid tool name is omitted. The messages must be validated.
 */
export function toolsOfHistory(messages: Optional, toolName: RegExp): JsonObject {
  const names = new Set((Array.isArray(messages) ? messages : []).flatMap(calledNames));
  const tools = [...names].filter((name) => toolName.test(name))
    .map((name) => ({ name, input_schema: { type: "object" } }));
  return tools.length === 0 ? {} : { tools, tool_choice: { type: "none" } };
}

function calledNames(message: Optional): readonly string[] {
  if (!isObject(message) || message.role !== "assistant") return [];
  const { tool_calls: calls, function_call: legacy } = message;
  const called = (Array.isArray(calls) ? calls : [])
    .map((call) => isObject(call) ? call.function : null);
  return [...called, legacy].flatMap((one) =>
    isObject(one) && typeof one.name === "string" ? [one.name] : []
  );
}
