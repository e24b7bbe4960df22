import { isObject, type JsonObject, type JsonValue, numberOf } from "../core/json/json.ts";
import {
  countFieldErrors,
  hasBeta,
  headerErrors,
  messagesFieldErrors,
} from "./messages_field_rules.ts";
import { outputConfigErrors, toolErrors } from "./messages_tool_rules.ts";
import {
  blocksOf,
  dialogueOf,
  mergeTurns,
  referencedNames,
  type Turn,
  turnErrors,
} from "./messages_turn_rules.ts";
import { newApiError, type ParsedRequest, type Tool } from "./protocol.ts";
import { type CacheBlock, cachedText } from "./prompt_cache.ts";
import { countWords } from "./tokens.ts";
import {
  callLine,
  imageText,
  inOrderOfCalls,
  namesById,
  resultLine,
  spokenLine,
  type ToolResult,
} from "./transcript.ts";

/** Parses a request of the Messages protocol; returns its first error if it is invalid. */
export function parseMessagesRequest(body: JsonObject, headers: Headers): ParsedRequest {
  return parseValid(body, headers, messagesFieldErrors);
}

/** Parses a token count of the Messages protocol; returns its first error if it is invalid. */
export function parseMessagesCount(body: JsonObject, headers: Headers): ParsedRequest {
  return parseValid(body, headers, countFieldErrors);
}

function parseValid(
  body: JsonObject,
  headers: Headers,
  fieldErrors: typeof messagesFieldErrors,
): ParsedRequest {
  if (!headers.has("x-api-key") && !headers.has("authorization")) {
    return { error: newApiError("x-api-key header is required", { status: 401 }) };
  }
  for (const message of requestErrors(body, headers, fieldErrors)) {
    return { error: newApiError(message) };
  }
  const spoken = mergeTurns(body);
  const turns = dialogueOf(spoken);
  const last = turns.at(-1);
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  const texts = [{ blocks: blocksOf(body.system) }, ...spoken].map(countedText);
  const model = typeof body.model === "string" ? body.model : "";
  return {
    request: {
      model,
      modelAsSent: model,
      stream: body.stream === true,
      prompt: lastPrompt(turns),
      toolResults: inOrderOfCalls(callIds(turns.at(-2)), toolResults(last?.blocks ?? [])),
      transcript: () => messagesTranscript(blocksOf(body.system), spoken),
      tools: callableTools(body.tools, choice, referencedNames(spoken)),
      oneToolCall: choice.disable_parallel_tool_use === true,
      jsonSchema: schemaOf(body.output_config),
      mayThink: !isObject(body.thinking) || body.thinking.type !== "disabled",
      maxOutputTokens: numberOf(body.max_tokens),
      inputTokens: countWords(texts),
      cacheBlocks: () => cacheBlocks(body),
      choiceCount: 1,
      loadOnly: false,
      includeUsage: true,
    },
  };
}

/** Returns tools, system blocks and the blocks of messages: each breakpoint writes its prefix. */
function cacheBlocks(body: JsonObject): readonly CacheBlock[] {
  const { tools, system, messages } = body;
  const spoken = Array.isArray(messages) ? messages.filter(isObject) : [];
  const blocks = [
    ...Array.isArray(tools) ? tools.filter(isObject).map((block) => ({ role: "tool", block })) : [],
    ...[{ role: "system", content: system }, ...spoken].flatMap(({ role = null, content }) =>
      blocksOf(content).map((block) => ({ role, block }))
    ),
  ];
  return blocks.map(({ role, block }, at) => ({
    text: cachedText([role, block]),
    tokens: role === "tool" ? 0 : countWords([countedText({ blocks: [block] })]),
    // The breakpoint of a whole request is behind its last block.
    isWritten: isObject(block.cache_control) ||
      at === blocks.length - 1 && isObject(body.cache_control),
  }));
}

function* requestErrors(
  body: JsonObject,
  headers: Headers,
  fieldErrors: typeof messagesFieldErrors,
): Generator<string> {
  yield* headerErrors(headers);
  yield* fieldErrors(body, headers);
  yield* toolErrors(body);
  yield* outputConfigErrors(body.output_config, hasBeta(headers));
  yield* turnErrors(body, hasBeta(headers));
}

/** Returns the text of content blocks. Blocks without text become their type in brackets. */
function textOf(blocks: readonly JsonObject[]): string {
  return blocks.map(({ type, text }) => {
    if (typeof text === "string") return text;
    return type === "image" ? "[image]" : type === "document" ? "[file]" : "";
  }).join("");
}

function lastPrompt(turns: readonly Turn[]): string {
  const lastUserTurn = turns.findLast(({ role, blocks }) =>
    role === "user" && blocks.some(({ type }) => type !== "tool_result")
  );
  return textOf(lastUserTurn?.blocks ?? []);
}

function countedText({ blocks }: Pick<Turn, "blocks">): string {
  return [textOf(blocks), ...toolResults(blocks).map(({ text }) => text)].join(" ").trim();
}

function toolResults(blocks: readonly JsonObject[]): readonly ToolResult[] {
  return blocks.filter(({ type }) => type === "tool_result")
    .map(({ tool_use_id: id = null, content }) => ({ id, text: textOf(blocksOf(content)) }));
}

function callIds(turn: Turn | undefined): readonly JsonValue[] {
  const blocks = turn?.blocks ?? [];
  return blocks.filter(({ type }) => type === "tool_use").map(({ id = null }) => id);
}

function callableTools(
  tools: JsonValue | undefined,
  choice: JsonObject,
  referenced: readonly JsonValue[],
): readonly Tool[] {
  if (!Array.isArray(tools) || choice.type === "none") return [];
  return tools.flatMap((tool) => {
    if (!isObject(tool) || typeof tool.name !== "string" || !isObject(tool.input_schema)) return [];
    if (choice.type === "tool" && choice.name !== tool.name) return [];
    // The model does not see a deferred tool before a tool_reference names it.
    if (tool.defer_loading === true && !referenced.includes(tool.name)) return [];
    return [{ name: tool.name, parameters: tool.input_schema }];
  });
}

function schemaOf(config: JsonValue | undefined): JsonObject | null {
  if (!isObject(config) || !isObject(config.format)) return null;
  return isObject(config.format.schema) ? config.format.schema : null;
}

/** Returns the conversation of a Messages request in lines, as the model reads it. */
function messagesTranscript(
  system: readonly JsonObject[],
  turns: readonly Turn[],
): readonly string[] {
  const calls = turns.flatMap(({ blocks }) => blocks.filter(({ type }) => type === "tool_use"));
  const names = namesById(calls, "id");
  return [{ role: "system", blocks: system }, ...turns].flatMap(({ role, blocks }) => {
    const shown = blocks.map(shownText).join("");
    const apart = blocks.flatMap((block) => {
      if (block.type === "thinking") return [spokenLine("thinking", String(block.thinking))];
      if (block.type === "tool_use") return [callLine(block.name, block.input)];
      if (block.type !== "tool_result") return [];
      const text = blocksOf(block.content).map(shownText).join("");
      return [resultLine(names.get(block.tool_use_id ?? null), text)];
    });
    const line = shown === "" ? [] : [spokenLine(role, shown)];
    return role === "user" ? [...apart, ...line] : [...line, ...apart];
  });
}

function shownText(block: JsonObject): string {
  if (block.type === "text") return String(block.text);
  if (block.type !== "image" || !isObject(block.source)) return "";
  const { type, media_type: mediaType, data, url } = block.source;
  return type === "base64" ? imageText(mediaType, data) : `[image at ${url}]`;
}
