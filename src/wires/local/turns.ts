import { isObject, type JsonObject } from "../../core/json/json.ts";
import { refuse, type Result, success } from "../../core/result.ts";
import { mapCalls } from "../chat_request/chat_calls.ts";
import { parseCitations } from "../chat_request/citations.ts";
import { newSentBackFilter } from "../../prompt/chat/sent_back.ts";
import { type Content, parseContent, type PartType } from "./content.ts";
import type { Losses } from "../chat_request/losses.ts";
import { FIELDS } from "./fields.ts";
import {
  missing,
  type Optional,
  parseArguments,
  unknownMember,
  wrongType,
} from "../chat_request/refusals.ts";

/** Function names of the calls so far, by call ID. */
type Calls = Map<string, string>;

/**
 * Returns the messages of a Chat request for the local runtime, in the same number and order. Roles
 * are unchanged, except that developer becomes system and function becomes tool. A Refusal names
 * the field that cannot be translated. An empty list is refused, because the runtime would respond
 * without generating.
 */
export function encodeTurns(
  messages: Optional,
  losses: Losses,
): Result<readonly JsonObject[]> {
  if (!Array.isArray(messages)) return wrongType("messages", "an array");
  if (messages.length === 0) {
    return refuse("invalid_value", "'messages' must hold at least one message.", "messages");
  }
  const calls: Calls = new Map();
  const filter = newSentBackFilter();
  const turns: JsonObject[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) return wrongType(path, "an object");
    const plain = filter(message, path);
    if (!plain.ok) return plain;
    const turn = encodeTurn(plain.value, path, calls, losses);
    if (!turn.ok) return turn;
    turns.push(turn.value);
  }
  return success(turns);
}

function encodeTurn(
  message: JsonObject,
  path: string,
  calls: Calls,
  losses: Losses,
): Result<JsonObject> {
  switch (message.role) {
    case "system":
    case "developer":
      return plainTurn("system", message, path, ["text"], losses);
    case "user":
      return plainTurn("user", message, path, ["text", "image_url"], losses);
    case "assistant":
      return assistantTurn(message, path, calls, losses);
    case "tool":
      return toolTurn(message, path, calls, losses);
    case "function":
      return functionTurn(message, path, losses);
    default:
      return refuse("invalid_value", `'${path}.role' is not a known role.`, `${path}.role`);
  }
}

function plainTurn(
  role: "system" | "user",
  message: JsonObject,
  path: string,
  parts: readonly PartType[],
  losses: Losses,
): Result<JsonObject> {
  const unknown = unknownMember(message, FIELDS.members(`messages[${role}]`), path);
  if (unknown !== null) return unknown;
  const content = requiredContent(message, path, parts, losses);
  return content.ok ? success({ role, ...encodeContent(content.value) }) : content;
}

function requiredContent(
  message: JsonObject,
  path: string,
  parts: readonly PartType[],
  losses: Losses,
): Result<Content> {
  const content = message.content ?? null;
  return content === null
    ? missing(`${path}.content`)
    : parseContent(content, `${path}.content`, parts, losses);
}

function encodeContent({ text, images }: Content): JsonObject {
  return images.length === 0 ? { content: text } : { content: text, images: [...images] };
}

function assistantTurn(
  message: JsonObject,
  path: string,
  calls: Calls,
  losses: Losses,
): Result<JsonObject> {
  const unknown = unknownMember(message, FIELDS.members("messages[assistant]"), path);
  if (unknown !== null) return unknown;
  // The runtime has no citations: the text is sent without them.
  const citations = parseCitations(message.annotations, `${path}.annotations`);
  if (!citations.ok) return citations;
  const content = parseContent(
    message.content ?? "",
    `${path}.content`,
    ["text", "refusal"],
    losses,
  );
  if (!content.ok) return content;
  const refusal = message.refusal ?? "";
  if (typeof refusal !== "string") return wrongType(`${path}.refusal`, "a string");
  if (refusal !== "") losses.add(`${path}.refusal`);
  const thinking = message.reasoning_content ?? "";
  if (typeof thinking !== "string") return wrongType(`${path}.reasoning_content`, "a string");
  const made = encodeCalls(message, path, calls);
  if (!made.ok) return made;
  return success({
    role: "assistant",
    content: content.value.text + refusal,
    ...(thinking === "" ? {} : { thinking }),
    ...(made.value.length === 0 ? {} : { tool_calls: [...made.value] }),
  });
}

function encodeCalls(
  message: JsonObject,
  path: string,
  calls: Calls,
): Result<readonly JsonObject[]> {
  return mapCalls(message, path, ["function"], ({ id, name, text, textPath }, index) => {
    // The runtime requires an object where Chat has its text.
    const parsed = parseArguments(text, textPath);
    if (!parsed.ok) return parsed;
    const called = { index, name, arguments: parsed.value };
    if (id === null) return success({ function: called });
    calls.set(id, name);
    return success({ id, function: called });
  });
}

function toolTurn(
  message: JsonObject,
  path: string,
  calls: Calls,
  losses: Losses,
): Result<JsonObject> {
  const unknown = unknownMember(message, FIELDS.members("messages[tool]"), path);
  if (unknown !== null) return unknown;
  const content = requiredContent(message, path, ["text", "image_url"], losses);
  if (!content.ok) return content;
  const id = message.tool_call_id;
  if (typeof id !== "string") return missing(`${path}.tool_call_id`);
  const name = calls.get(id);
  if (name === undefined) {
    return refuse(
      "invalid_value",
      `'${path}.tool_call_id' names no tool call of an earlier message.`,
      `${path}.tool_call_id`,
    );
  }
  return success({
    role: "tool",
    ...encodeContent(content.value),
    tool_name: name,
    tool_call_id: id,
  });
}

function functionTurn(
  message: JsonObject,
  path: string,
  losses: Losses,
): Result<JsonObject> {
  const unknown = unknownMember(message, FIELDS.members("messages[function]"), path);
  if (unknown !== null) return unknown;
  const content = parseContent(message.content ?? "", `${path}.content`, ["text"], losses);
  if (!content.ok) return content;
  if (typeof message.name !== "string") return missing(`${path}.name`);
  return success({ role: "tool", ...encodeContent(content.value), tool_name: message.name });
}
