import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Edit, parseElements, parseMembers, removeElements } from "../../../formats/edit.ts";
import { isSealed } from "../../reasoning/sealed_thinking.ts";
import { effortPaths } from "./lowered_effort.ts";

/**
 * Thinking blocks of one message that this gateway made out of the response of another upstream.
 */
export interface SealedBlocks {
  /** Index of the message. */
  readonly message: number;
  /** Indexes of the blocks in the content of the message, in ascending order. */
  readonly blocks: readonly number[];
  /** True if the message has no other block. */
  readonly isAll: boolean;
}

/** Returns the sealed thinking blocks of the assistant messages of a request. */
export function sealedBlocks(messages: JsonValue | undefined): readonly SealedBlocks[] {
  if (!Array.isArray(messages)) return [];
  const found: SealedBlocks[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || message.role !== "assistant") continue;
    const { content } = message;
    if (!Array.isArray(content)) continue;
    if (!content.some(isSealedThinking)) continue;
    const blocks = [...content.keys()].filter((at) => isSealedThinking(content[at]));
    found.push({ message: index, blocks, isAll: blocks.length === content.length });
  }
  return found;
}

function isSealedThinking(block: JsonValue | undefined): boolean {
  return isObject(block) && block.type === "thinking" && typeof block.signature === "string" &&
    isSealed(block.signature);
}

/**
 * Returns the paths of sealed blocks in the form of the Messages API, `thinking` if the client asks
 * for what `thinkingOff` turns off, and each effort that is lowered with it.
 */
export function sealedPaths(
  request: JsonObject,
  found: readonly SealedBlocks[],
  isRefused = false,
): readonly string[] {
  const isOff = thinkingOff(request, found, isRefused).length > 0;
  const isLost = isOff && isObject(request.thinking);
  const cut = found.flatMap(({ message, blocks }) =>
    blocks.map((block) => `messages.${message}.content.${block}`)
  );
  return [...isLost ? ["thinking"] : [], ...isOff ? effortPaths(request) : [], ...cut];
}

/**
 * Returns the members that turn thinking off if sealed blocks are cut in the running tool loop, or
 * if the loop has no thinking although the client enables it; a null value removes a member. A
 * model that thinks refuses calls without the signed thinking before them, and newer models also
 * think without this field. With thinking off the API refuses to clear that of earlier turns. A
 * loop without thinking needs it also if the model has refused it (`isRefused`); then also one that
 * is followed by a text of the user, of which only the model knows whether it ends the loop.
 */
export function thinkingOff(
  { messages, thinking, context_management: context }: JsonObject,
  found: readonly SealedBlocks[],
  isRefused = false,
): readonly (readonly [key: string, valueText: string | null])[] {
  const type = isObject(thinking) ? thinking.type : null;
  const mayBeBare = type === "enabled" || isRefused;
  if (!Array.isArray(messages) || found.length === 0 && !mayBeBare) return [];
  if (type === "disabled") return [];
  const end = isRefused ? lastTurn(messages) : messages.length;
  const start = messages.findLastIndex((one, at) =>
    at < end && isObject(one) && one.role === "user" && !hasBlock(one, "tool_result")
  );
  const isCut = found.some(({ message }) =>
    message > start && hasBlock(messages[message], "tool_use")
  );
  if (!isCut && !(mayBeBare && isBareLoop(messages.slice(start + 1)))) return [];
  const cleared = isObject(context) ? context : {};
  const edits = Array.isArray(cleared.edits) ? cleared.edits : [];
  const others = edits.filter((edit) =>
    !isObject(edit) || typeof edit.type !== "string" || !edit.type.startsWith("clear_thinking_")
  );
  const left = others.length === 0 ? null : JSON.stringify({ ...cleared, edits: others });
  return [
    ["thinking", '{"type":"disabled"}'],
    ...others.length < edits.length ? [["context_management", left]] as const : [],
  ];
}

/** Returns the index of the last message of the assistant; -1 if there is none. */
function lastTurn(messages: readonly JsonValue[]): number {
  return messages.findLastIndex((one) => isObject(one) && one.role === "assistant");
}

/**
 * True if the running tool loop has no thinking, and only the model knows whether it needs some:
 * with `adaptive` it may have called at once.
 */
export function mayLackThinking(request: JsonObject, found: readonly SealedBlocks[]): boolean {
  return thinkingOff(request, found).length === 0 && thinkingOff(request, found, true).length > 0;
}

/**
 * True if a tool loop has calls and no thinking at all. With `enabled` the model always thinks
 * before its first call, so the API would refuse the loop: it has come from elsewhere, or its
 * thinking is lost.
 */
function isBareLoop(loop: readonly JsonValue[]): boolean {
  return loop.some((one) => hasBlock(one, "tool_use")) &&
    !loop.some((one) => hasBlock(one, "thinking") || hasBlock(one, "redacted_thinking"));
}

function hasBlock(message: JsonValue | undefined, type: string): boolean {
  return isObject(message) && Array.isArray(message.content) &&
    message.content.some((block) => isObject(block) && block.type === type);
}

/**
 * Returns the edits that cut sealed blocks out of the text of a request, and with them the messages
 * that have no other block.
 */
export function cutEdits(
  { text, members }: JsonDocument,
  found: readonly SealedBlocks[],
): readonly Edit[] {
  const list = members.find(({ key }) => key === "messages");
  if (list === undefined || found.length === 0) return [];
  const messages = parseElements(text, list.start);
  const emptied = new Set(found.filter(({ isAll }) => isAll).map(({ message }) => message));
  const edits = removeElements(messages, (index) => emptied.has(index));
  for (const { message, blocks, isAll } of found) {
    if (isAll) continue;
    // Of a repeated key the last one counts, as in `JSON.parse`.
    const content = parseMembers(text, messages[message]?.start)
      .findLast(({ key }) => key === "content");
    const cut = new Set(blocks);
    const spans = content === undefined ? [] : parseElements(text, content.start);
    pushAll(edits, removeElements(spans, (index) => cut.has(index)));
  }
  return edits;
}
