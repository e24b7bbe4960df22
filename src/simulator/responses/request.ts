import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { Account } from "../account.ts";
import { type ApiError, type Deps, newApiError, type SimRequest, type Tool } from "../protocol.ts";
import { cachedText } from "../prompt_cache.ts";
import { countWords } from "../tokens.ts";
import {
  callLine,
  imageUrlText,
  inOrderOfCalls,
  namesById,
  resultLine,
  spokenLine,
} from "../transcript.ts";
import { findItem, type History, resolveHistory } from "./history.ts";
import { contextErrors, itemErrors } from "./input_item_rules.ts";
import { parseInput, textOf, toListedItem, typeOf } from "./input_items.ts";
import { responsesFieldErrors } from "./field_rules.ts";

/** A valid request of the Responses protocol. */
export interface ResponsesRequest extends SimRequest {
  readonly body: JsonObject;
  /** The input items of this request, as list endpoints show them. */
  readonly newItems: readonly JsonObject[];
  /** The items of the history, followed by those of this request. */
  readonly contextItems: readonly JsonObject[];
  readonly conversationId: string | null;
  /** The model may use a hosted search. */
  readonly maySearch: boolean;
  /** Reasoning items include their encrypted content. */
  readonly includeEncryptedReasoning: boolean;
}

/** Parses a create, compact or count request; returns its first error if it is invalid. */
export function parseResponsesRequest(
  body: JsonObject,
  account: Account,
  deps: Deps,
): { readonly request: ResponsesRequest } | { readonly error: ApiError } {
  const inputItems = Array.isArray(body.input) ? body.input : [];
  for (const error of responsesFieldErrors(body)) return { error };
  for (const error of itemErrors(inputItems, "input")) return { error };
  const found = resolveHistory(body, account);
  if ("error" in found) return found;
  const { history } = found;
  const newItems: JsonObject[] = [];
  for (const inputItem of parseInput(body.input)) {
    const known = refersToStored(inputItem) ? findItem(String(inputItem.id), account) : inputItem;
    if (known === undefined) {
      const details = { status: 404, param: "input" };
      return { error: newApiError(`Item with id '${inputItem.id}' not found.`, details) };
    }
    newItems.push(toListedItem(typeOf(inputItem) === "item_reference" ? known : inputItem, deps));
  }
  for (const error of duplicateItemErrors(newItems, history)) return { error };
  const contextItems = [...history.items, ...newItems];
  for (const error of contextErrors(contextItems, account)) return { error };
  return { request: buildRequest(body, newItems, contextItems, history) };
}

/**
 * True if the account must have stored an item: a reference, or reasoning that brings its ID but no
 * encrypted content.
 */
function refersToStored(item: JsonObject): boolean {
  const type = typeOf(item);
  return type === "item_reference" ||
    (type === "reasoning" && typeof item.id === "string" &&
      typeof item.encrypted_content !== "string");
}

function* duplicateItemErrors(
  newItems: readonly JsonObject[],
  history: History,
): Generator<ApiError> {
  if (history.conversationId === null) return;
  const known = new Set(history.items.map(({ id }) => id));
  for (const { id } of newItems) {
    if (known.has(id)) yield newApiError(`Duplicate item found with id ${id}.`, { param: "input" });
  }
}

function buildRequest(
  body: JsonObject,
  newItems: readonly JsonObject[],
  contextItems: readonly JsonObject[],
  { conversationId }: History,
): ResponsesRequest {
  const toolResults = lastToolResults(contextItems);
  const instructions = typeof body.instructions === "string" ? body.instructions : "";
  const model = typeof body.model === "string" ? body.model : "";
  const lastUserItem = contextItems.findLast(({ role }) => role === "user");
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  const texts = [instructions, ...contextItems.map(textOf)];
  return {
    body,
    newItems,
    contextItems,
    conversationId,
    maySearch: toolResults.length === 0 && allowsSearch(body),
    includeEncryptedReasoning: Array.isArray(body.include) &&
      body.include.includes("reasoning.encrypted_content"),
    model,
    modelAsSent: model,
    stream: body.stream === true,
    prompt: lastUserItem === undefined ? "" : textOf(lastUserItem),
    toolResults,
    transcript: () => responsesTranscript(instructions, contextItems),
    tools: callableTools(body, newItems),
    oneToolCall: body.parallel_tool_calls === false,
    jsonSchema: schemaOf(body.text),
    mayThink: reasoning.effort !== "none",
    maxOutputTokens: numberOf(body.max_output_tokens),
    inputTokens: countWords(texts),
    // Without IDs, which differ each time that an item is sent.
    cacheBlocks: () => [
      { text: cachedText(body.tools ?? null), tokens: 0, isWritten: false },
      { text: instructions, tokens: countWords([instructions]), isWritten: true },
      ...contextItems.map((item) => ({
        text: cachedText([typeOf(item), item.role ?? null, item.arguments ?? null, textOf(item)]),
        tokens: countWords([textOf(item)]),
        isWritten: true,
      })),
    ],
    choiceCount: 1,
    loadOnly: false,
    includeUsage: true,
  };
}

function lastToolResults(items: readonly JsonObject[]): readonly string[] {
  const before = items.findLastIndex((item) => !isOutput(item));
  const results = items.slice(before + 1)
    .map((item) => ({ id: item.call_id ?? null, text: textOf(item) }));
  const callIds = items.filter(isCall)
    .map(({ call_id: id = null }) => id);
  return inOrderOfCalls(callIds, results);
}

function isCall({ type }: JsonObject): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

function isOutput({ type }: JsonObject): boolean {
  return type === "function_call_output" || type === "custom_tool_call_output";
}

function allowsSearch({ tools, tool_choice: choice }: JsonObject): boolean {
  return choice !== "none" && Array.isArray(tools) &&
    tools.some((tool) => isObject(tool) && String(tool.type).startsWith("web_search"));
}

function callableTools(
  { tools, tool_choice: choice }: JsonObject,
  items: readonly JsonObject[],
): readonly Tool[] {
  if (choice === "none") return [];
  const declared = items.filter(({ type }) => type === "additional_tools");
  const all = [tools, ...declared.map((item) => item.tools)].flatMap((list) => toolsIn(list));
  if (!isObject(choice)) return all;
  const chosen = Array.isArray(choice.tools) ? choice.tools : [choice];
  const allowed = chosen.flatMap((tool) => isObject(tool) ? [tool.name] : []);
  return all.filter(({ name }) => allowed.includes(name));
}

/** Returns the functions and custom tools of a list; a name begins with its namespace. */
function toolsIn(list: JsonValue | undefined, namespace?: string): readonly Tool[] {
  return (Array.isArray(list) ? list.filter(isObject) : []).flatMap((tool) => {
    const { type, name, parameters } = tool;
    if (typeof name !== "string") return [];
    if (type === "namespace") return toolsIn(tool.tools, name);
    if (type !== "function" && type !== "custom") return [];
    return [{
      name: namespace === undefined ? name : `${namespace}__${name}`,
      parameters: isObject(parameters) ? parameters : {},
      isCustom: type === "custom",
      ...namespace !== undefined && { namespace },
    }];
  });
}

function schemaOf(text: JsonValue | undefined): JsonObject | null {
  if (!isObject(text) || !isObject(text.format)) return null;
  return isObject(text.format.schema) ? text.format.schema : null;
}

/** Returns the conversation of a Responses request in lines, as the model reads it. */
function responsesTranscript(
  instructions: string,
  items: readonly JsonObject[],
): readonly string[] {
  const names = namesById(items.filter(isCall), "call_id");
  const lines = items.map((item) => {
    switch (typeOf(item)) {
      case "message":
        return spokenLine(
          item.role === "developer" ? "system" : String(item.role),
          messageText(item),
        );
      case "reasoning":
        return spokenLine("thinking", textOf(item));
      case "function_call":
        return callLine(item.name, item.arguments);
      case "custom_tool_call":
        return callLine(item.name, { input: item.input ?? null });
      case "function_call_output":
      case "custom_tool_call_output":
        return resultLine(names.get(item.call_id ?? null), textOf(item));
      default:
        return `[${item.type}]`;
    }
  });
  return [...instructions === "" ? [] : [spokenLine("system", instructions)], ...lines];
}

function messageText({ content }: JsonObject): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.filter(isObject).map((part) =>
    part.type === "input_image"
      ? imageUrlText(part.image_url)
      : String(part.text ?? part.refusal ?? `[${part.type}]`)
  ).join("");
}
