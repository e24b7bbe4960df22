import { isObject, type JsonDocument, type JsonValue } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Edit, parseElements, parseMembers, removeElements } from "../../../formats/edit.ts";
import { isSealed } from "../../reasoning/sealed_thinking.ts";

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

/** Returns the paths of sealed blocks in the form of the Messages API. */
export function sealedPaths(found: readonly SealedBlocks[]): readonly string[] {
  return found.flatMap(({ message, blocks }) =>
    blocks.map((block) => `messages.${message}.content.${block}`)
  );
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
