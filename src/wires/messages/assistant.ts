import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { mapCalls } from "../chat_request/chat_calls.ts";
import { parseCitations } from "../chat_request/citations.ts";
import type { Losses } from "../chat_request/losses.ts";
import { encodeContent, textBlocks } from "./content.ts";
import {
  type Optional,
  parseArguments,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import type { Members } from "../../prompt/field_table.ts";
import { FIELDS } from "./fields.ts";
import { toolId } from "./ids.ts";
import { placeThinking, type RestoredMessage } from "./past_thinking.ts";

type Blocks = Result<readonly JsonObject[]>;

const MEMBERS = FIELDS.members("messages[assistant]");

const THINKING_MEMBERS: ReadonlyMap<Optional, Members> = new Map([
  ["thinking", FIELDS.members("messages[assistant].thinking_blocks[thinking]")],
  ["redacted_thinking", FIELDS.members("messages[assistant].thinking_blocks[redacted_thinking]")],
]);

/**
 * Returns the blocks of an assistant message in the order that the Messages API requires: thinking,
 * text, tool calls; stored thinking in the order of the response. `legacyId` is the ID for the message's
 * `function_call`, which has none.
 */
export function assistantBlocks(
  { message, stored }: RestoredMessage,
  path: string,
  legacyId: string,
  losses: Losses,
): Blocks {
  const unknown = unknownMember(message, MEMBERS, path);
  if (unknown !== null) return unknown;
  // The text is sent without its citations, which no block of a client can hold.
  const citations = parseCitations(message.annotations, `${path}.annotations`);
  if (!citations.ok) return citations;
  const refusal = message.refusal ?? "";
  if (typeof refusal !== "string") return wrongType(`${path}.refusal`, "a string");
  if (refusal !== "") losses.add(`${path}.refusal`);
  const thinking = thinkingBlocks(message, path);
  if (!thinking.ok) return thinking;
  const content = encodeContent(
    message.content ?? "",
    `${path}.content`,
    ["text", "refusal"],
    losses,
  );
  if (!content.ok) return content;
  const calls = callBlocks(message, path, legacyId);
  if (!calls.ok) return calls;
  const said = [...content.value, ...textBlocks(refusal)];
  return success(
    stored.length > 0
      ? placeThinking(stored, said, calls.value)
      : [...thinking.value, ...said, ...calls.value],
  );
}

function thinkingBlocks(message: JsonObject, path: string): Blocks {
  const blocks = message.thinking_blocks ?? [];
  const at = `${path}.thinking_blocks`;
  if (!Array.isArray(blocks)) return wrongType(at, "an array");
  // Reasoning without thinking blocks cannot be sent, because its signature is unknown. Beside
  // blocks it only repeats them.
  if (blocks.length === 0 && (message.reasoning_content ?? "") !== "") {
    return unsupported(`${path}.reasoning_content`, "Send the 'thinking_blocks' of the answer.");
  }
  const encoded: JsonObject[] = [];
  for (const [index, block] of blocks.entries()) {
    const place = `${at}[${index}]`;
    if (!isObject(block)) return wrongType(place, "an object");
    const members = THINKING_MEMBERS.get(block.type);
    if (members === undefined) return unsupported(`${place}.type`);
    const unknown = unknownMember(block, members, place);
    if (unknown !== null) return unknown;
    const lacking = members.find((member) => typeof block[member] !== "string");
    if (lacking !== undefined) return unsupported(`${place}.${lacking}`, "It must be a string.");
    encoded.push(block);
  }
  return success(encoded);
}

function callBlocks(message: JsonObject, path: string, legacyId: string): Blocks {
  return mapCalls(message, path, ["function"], ({ id, name, text, textPath }) => {
    const input = parseArguments(text, textPath);
    if (!input.ok) return input;
    const own = id === null ? legacyId : toolId(id);
    return success({ type: "tool_use", id: own, name, input: input.value });
  });
}
