import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { textContent } from "../../../prompt/content.ts";
import { newInnerItems } from "../../../prompt/inner_json.ts";
import type {
  FieldRef,
  Message,
  Part,
  Prompt,
  ToolCall,
  ToolResult,
} from "../../../prompt/prompt.ts";
import { allIn, requiredText } from "../../../prompt/read.ts";
import { missing, unsupported, wrongValue } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { typeOf } from "../../items/item_type.ts";
import { flatNameIn } from "./namespaces.ts";
import { parseAssistantTexts, parseContent } from "./parse_content.ts";
import { mergeReasoning, type Reasoning } from "./parse_reasoning.ts";
import { parseToolOutput } from "./tool_output.ts";

/** Input item with its path in the client's request. */
export interface PlacedItem {
  readonly item: JsonObject;
  readonly path: string;
}

/** Context in which items are parsed. */
interface ItemOptions {
  readonly wire: WireName;
  readonly carrier: Carrier;
  /** True if the reasoning before the last message of the user is left out. */
  readonly isCurrentTurnOnly?: boolean;
}

interface Turn {
  readonly message: Message;
  /** Signatures of a Chat host; null for none. */
  signed: Reasoning["signed"];
  readonly calls: ToolCall[];
  readonly results: ToolResult[];
  /** Images and files of the results, for a user message after them. */
  readonly moved: Part[];
}

/** Tool call of an earlier item, and the turn that takes its result. */
interface SeenCall {
  readonly turn: Turn;
  readonly call: ToolCall;
  readonly idAt: FieldRef;
  isAnswered: boolean;
}

/**
 * Returns the messages of input items. Adjacent tool calls and the text directly before them form
 * one message, and results follow the message of their call. A Refusal names the item, or the field
 * of it, that is wrong or not carried.
 */
export function parseItems(
  items: readonly PlacedItem[],
  { wire, carrier, isCurrentTurnOnly = false }: ItemOptions,
): Result<Prompt["messages"]> {
  const turns: Turn[] = [];
  const seen = new Map<string, SeenCall>();
  const innerItems = newInnerItems();
  /** Last assistant message, while following tool calls still belong to it. */
  let open: Turn | null = null;
  let thought: Reasoning | null = null;

  function take({ item, path }: PlacedItem): Result<unknown> {
    switch (typeOf(item)) {
      case "message":
        return takeMessage(item, path);
      case "function_call":
        return takeCall(item, path, "function");
      case "custom_tool_call":
        return takeCall(item, path, "custom");
      case "function_call_output":
      case "custom_tool_call_output":
        return takeResult(item, path);
      case "reasoning": {
        const merged = mergeReasoning(item, path, { wire, before: thought, innerItems, carrier });
        if (merged.ok) thought = isOfOpenTurn(merged.value) ? null : merged.value;
        return merged;
      }
      case "item_reference":
      case null:
        return wrongValue(`${path}.id`, "the ID of a stored item");
      default:
        return unsupported(`${path}.type`);
    }
  }

  /**
   * True if the reasoning only holds what a Chat host has signed of the open message, which it is
   * added to: a host may sign a call after the text or the call before it.
   */
  function isOfOpenTurn(merged: Reasoning | null): boolean {
    if (merged === null || merged.signed === null || merged.text !== "") return false;
    if (open === null || open.results.length > 0) return false;
    if (open.signed === null) open.signed = merged.signed;
    else pushAll(open.signed.value, merged.signed.value);
    return true;
  }

  function takeMessage(item: JsonObject, path: string): Result<unknown> {
    const { role } = item;
    const status = statusProblem(item, path);
    if (status !== null) return status;
    if ((item.phase ?? null) !== null) carrier.lose(`${path}.phase`);
    if (role === "assistant") return takeSpoken(item, path);
    if (role !== "user" && role !== "system" && role !== "developer") {
      return wrongValue(`${path}.role`, "'user', 'assistant', 'system' or 'developer'");
    }
    const at: FieldRef = { field: `messages[${role}]`, path };
    const allowed = role === "user"
      ? { role, media: role } as const
      : { role: "system", media: null } as const;
    const content = parseContent(item.content, `${path}.content`, allowed, carrier);
    if (!content.ok) return content;
    const refused = carrier.use(at);
    if (refused !== null) return refused;
    thought = null;
    open = null;
    const turn = { at, content: content.value, cache: null };
    turns.push(newTurn(
      role === "user" ? { kind: "user", ...turn } : { kind: "instruction", role, ...turn },
    ));
    return content;
  }

  function takeSpoken(item: JsonObject, path: string): Result<unknown> {
    const contentPath = `${path}.content`;
    const parsed = parseAssistantTexts(item.content, contentPath, carrier);
    if (!parsed.ok) return parsed;
    const { text, refusal } = parsed.value;
    // A response without output is stored as an empty message, which is not sent.
    if (text === "" && refusal === "") return parsed;
    const refusalAt = { field: "messages[assistant].refusal", path: contentPath } as const;
    const refused = refusal === "" ? null : carrier.use(refusalAt);
    return refused ?? speak(path, {
      content: text === ""
        ? null
        : textContent(text, { field: "messages[assistant].content", path: contentPath }),
      refusal: refusal === "" ? null : { value: refusal, at: refusalAt },
    });
  }

  /** Adds an assistant message with the reasoning before it. */
  function speak(
    path: string,
    own: Pick<Message & { readonly kind: "assistant" }, "content" | "refusal">,
  ): Result<Turn> {
    const at: FieldRef = { field: "messages[assistant]", path };
    const { text, blocks, signed, path: thoughtPath } = thought ??
      { text: "", blocks: [], signed: null, path };
    const reasoningAt = {
      field: "messages[assistant].reasoning_content",
      path: thoughtPath,
    } as const;
    const refused = carrier.use(at) ?? (text === "" ? null : carrier.use(reasoningAt));
    if (refused !== null) return refused;
    thought = null;
    open = newTurn({
      kind: "assistant",
      at,
      ...own,
      cache: null,
      citations: null,
      reasoning: text === "" ? null : { value: text, at: reasoningAt },
      thinking: blocks,
      calls: [],
      signed: null,
      stored: null,
    }, signed);
    turns.push(open);
    return success(open);
  }

  function takeCall(item: JsonObject, path: string, kind: ToolCall["kind"]): Result<unknown> {
    const rows = `messages[assistant].tool_calls[${kind}]` as const;
    const member = kind === "function" ? "arguments" : "input";
    const at: FieldRef = { field: `${rows}.id`, path, refusedPath: `${path}.type` };
    const status = statusProblem(item, path) ?? carrier.use(at);
    if (status !== null) return status;
    const read = allIn({
      id: requiredText(item.call_id, { field: `${rows}.id`, path: `${path}.call_id` }),
      name: requiredText(item.name, { ...at, path: `${path}.name` }),
      text: requiredText(item[member], { ...at, path: `${path}.${member}` }),
    });
    if (!read.ok) return read;
    const { id, name: { value: name }, text } = read.value;
    if (seen.get(id.value)?.isAnswered === false) {
      return wrongValue(id.at.path, "different from that of a call without a result");
    }
    loseCaller(item, path, carrier);
    const isOpen = open !== null && thought === null && open.results.length === 0;
    const turn = isOpen && open !== null
      ? success(open)
      : speak(path, { content: null, refusal: null });
    if (!turn.ok) return turn;
    const call: ToolCall = {
      kind,
      at,
      id,
      name: flatNameIn(item.namespace, name),
      text,
    };
    turn.value.calls.push(call);
    seen.set(id.value, { turn: turn.value, call, idAt: id.at, isAnswered: false });
    return turn;
  }

  function takeResult(item: JsonObject, path: string): Result<unknown> {
    const at: FieldRef = { field: "messages[tool]", path };
    const problem = statusProblem(item, path) ?? carrier.use(at);
    if (problem !== null) return problem;
    const { call_id: id } = item;
    const idAt: FieldRef = { field: "messages[tool].tool_call_id", path: `${path}.call_id` };
    if (typeof id !== "string") return missing(idAt.path);
    const called = seen.get(id);
    if (called === undefined || called.isAnswered) {
      return wrongValue(idAt.path, "that of an earlier call without a result");
    }
    const output = parseToolOutput(item.output, id, `${path}.output`, { wire, carrier });
    if (!output.ok) return output;
    loseCaller(item, path, carrier);
    called.isAnswered = true;
    const { turn, call } = called;
    const { content, moved } = output.value;
    const callId = { value: id, at: idAt };
    turn.results.push({ kind: "result", at, callId, name: null, call, content, cache: null });
    pushAll(turn.moved, moved);
    return output;
  }

  const turnBegin = isCurrentTurnOnly ? items.findLastIndex(isOfUser) : 0;
  for (const [index, item] of items.entries()) {
    if (index < turnBegin && item.item.type === "reasoning") continue;
    const taken = take(item);
    if (!taken.ok) return taken;
  }
  const unanswered = [...seen.values()].find(({ isAnswered }) => !isAnswered);
  if (unanswered !== undefined) {
    return wrongValue(unanswered.idAt.path, "that of a call with a function_call_output");
  }
  return success(turns.flatMap(turnMessages));
}

function isOfUser({ item }: PlacedItem): boolean {
  return typeOf(item) === "message" && item.role === "user";
}

function newTurn(message: Message, signed: Reasoning["signed"] = null): Turn {
  return { message, signed, calls: [], results: [], moved: [] };
}

function turnMessages({ message, signed, calls, results, moved }: Turn): Prompt["messages"] {
  const own = message.kind === "assistant" ? { ...message, signed, calls } : message;
  if (moved.length === 0) return [own, ...results];
  const { path } = message.at;
  const content = {
    at: { field: "messages[user].content", path: `${path}.content` },
    isString: false,
    parts: moved,
  } as const;
  const at = { field: "messages[user]", path } as const;
  return [own, ...results, { kind: "user", at, content, cache: null }];
}

/** Records the caller of an item unless it is the model, which is the only caller in a prompt. */
function loseCaller({ caller }: JsonObject, path: string, carrier: Carrier): void {
  if (isObject(caller) && caller.type !== "direct") carrier.lose(`${path}.caller`);
}

/**
 * Returns the refusal of an incomplete item, which looks complete in a prompt, because it has no
 * status.
 */
function statusProblem({ status }: JsonObject, path: string): Result<never> | null {
  return (status ?? "completed") === "completed" ? null : unsupported(`${path}.status`);
}
