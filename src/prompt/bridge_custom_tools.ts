import { Buffer } from "node:buffer";
import type { JsonObject } from "../core/json/json.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { Carrier } from "./carry.ts";
import type {
  Choice,
  ChosenTool,
  CustomTool,
  FunctionTool,
  Message,
  Prompt,
  Tool,
  ToolCall,
} from "./prompt.ts";

/** Name of the only argument of a function that replaces a custom tool. */
export const INPUT = "input";

/** Maximum size of the definition of a grammar, which the description of its function repeats. */
const MAX_DEFINITION_BYTES = 64 * 1024;

const HOW_TO_CALL = `Pass the whole input of this tool as one plain text in \`${INPUT}\`. ` +
  "Do not wrap it in JSON or Markdown.";

/** Parameters of each function that replaces a custom tool. */
export const BRIDGED_PARAMETERS: JsonObject = {
  type: "object",
  properties: { [INPUT]: { type: "string", description: "The whole input, as plain text." } },
  required: [INPUT],
  additionalProperties: false,
};

/** A prompt without custom tools. */
export interface BridgedPrompt {
  readonly prompt: Prompt;
  /** Names of the functions that replace custom tools; absent for none. */
  readonly bridged?: ReadonlySet<string>;
}

/**
 * Returns a prompt for a protocol that has no custom tools: each becomes a function with one text.
 * Its grammar is not enforced: the model only reads it. Refuses two tools of one name, because the
 * name decides how a call is delivered.
 */
export function bridgeCustomTools(prompt: Prompt, carrier: Carrier): Result<BridgedPrompt> {
  if (!hasCustom(prompt)) return success({ prompt });
  const names = new Set<string>();
  const bridged = new Set<string>();
  const tools: Tool[] = [];
  for (const tool of prompt.tools) {
    const { name } = tool;
    if (names.has(name.value)) {
      return carrier.refuseValue(name.at.path, "must be different from that of any other tool");
    }
    names.add(name.value);
    if (tool.kind === "custom") bridged.add(name.value);
    const made = tool.kind === "custom" ? bridgeTool(tool, carrier) : success(tool);
    if (!made.ok) return made;
    tools.push(made.value);
  }
  const messages = prompt.messages.map(bridgeMessage);
  return success({
    prompt: { ...prompt, tools, messages, choice: bridgeChoice(prompt.choice) },
    ...bridged.size > 0 && { bridged },
  });
}

function hasCustom({ tools, messages, choice }: Prompt): boolean {
  return tools.some(isCustom) || messages.some(hasCustomCall) ||
    choice.kind === "named" && isCustom(choice.tool) ||
    choice.kind === "allowed" && choice.tools.some(isCustom);
}

function isCustom({ kind }: Tool | ToolCall | ChosenTool): boolean {
  return kind === "custom";
}

function hasCustomCall(message: Message): boolean {
  return message.kind === "assistant" && message.calls.some(isCustom);
}

function bridgeTool(
  { at, name, description, format }: CustomTool,
  carrier: Carrier,
): Result<FunctionTool> {
  const texts = [...description === null ? [] : [description, ""], HOW_TO_CALL];
  if (format?.kind === "grammar") {
    const { definition: { value: definition, at: definitionAt }, syntax } = format;
    if (Buffer.byteLength(definition) > MAX_DEFINITION_BYTES) {
      return carrier.refuseValue(
        definitionAt.path,
        `must be at most ${MAX_DEFINITION_BYTES} bytes`,
      );
    }
    carrier.lose(format.at.path);
    texts.push(`The text must match this ${syntax} grammar:`, definition);
  }
  return success({
    kind: "function",
    at,
    name,
    description: texts.join("\n"),
    parameters: { value: BRIDGED_PARAMETERS, at },
    strict: null,
    cache: null,
  });
}

function bridgeMessage(message: Message): Message {
  return message.kind === "assistant" && hasCustomCall(message)
    ? { ...message, calls: message.calls.map(bridgeCall) }
    : message;
}

/** Returns a call with the same text in every turn, which keeps the cache of the provider. */
function bridgeCall(call: ToolCall): ToolCall {
  if (!isCustom(call)) return call;
  const { text: { value, at } } = call;
  return { ...call, kind: "function", text: { value: JSON.stringify({ [INPUT]: value }), at } };
}

function bridgeChoice(choice: Choice): Choice {
  switch (choice.kind) {
    case "named":
      return { ...choice, tool: bridgeChosen(choice.tool) };
    case "allowed":
      return { ...choice, tools: choice.tools.map(bridgeChosen) };
    default:
      return choice;
  }
}

function bridgeChosen(tool: ChosenTool): ChosenTool {
  return { ...tool, kind: "function" };
}
