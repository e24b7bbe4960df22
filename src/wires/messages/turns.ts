import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/result.ts";
import { assistantBlocks } from "./assistant.ts";
import { encodeContent, withCacheControl } from "./content.ts";
import {
  missing,
  type Optional,
  unknownMember,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";
import type { PastReasoning } from "../chat_request/past_reasoning.ts";
import { newSentBackFilter } from "../../prompt/chat/sent_back.ts";
import type { Losses } from "../chat_request/losses.ts";
import { newOpenCalls } from "../../prompt/chat/open_calls.ts";
import { FIELDS } from "./fields.ts";
import { toolId } from "./ids.ts";
import { newThinkingRestorer, type RestoredMessage } from "./past_thinking.ts";

/** One message of the upstream request, before its form is chosen. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: readonly JsonObject[];
  /** Path of its first client message. */
  readonly path: string;
  /** True if the client sent a string instead of parts. */
  readonly isText: boolean;
}

/** A turn to which messages are still added: copying on each merge would take quadratic time. */
interface OpenTurn extends Pick<Turn, "role" | "path"> {
  readonly blocks: JsonObject[];
  isText: boolean;
}

/** The translation of one client message: a turn or system instructions. */
type Piece = Result<Turn | { readonly role: "system"; readonly blocks: readonly JsonObject[] }>;

/**
 * Returns `system` and `messages` of a Messages request. Instructions move to `system`, tool
 * results become user messages, and adjacent messages of one role are merged, with results first
 * (Messages API, tool use). A Refusal names the field that cannot be translated.
 */
export function encodeTurns(
  messages: Optional,
  past: PastReasoning,
  losses: Losses,
): Result<JsonObject> {
  if ((messages ?? null) === null) return missing("messages");
  if (!Array.isArray(messages)) return wrongType("messages", "an array");
  const system: JsonObject[] = [];
  const dialogue: OpenTurn[] = [];
  const filter = newSentBackFilter();
  const restore = newThinkingRestorer(messages, past);
  const read = newMessageEncoder(losses);
  let last = "";
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) return wrongType(path, "an object");
    const plain = filter(message, path);
    if (!plain.ok) return plain;
    const piece = read(restore(plain.value, index), path);
    if (!piece.ok) return piece;
    if (piece.value.role === "system") {
      pushAll(system, piece.value.blocks);
      if (dialogue.length > 0 && piece.value.blocks.length > 0) losses.add(path);
    } else {
      join(dialogue, piece.value);
      last = path;
    }
  }
  const [first] = dialogue;
  if (first === undefined) return wrongValue("messages", "a list with a user message");
  if (first.role !== "user") return wrongValue(`${first.path}.role`, "'user' in the first message");
  // The model continues the text of a last assistant message and begins no turn.
  if (dialogue.at(-1)?.role === "assistant") losses.add(last);
  return success({ ...encodeSystem(system), messages: dialogue.map(encodeTurn) });
}

/**
 * Returns a parser for one message after another. A result of a legacy function needs the calls
 * before it.
 */
function newMessageEncoder(losses: Losses): (restored: RestoredMessage, path: string) => Piece {
  const open = newOpenCalls<string>();

  function read(restored: RestoredMessage, path: string): Piece {
    const { message } = restored;
    switch (message.role) {
      case "system":
      case "developer":
        return systemPiece(message, path, losses);
      case "user":
        return userPiece(message, path, losses);
      case "assistant":
        return assistantPiece(restored, path);
      case "tool":
        return toolPiece(message, path, losses);
      case "function":
        return functionPiece(message, path);
      default:
        return wrongValue(`${path}.role`, "a known role");
    }
  }

  function assistantPiece(restored: RestoredMessage, path: string): Piece {
    const { message } = restored;
    const id = `function_call_${path.replace(/\D/g, "")}`;
    const made = assistantBlocks(restored, path, id, losses);
    if (!made.ok) return made;
    if (isObject(message.function_call)) open.add(message.function_call.name, id);
    const blocks = withCacheControl(made.value, message, path);
    if (!blocks.ok) return blocks;
    const isText = typeof message.content === "string" && blocks.value.length === 1;
    return success({ role: "assistant", blocks: blocks.value, path, isText });
  }

  function functionPiece(message: JsonObject, path: string): Piece {
    const unknown = unknownMember(message, FIELDS.members("messages[function]"), path);
    if (unknown !== null) return unknown;
    const id = open.take(message.name);
    if (id === null) return wrongValue(`${path}.name`, "the name of a call without a result");
    return resultPiece({ ...message, content: message.content ?? "" }, path, id, losses);
  }

  return read;
}

function systemPiece(message: JsonObject, path: string, losses: Losses): Piece {
  const blocks = plainBlocks(message, path, "system", ["text"], losses);
  if (!blocks.ok) return blocks;
  // The upstream refuses instructions of only whitespace.
  const visible = blocks.value.filter(({ text }) => typeof text === "string" && text.trim() !== "");
  return success({ role: "system", blocks: visible });
}

function userPiece(message: JsonObject, path: string, losses: Losses): Piece {
  const blocks = plainBlocks(message, path, "user", ["text", "image_url", "file"], losses);
  if (!blocks.ok) return blocks;
  if (blocks.value.length === 0) return wrongValue(`${path}.content`, "a text or parts, not empty");
  const isText = typeof message.content === "string";
  return success({ role: "user", blocks: blocks.value, path, isText });
}

function plainBlocks(
  message: JsonObject,
  path: string,
  role: "system" | "user",
  allowed: Parameters<typeof encodeContent>[2],
  losses: Losses,
): Result<readonly JsonObject[]> {
  const unknown = unknownMember(message, FIELDS.members(`messages[${role}]`), path);
  if (unknown !== null) return unknown;
  const content = message.content ?? null;
  if (content === null) return missing(`${path}.content`);
  const blocks = encodeContent(content, `${path}.content`, allowed, losses);
  return blocks.ok ? withCacheControl(blocks.value, message, path) : blocks;
}

function toolPiece(message: JsonObject, path: string, losses: Losses): Piece {
  const unknown = unknownMember(message, FIELDS.members("messages[tool]"), path);
  if (unknown !== null) return unknown;
  const { tool_call_id: id } = message;
  if (typeof id !== "string") return missing(`${path}.tool_call_id`);
  return resultPiece(message, path, toolId(id), losses);
}

/** Returns the turn of a tool result. `is_error` is never guessed from the text. */
function resultPiece(message: JsonObject, path: string, id: string, losses: Losses): Piece {
  const content = message.content ?? null;
  if (content === null) return missing(`${path}.content`);
  const parts = encodeContent(content, `${path}.content`, ["text", "image_url", "file"], losses);
  if (!parts.ok) return parts;
  const shape: JsonValue = typeof content === "string" ? content : [...parts.value];
  const result = { type: "tool_result", tool_use_id: id, content: shape };
  const blocks = withCacheControl([result], message, path);
  return blocks.ok ? success({ role: "user", blocks: blocks.value, path, isText: false }) : blocks;
}

/** Adds a turn to the conversation, merged into the last one if both have the same role. */
function join(dialogue: OpenTurn[], turn: Turn): void {
  const last = dialogue.at(-1);
  if (last?.role !== turn.role) {
    dialogue.push({ ...turn, blocks: [...turn.blocks] });
    return;
  }
  pushAll(last.blocks, turn.blocks);
  last.isText = false;
}

function encodeTurn({ role, blocks, isText }: Turn): JsonObject {
  const [first] = blocks;
  // Only an assistant turn can be empty, and only as a string.
  if (first === undefined) return { role, content: "" };
  if (isText && isBareText(first)) return { role, content: first.text };
  const results = blocks.filter(({ type }) => type === "tool_result");
  const others = blocks.filter(({ type }) => type !== "tool_result");
  return { role, content: [...results, ...others] };
}

function isBareText(block: JsonObject): boolean {
  return block.type === "text" && block.cache_control === undefined;
}

function encodeSystem(blocks: readonly JsonObject[]): JsonObject {
  const [first] = blocks;
  if (first === undefined) return {};
  return { system: blocks.length === 1 && isBareText(first) ? first.text : [...blocks] };
}
