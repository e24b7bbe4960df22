import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json/json.ts";
import { compatFieldErrors, compatMessageErrors } from "./compat_rules.ts";
import type { ParsedRequest, Tool } from "./protocol.ts";
import { cachedText } from "./prompt_cache.ts";
import { countWords } from "./tokens.ts";
import {
  callLine,
  imageUrlText,
  inOrderOfCalls,
  namesById,
  resultLine,
  spokenLine,
} from "./transcript.ts";

/** Parses a chat request of the compat protocol; returns its first error if it is invalid. */
export function parseCompatRequest(body: JsonObject): ParsedRequest {
  const [error] = [
    ...firstOnly(compatFieldErrors(body)),
    ...firstOnly(compatMessageErrors(body.messages)),
  ];
  if (error !== undefined) return { error };
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  const lastUserMessage = messages.findLast((message) => message.role === "user");
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const texts = messages.map((message) => textOf(message.content));
  const model = typeof body.model === "string" ? body.model : "";
  return {
    request: {
      model,
      modelAsSent: model,
      stream: body.stream === true,
      prompt: textOf(lastUserMessage?.content),
      toolResults: lastToolResults(messages),
      transcript: () => compatTranscript(messages),
      tools: callableTools(body),
      oneToolCall: body.parallel_tool_calls === false,
      jsonSchema: schemaOf(body.response_format),
      mayThink: body.reasoning_effort !== "none",
      maxOutputTokens: numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens),
      inputTokens: countWords(texts),
      cacheBlocks: () => [
        { text: cachedText(body.tools ?? null), tokens: 0, isWritten: false },
        ...messages.map((message, at) => ({
          text: cachedText(message),
          tokens: countWords([texts[at] ?? ""]),
          isWritten: true,
        })),
      ],
      choiceCount: numberOf(body.n) ?? 1,
      loadOnly: false,
      includeUsage: options.include_usage === true,
    },
  };
}

function firstOnly<T>(items: Generator<T>): readonly T[] {
  const { done, value } = items.next();
  return done ? [] : [value];
}

/** Returns the text of a message content. Parts without text become their type in brackets. */
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

function lastToolResults(messages: readonly JsonObject[]): readonly string[] {
  const before = messages.findLastIndex(({ role }) => role !== "tool" && role !== "function");
  const results = messages.slice(before + 1)
    .map(({ tool_call_id: id = null, content }) => ({ id, text: textOf(content) }));
  const callIds = callsOf(messages[before] ?? {}).map(({ id = null }) => id);
  return inOrderOfCalls(callIds, results);
}

function callableTools({ tools, tool_choice: choice }: JsonObject): readonly Tool[] {
  if (!Array.isArray(tools) || choice === "none") return [];
  const all = chatTools(tools);
  const allowed = allowedNames(choice);
  return allowed === null ? all : all.filter(({ name }) => allowed.includes(name));
}

/** Returns the functions and custom tools among tools in the form of Chat. */
export function chatTools(tools: readonly JsonValue[]): readonly Tool[] {
  return tools.flatMap((tool) => {
    const called = calledIn(tool);
    if (called === null || typeof called.name !== "string") return [];
    const { name, parameters } = called;
    const isCustom = isObject(tool) && tool.type === "custom";
    return [{ name, parameters: isObject(parameters) ? parameters : {}, isCustom }];
  });
}

/** Returns the function or custom tool of a tool, choice or call. */
function calledIn(value: JsonValue): JsonObject | null {
  if (!isObject(value)) return null;
  const called = value.function ?? value.custom;
  return isObject(called) ? called : null;
}

function allowedNames(choice: JsonValue | undefined): readonly string[] | null {
  if (!isObject(choice)) return null;
  const subset = isObject(choice.allowed_tools) ? choice.allowed_tools.tools : [choice];
  return Array.isArray(subset) ? subset.flatMap((tool) => calledName(tool ?? null)) : null;
}

function calledName(tool: JsonValue): readonly string[] {
  const name = calledIn(tool)?.name;
  return typeof name === "string" ? [name] : [];
}

function schemaOf(format: JsonValue | undefined): JsonObject | null {
  if (!isObject(format) || !isObject(format.json_schema)) return null;
  return isObject(format.json_schema.schema) ? format.json_schema.schema : null;
}

/** Returns the conversation of a chat request in lines, as the model reads it. */
function compatTranscript(messages: readonly JsonObject[]): readonly string[] {
  const names = namesById(messages.flatMap(callsOf), "id");
  return messages.flatMap((message) => {
    const { role, content, reasoning_content: thinking, tool_call_id: id } = message;
    const text = shownText(content);
    if (role === "tool") return [resultLine(names.get(id ?? null), text)];
    return [
      ...typeof thinking === "string" ? [spokenLine("thinking", thinking)] : [],
      ...text === "" ? [] : [spokenLine(role === "developer" ? "system" : String(role), text)],
      ...callLines(message),
    ];
  });
}

/** Returns the lines of a transcript for the tool calls of an assistant message. */
export function callLines(message: JsonObject): readonly string[] {
  return callsOf(message).map(({ function: called, custom }) => {
    if (isObject(custom)) return callLine(custom.name, { input: custom.input ?? null });
    return isObject(called) ? callLine(called.name, called.arguments) : "";
  });
}

/** Returns the tool calls of an assistant message in the form of Chat. */
export function callsOf({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

function shownText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter(isObject).map((part) => {
    if (part.type === "image_url" && isObject(part.image_url)) {
      return imageUrlText(part.image_url.url);
    }
    return String(part.text ?? part.refusal ?? `[${part.type}]`);
  }).join("");
}
