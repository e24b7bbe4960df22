import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/result.ts";
import {
  missing,
  unsupported,
  wrongType,
  wrongValue,
} from "../../../wires/chat_request/refusals.ts";
import { newInnerItems } from "../../../prompt/inner_json.ts";
import type { Losses } from "../../../wires/chat_request/losses.ts";
import type { WireName } from "../../../wires/wire.ts";
import { typeOf } from "../../item_type.ts";
import { assistantContent, chatContent, type PathBelow } from "./chat_content.ts";
import { mergeReasoning, type Reasoning } from "./chat_reasoning.ts";
import { flatName } from "./namespaces.ts";
import { type MovedPart, toolOutput } from "./tool_output.ts";

/** Input item with its path in the client's request. */
export interface PlacedItem {
  readonly item: JsonObject;
  readonly at: PathBelow;
}

/** Chat message for the upstream, with the client's paths of its parts. */
export interface PlacedMessage {
  readonly message: JsonObject;
  readonly at: PathBelow;
  readonly reasoningAt: PathBelow | null;
  readonly callsAt: readonly PathBelow[];
  /** Paths of the content parts; absent if they are those of the content of `at`. */
  readonly partsAt?: readonly PathBelow[];
}

interface Turn {
  readonly message: JsonObject;
  readonly at: PathBelow;
  readonly thought: Reasoning | null;
  readonly calls: PlacedItem[];
  readonly results: PlacedItem[];
  /** Images and files of the results, for a user message after them. */
  readonly moved: MovedPart[];
}

/** Tool call of an earlier item, and the turn that takes its result. */
interface SeenCall {
  readonly turn: Turn;
  readonly at: PathBelow;
  isAnswered: boolean;
}

/**
 * Translates input items into Chat messages. Adjacent tool calls and the text directly before them
 * form one message, and results follow the message of their call. If only the reasoning of the
 * current turn shall be sent, that before the last message of the user is left out. Refuses an item
 * without a counterpart in Chat.
 */
export function chatTurns(
  items: readonly PlacedItem[],
  wire: WireName,
  losses: Losses,
  isCurrentTurnOnly = false,
): Result<readonly PlacedMessage[]> {
  const turns: Turn[] = [];
  const seen = new Map<string, SeenCall>();
  const innerItems = newInnerItems();
  /** Last assistant message, while following tool calls still belong to it. */
  let open: Turn | null = null;
  let thought: Reasoning | null = null;

  function take({ item, at }: PlacedItem): Result<null> {
    switch (typeOf(item)) {
      case "message":
        return takeMessage(item, at);
      case "function_call":
        return takeCall(item, at);
      case "function_call_output":
        return takeResult(item, at);
      case "reasoning":
        return takeReasoning(item, at);
      case "item_reference":
      case null:
        return wrongValue(at(".id"), "the ID of a stored item");
      default:
        return unsupported(at(".type"));
    }
  }

  function takeMessage(item: JsonObject, at: PathBelow): Result<null> {
    const { role } = item;
    const status = statusProblem(item, at);
    if (status !== null) return status;
    if ((item.phase ?? null) !== null) losses.add(at(".phase"));
    if (role === "assistant") return takeSpoken(item, at);
    if (role !== "user" && role !== "system" && role !== "developer") {
      return wrongValue(at(".role"), "'user', 'assistant', 'system' or 'developer'");
    }
    const allowed = role === "user" ? ["input_image", "input_file"] as const : [];
    const content = chatContent(item.content, (below) => at(`.content${below}`), allowed, losses);
    if (!content.ok) return content;
    thought = null;
    open = null;
    turns.push(newTurn({ role, content: content.value }, at, null));
    return success(null);
  }

  function takeSpoken(item: JsonObject, at: PathBelow): Result<null> {
    const parsed = assistantContent(item.content, (below) => at(`.content${below}`), losses);
    if (!parsed.ok) return parsed;
    const { text, refusal } = parsed.value;
    // A response without output is stored as an empty message, which is not sent.
    if (text === "" && refusal === "") return success(null);
    open = spoken(text === "" ? null : text, at);
    if (refusal !== "") open.message.refusal = refusal;
    return success(null);
  }

  function spoken(content: JsonValue, at: PathBelow): Turn {
    const turn = newTurn({ role: "assistant", content, ...thought?.members }, at, thought);
    thought = null;
    turns.push(turn);
    return turn;
  }

  function takeCall(item: JsonObject, at: PathBelow): Result<null> {
    const { call_id: id, name, namespace } = item;
    const status = statusProblem(item, at);
    if (status !== null) return status;
    for (const member of ["call_id", "name", "arguments"]) {
      const value = item[member] ?? null;
      if (value === null) return missing(at(`.${member}`));
      if (typeof value !== "string") return wrongType(at(`.${member}`), "a string");
    }
    if (typeof id !== "string" || typeof name !== "string") return missing(at(".call_id"));
    if (seen.get(id)?.isAnswered === false) {
      return wrongValue(at(".call_id"), "different from that of a call without a result");
    }
    addCaller(item, at, losses);
    const isOpen = open !== null && thought === null && open.results.length === 0;
    const turn = isOpen && open !== null ? open : spoken(null, at);
    open = turn;
    const called = {
      name: typeof namespace === "string" ? flatName(namespace, name) : name,
      arguments: item.arguments,
    };
    turn.calls.push({ item: { id, type: "function", function: called }, at });
    seen.set(id, { turn, at, isAnswered: false });
    return success(null);
  }

  function takeResult(item: JsonObject, at: PathBelow): Result<null> {
    const { call_id: id } = item;
    const status = statusProblem(item, at);
    if (status !== null) return status;
    if (typeof id !== "string") return missing(at(".call_id"));
    const call = seen.get(id);
    if (call === undefined || call.isAnswered) {
      return wrongValue(at(".call_id"), "that of an earlier call without a result");
    }
    const output = toolOutput(item.output, id, (below) => at(`.output${below}`), wire, losses);
    if (!output.ok) return output;
    addCaller(item, at, losses);
    call.isAnswered = true;
    const message = { role: "tool", tool_call_id: id, content: output.value.content };
    call.turn.results.push({ item: message, at });
    pushAll(call.turn.moved, output.value.moved);
    return success(null);
  }

  function takeReasoning(item: JsonObject, at: PathBelow): Result<null> {
    const read = mergeReasoning(item, at, { wire, before: thought, innerItems, losses });
    if (!read.ok) return read;
    thought = read.value;
    return success(null);
  }

  const turnBegin = isCurrentTurnOnly ? items.findLastIndex(isOfUser) : 0;
  for (const [index, item] of items.entries()) {
    if (index < turnBegin && item.item.type === "reasoning") continue;
    const taken = take(item);
    if (!taken.ok) return taken;
  }
  const unanswered = [...seen.values()].find(({ isAnswered }) => !isAnswered);
  if (unanswered !== undefined) {
    return wrongValue(unanswered.at(".call_id"), "that of a call with a function_call_output");
  }
  return success(turns.flatMap(turnMessages));
}

function isOfUser({ item }: PlacedItem): boolean {
  return typeOf(item) === "message" && item.role === "user";
}

function newTurn(message: JsonObject, at: PathBelow, thought: Reasoning | null): Turn {
  return { message, at, thought, calls: [], results: [], moved: [] };
}

function turnMessages(
  { message, at, thought, calls, results, moved }: Turn,
): readonly PlacedMessage[] {
  const called = calls.length > 0 && { tool_calls: calls.map(({ item }) => item) };
  return [
    {
      message: { ...message, ...called },
      at,
      reasoningAt: thought?.at ?? null,
      callsAt: calls.map((call) => call.at),
    },
    ...results.map((result) => ({
      message: result.item,
      at: result.at,
      reasoningAt: null,
      callsAt: [],
    })),
    ...moved.length === 0 ? [] : [{
      message: { role: "user", content: moved.map(({ part }) => part) },
      at,
      reasoningAt: null,
      callsAt: [],
      partsAt: moved.map((one) => one.at),
    }],
  ];
}

/** Records the caller of an item unless it is the model, which is the only caller in Chat. */
function addCaller({ caller }: JsonObject, at: PathBelow, losses: Losses): void {
  if (isObject(caller) && caller.type !== "direct") losses.add(at(".caller"));
}

/**
 * Returns the refusal of an incomplete item, which looks complete in Chat, because Chat has no
 * status.
 */
function statusProblem({ status }: JsonObject, at: PathBelow): Result<never> | null {
  return (status ?? "completed") === "completed" ? null : unsupported(at(".status"));
}
