import type { JsonObject } from "../../core/json/json.ts";
import type { Message } from "../../prompt/prompt.ts";

/**
 * Returns `tools` and `tool_choice` for a request that declares no tools; no fields if no tool was
 * called before. The Messages API refuses earlier calls in a request without tools, so their tools
 * are declared by name, with an open schema, and the model must not call them. A name that is no
 * valid tool name is omitted.
 */
export function toolsOfHistory(messages: readonly Message[], toolName: RegExp): JsonObject {
  const names = new Set(
    messages.flatMap((one) => one.kind === "assistant" ? one.calls.map(({ name }) => name) : []),
  );
  const tools = [...names].filter((name) => toolName.test(name))
    .map((name) => ({ name, input_schema: { type: "object" } }));
  return tools.length === 0 ? {} : { tools, tool_choice: { type: "none" } };
}
