import { isObject, isTooDeep, type JsonObject, MAX_LEVELS } from "../../../core/json/json.ts";
import { refuse, type Result, success } from "../../../core/failure/result.ts";
import { type Carrier, usedBy } from "../../../prompt/carry.ts";
import type { StoredReasoning } from "../../../prompt/chat/parse_messages.ts";
import { textContent } from "../../../prompt/content.ts";
import type { FieldRef, Message, Prompt } from "../../../prompt/prompt.ts";
import { flagOf } from "../../../prompt/read.ts";
import { isEmpty, missing } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { withReasoning } from "../../reasoning/reasoning_memory.ts";
import type { CalledTool } from "../generate/items.ts";
import type { HistoryItem } from "../history_item.ts";
import type { ResponsesRequest } from "../request.ts";
import { separateTools } from "./additional_tools.ts";
import { parseItems, type PlacedItem } from "./parse_items.ts";
import { parseOptions } from "./parse_options.ts";
import { parseChoice, parseTools } from "./parse_tools.ts";

/** A Responses request as a prompt. */
export interface ResponsesPrompt {
  readonly prompt: Prompt;
  /** The tools of namespaces, by the names that the upstream uses. */
  readonly namespaced: ReadonlyMap<string, CalledTool>;
}

/** Target of a parsed Responses request, and the facts that the gateway knows of it. */
export interface ParsedFor {
  readonly wire: WireName;
  readonly carrier: Carrier;
  /** Stored reasoning of the assistant messages among those of the items; absent for none. */
  readonly reasoning?: StoredReasoning;
}

/**
 * Returns a Responses request as a prompt. `items` is the complete history for the model, with the
 * new items last. A Refusal names the first field that is wrong or not carried.
 */
export function parsePrompt(
  request: ResponsesRequest,
  items: readonly HistoryItem[],
  { wire, carrier, reasoning }: ParsedFor,
): Result<ResponsesPrompt> {
  const deep = tooDeep(request.document.value);
  if (deep !== null) return deep;
  const { exact: body } = request;
  const options = parseOptions(body, wire, carrier);
  if (!options.ok) return options;
  const separated = separateTools(items);
  if (!separated.ok) return separated;
  const { lists, stored, items: dialogue } = separated.value;
  const own = [{ tools: body.tools, path: "tools" }, ...lists];
  const earlier = stored.map((list) => ({ ...list, path: `${storedField(request)}.${list.path}` }));
  const tools = parseTools(own.every((list) => isEmpty(list.tools)) ? earlier : own, carrier);
  if (!tools.ok) return tools;
  const choice = parseChoice(body.tool_choice ?? null, tools.value, carrier);
  if (!choice.ok) return choice;
  const turns = parseMessages(request, dialogue, { wire, carrier });
  if (!turns.ok) return turns;
  if (turns.value.length === 0) return missing("input");
  const parallelAt = { field: "parallel_tool_calls", path: "parallel_tool_calls" } as const;
  const parallel = tools.value.tools.length === 0 ? null : body.parallel_tool_calls;
  const parallelCalls = usedBy(carrier, flagOf(parallel, parallelAt));
  if (!parallelCalls.ok) return parallelCalls;
  const prompt: Prompt = {
    at: { field: "messages", path: "input" },
    messages: [...instructionsOf(body), ...withReasoning(turns.value, reasoning)],
    tools: tools.value.tools,
    hasLegacyTools: false,
    choice: choice.value,
    parallelCalls: parallelCalls.value,
    ...options.value,
    stop: null,
    thinking: null,
    logprobs: { isWanted: false, top: null },
    webSearch: null,
    stream: request.stream,
    isUnpadded: false,
  };
  return success({ prompt, namespaced: tools.value.namespaced });
}

/** Returns the messages of the items that are no declarations of tools. */
export function parseMessages(
  request: ResponsesRequest,
  items: readonly HistoryItem[],
  { wire, carrier }: Pick<ParsedFor, "wire" | "carrier">,
): Result<readonly Message[]> {
  const isCurrentTurnOnly = asksForCurrentTurn(request.document.value, wire);
  return parseItems(placed(request, items), { wire, carrier, isCurrentTurnOnly });
}

/**
 * True if the reasoning of earlier turns must be left out. The Messages API itself ignores it
 * (extended thinking).
 */
function asksForCurrentTurn({ reasoning }: JsonObject, wire: WireName): boolean {
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
  request: ResponsesRequest,
  items: readonly HistoryItem[],
): readonly PlacedItem[] {
  const param = storedField(request);
  return items.map(({ item, path }, index) => ({
    item,
    path: path ?? `${param}.items[${index}]`,
  }));
}

/** Returns the field that refers to the stored items. */
function storedField({ conversation }: ResponsesRequest): string {
  return conversation === null ? "previous_response_id" : "conversation";
}

function instructionsOf({ instructions }: JsonObject): readonly Message[] {
  if (typeof instructions !== "string" || instructions === "") return [];
  const at: FieldRef = { field: "messages[system]", path: "instructions" };
  const content = textContent(instructions, { ...at, field: "messages[system].content" });
  return [{ kind: "instruction", role: "system", at, content, cache: null }];
}
