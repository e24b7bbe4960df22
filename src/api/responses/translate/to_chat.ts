import type { ChatRequest } from "../../../wires/chat_request/chat_request.ts";
import { isObject, isTooDeep, type JsonObject, MAX_LEVELS } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/result.ts";
import { newDocument } from "../../../formats/document.ts";
import { missing } from "../../../wires/chat_request/refusals.ts";
import { newLosses } from "../../../wires/chat_request/losses.ts";
import type { StrictSchemas } from "../../../wires/verified/strict_schemas.ts";
import type { WireName } from "../../../wires/wire.ts";
import { chatOptions } from "./chat_options.ts";
import type { CalledFunction } from "../generate/items.ts";
import { separateTools } from "./additional_tools.ts";
import { chatToolChoice, chatTools } from "./chat_tools.ts";
import { chatTurns, type PlacedItem, type PlacedMessage } from "./chat_turns.ts";
import { toClientPath, toClientPaths } from "./error_paths.ts";
import { exactBody } from "./exact.ts";
import type { HistoryItem } from "../history_item.ts";
import type { ResponsesRequest } from "../request.ts";

/** Chat request that was translated from a Responses request. */
export interface TranslatedRequest extends ChatRequest {
  /** Returns a wire's refusal of this request with the paths of the client's own request. */
  toClientPaths(refused: Failed): Failed;
  /** Returns the path of a field of this request in the client's own request. */
  toClientPath(path: string): string;
  /** Paths of the client's fields of which this request has only a part. */
  readonly lossy: readonly string[];
  /** The functions of namespaces, by the names that the upstream uses. */
  readonly namespaced: ReadonlyMap<string, CalledFunction>;
}

/**
 * Translates a Responses request into a Chat request for `wire`. `items` is the complete history
 * for the model, with the new items last; `omitted` are types of hosted tools to leave out. Refuses
 * a field without a counterpart in Chat.
 */
export function toChat(
  request: ResponsesRequest,
  items: readonly HistoryItem[],
  wire: WireName,
  omitted: readonly string[] = [],
  schemas?: StrictSchemas,
): Result<TranslatedRequest> {
  const deep = tooDeep(request.document.value);
  if (deep !== null) return deep;
  const body = exactBody(request.document);
  const losses = newLosses();
  const options = chatOptions(body, wire, losses);
  if (!options.ok) return options;
  const separated = separateTools(items);
  if (!separated.ok) return separated;
  const { lists, items: dialogue } = separated.value;
  const tools = chatTools([{ tools: body.tools, path: "tools" }, ...lists], omitted, losses);
  if (!tools.ok) return tools;
  const hasTools = tools.value.tools.length > 0;
  const choice = chatToolChoice(body.tool_choice, hasTools, tools.value.isOmitted);
  if (!choice.ok) return choice;
  const turns = chatTurns(placed(request, dialogue), wire, losses, isCurrentTurnOnly(body, wire));
  if (!turns.ok) return turns;
  const messages = [...instructionsOf(body), ...turns.value];
  if (turns.value.length === 0) return missing("input");
  const parallel = body.parallel_tool_calls ?? null;
  const document = newDocument({
    model: request.model,
    messages: messages.map(({ message }) => message),
    ...options.value,
    // Some upstreams refuse tool options in a request without tools.
    ...hasTools && { tools: [...tools.value.tools] },
    ...hasTools && parallel !== null && { parallel_tool_calls: parallel },
    ...choice.value !== undefined && { tool_choice: choice.value },
    // The terminal event always holds the usage, even if the client did not request it.
    ...request.stream && { stream: true, stream_options: { include_usage: true } },
  });
  const origins = { messages, tools: tools.value.paths };
  return success({
    document,
    stream: request.stream,
    includeUsage: request.stream,
    ...schemas !== undefined && { schemas },
    toClientPaths: (refused) => toClientPaths(refused, origins),
    toClientPath: (path) => toClientPath(path, origins),
    lossy: losses.member().lossy ?? [],
    namespaced: tools.value.namespaced,
  });
}

/**
 * True if the reasoning of earlier turns must be left out. The Messages API itself ignores it
 * (extended thinking).
 */
function isCurrentTurnOnly({ reasoning }: JsonObject, wire: WireName): boolean {
  return wire !== "messages" && isObject(reasoning) && reasoning.context === "current_turn";
}

function tooDeep(value: JsonObject): Result<never> | null {
  const deep = Object.keys(value).find((key) => isTooDeep(value[key]));
  if (deep === undefined) return null;
  const text = `'${deep}' is nested more than ${MAX_LEVELS} levels deep.`;
  return refuse("unsupported_feature", text, deep);
}

/**
 * Adds paths to items: a stored item is counted from the oldest, below the field that refers to it.
 */
function placed(
  { conversation }: ResponsesRequest,
  items: readonly HistoryItem[],
): readonly PlacedItem[] {
  const param = conversation === null ? "previous_response_id" : "conversation";
  return items.map(({ item, path }, index) => ({
    item,
    at: (below) => (path ?? `${param}.items[${index}]`) + below,
  }));
}

function instructionsOf({ instructions }: JsonObject): readonly PlacedMessage[] {
  if (typeof instructions !== "string" || instructions === "") return [];
  const message = { role: "system", content: instructions };
  return [{ message, at: () => "instructions", reasoningAt: null, callsAt: [] }];
}
