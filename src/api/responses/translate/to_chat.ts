import type { ChatRequest } from "../../../wires/chat_request/chat_request.ts";
import { isTooDeep, type JsonObject, MAX_LEVELS } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/result.ts";
import { newDocument } from "../../../formats/document.ts";
import { missing } from "../../../wires/chat_request/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { chatOptions } from "./chat_options.ts";
import { chatToolChoice, chatTools } from "./chat_tools.ts";
import { chatTurns, type PlacedItem, type PlacedMessage } from "./chat_turns.ts";
import { inClientTerms } from "./error_paths.ts";
import { exactBody } from "./exact.ts";
import type { ResponsesRequest } from "../request.ts";

/** An item of the whole dialogue that an answer is wanted for. */
export interface HistoryItem {
  readonly item: JsonObject;
  /** Where the client put it, such as `input[3]`; null for one that the gateway kept. */
  readonly path: string | null;
  /** It stands in for what the client sent: the gateway has kept it. */
  readonly isKept?: boolean;
}

/** A request in the shape of Chat that was made from one of Responses. */
export interface TranslatedRequest extends ChatRequest {
  /** A wire's refusal of this request, told with the paths of the client's own. */
  inClientTerms(refused: Failed): Failed;
}

/**
 * The request as one of Chat Completions for a provider that speaks `wire`; `items` are all that the
 * model gets to see, the new ones last. A Refusal names the field that a chat upstream has no
 * counterpart for.
 */
export function toChat(
  request: ResponsesRequest,
  items: readonly HistoryItem[],
  wire: WireName,
): Result<TranslatedRequest> {
  const deep = tooDeep(request.document.value);
  if (deep !== null) return deep;
  const body = exactBody(request.document);
  const options = chatOptions(body, wire);
  if (!options.ok) return options;
  const tools = chatTools(body.tools);
  if (!tools.ok) return tools;
  const hasTools = tools.value.tools.length > 0;
  const choice = chatToolChoice(body.tool_choice, hasTools);
  if (!choice.ok) return choice;
  const turns = chatTurns(placed(request, items), wire);
  if (!turns.ok) return turns;
  const messages = [...instructionsOf(body), ...turns.value];
  if (turns.value.length === 0) return missing("input");
  const parallel = body.parallel_tool_calls ?? null;
  const document = newDocument({
    model: request.model,
    messages: messages.map(({ message }) => message),
    ...options.value,
    // Some upstreams refuse words about tools where there are none.
    ...hasTools && { tools: [...tools.value.tools] },
    ...hasTools && parallel !== null && { parallel_tool_calls: parallel },
    ...choice.value !== undefined && { tool_choice: choice.value },
    // The terminal tells the usage, whoever asks.
    ...request.stream && { stream: true, stream_options: { include_usage: true } },
  });
  const origins = { messages, tools: tools.value.paths };
  return success({
    document,
    stream: request.stream,
    includeUsage: request.stream,
    inClientTerms: (refused) => inClientTerms(refused, origins),
  });
}

function tooDeep(value: JsonObject): Result<never> | null {
  const deep = Object.keys(value).find((key) => isTooDeep(value[key]));
  if (deep === undefined) return null;
  const text = `'${deep}' is nested more than ${MAX_LEVELS} levels deep.`;
  return refuse("unsupported_feature", text, deep);
}

/** What was kept is counted from its oldest item, below the field that named it. */
function placed(
  { conversation }: ResponsesRequest,
  items: readonly HistoryItem[],
): readonly PlacedItem[] {
  const kept = conversation === null ? "previous_response_id" : "conversation";
  return items.map(({ item, path }, index) => ({
    item,
    at: (below) => (path ?? `${kept}.items[${index}]`) + below,
  }));
}

function instructionsOf({ instructions }: JsonObject): readonly PlacedMessage[] {
  if (typeof instructions !== "string" || instructions === "") return [];
  const message = { role: "system", content: instructions };
  return [{ message, at: () => "instructions", reasoningAt: null, callsAt: [] }];
}
