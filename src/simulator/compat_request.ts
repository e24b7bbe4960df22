import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json.ts";
import { fieldComplaints } from "./compat_rules.ts";
import { turnComplaints } from "./compat_turns.ts";
import type { Reading, Tool } from "./voice.ts";
import { wordsOf } from "./words.ts";

/** A chat request of the compat protocol, or the first thing that is wrong with it. */
export function readCompat(body: JsonObject): Reading {
  const [complaint] = [...first(fieldComplaints(body)), ...first(turnComplaints(body.messages))];
  if (complaint !== undefined) return { complaint };
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const asked = messages.findLast((message) => message.role === "user");
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const texts = messages.map((message) => textOf(message.content));
  const model = typeof body.model === "string" ? body.model : "";
  return {
    ask: {
      model,
      shownModel: model,
      stream: body.stream === true,
      prompt: textOf(asked?.content),
      results: resultsOf(messages),
      tools: toolsOf(body),
      single: body.parallel_tool_calls === false,
      schema: schemaOf(body.response_format),
      think: body.reasoning_effort !== "none",
      limit: numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens),
      input: texts.reduce((sum, text) => sum + wordsOf(text).length, 0),
      choices: numberOf(body.n) ?? 1,
      loadOnly: false,
      usageWanted: options.include_usage === true,
    },
  };
}

function first<T>(items: Generator<T>): readonly T[] {
  const { done, value } = items.next();
  return done ? [] : [value];
}

/** The text of a content; other parts show as their kind in brackets. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => {
    if (!isObject(part)) return "";
    const text = part.text ?? part.refusal;
    if (typeof text === "string") return text;
    return part.type === "image_url" ? "[image]" : part.type === "file" ? "[file]" : "[audio]";
  }).join("");
}

function resultsOf(messages: readonly JsonObject[]): readonly string[] {
  const before = messages.findLastIndex(({ role }) => role !== "tool" && role !== "function");
  return messages.slice(before + 1).map((message) => textOf(message.content));
}

function toolsOf({ tools, tool_choice: choice }: JsonObject): readonly Tool[] {
  if (!Array.isArray(tools) || choice === "none") return [];
  const all = tools.flatMap((tool) => {
    if (!isObject(tool) || !isObject(tool.function)) return [];
    const { name, parameters } = tool.function;
    if (typeof name !== "string") return [];
    return [{ name, parameters: isObject(parameters) ? parameters : {} }];
  });
  const allowed = namesIn(choice);
  return allowed === null ? all : all.filter(({ name }) => allowed.includes(name));
}

function namesIn(choice: JsonValue | undefined): readonly string[] | null {
  if (!isObject(choice)) return null;
  const subset = isObject(choice.allowed_tools) ? choice.allowed_tools.tools : [choice];
  return Array.isArray(subset) ? subset.flatMap((tool) => nameIn(tool ?? null)) : null;
}

function nameIn(tool: JsonValue): readonly string[] {
  if (!isObject(tool) || !isObject(tool.function)) return [];
  return typeof tool.function.name === "string" ? [tool.function.name] : [];
}

function schemaOf(format: JsonValue | undefined): JsonObject | null {
  if (!isObject(format) || !isObject(format.json_schema)) return null;
  return isObject(format.json_schema.schema) ? format.json_schema.schema : null;
}
