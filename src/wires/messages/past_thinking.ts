import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/reasoning.ts";
import { hasReasoningText, type PastReasoning } from "../chat_request/past_reasoning.ts";
import type { Optional } from "../chat_request/refusals.ts";

/** A message with its thinking as far as it is known. */
export interface RestoredMessage {
  readonly message: JsonObject;
  /** Stored thinking blocks with their places, which are the `thinking_blocks` of the message; empty if it has its own. */
  readonly stored: readonly ReasoningBlock[];
}

/** Returns a message with its thinking. */
export type ThinkingRestorer = (message: JsonObject, index: number) => RestoredMessage;

/**
 * Returns the restorer for the messages of one request. It puts stored thinking blocks into assistant
 * messages without any. A reasoning text without stored blocks is left out before the last user
 * message, because the upstream ignores the thinking of earlier turns (Messages API, extended
 * thinking). After it, the text remains and is refused later: a tool loop cannot be continued without
 * its signed thinking.
 */
export function newThinkingRestorer(
  messages: readonly JsonValue[],
  past: PastReasoning,
): ThinkingRestorer {
  const lastUser = messages.findLastIndex((one) => isObject(one) && one.role === "user");
  return (message, index) => {
    if (message.role !== "assistant" || hasBlocks(message.thinking_blocks)) return own(message);
    const stored = past.find(message, index);
    if (stored !== null) {
      const blocks = stored.map(({ value }) => value);
      return { message: { ...message, thinking_blocks: blocks }, stored };
    }
    if (index > lastUser || !hasReasoningText(message)) return own(message);
    past.drop(index);
    return own({ ...message, reasoning_content: null });
  };
}

function own(message: JsonObject): RestoredMessage {
  return { message, stored: [] };
}

/**
 * Returns the texts and calls of a message with its stored thinking blocks where the model had written them.
 * A client sends one text for all texts of the response, so the text is divided at the place of a block. No
 * part is only white space, which the upstream refuses.
 */
export function placeThinking(
  stored: readonly ReasoningBlock[],
  said: readonly JsonObject[],
  calls: readonly JsonObject[],
): readonly JsonObject[] {
  const placed: JsonObject[] = [];
  let next = 0;
  let textBefore = 0;
  for (const block of said) {
    const text = typeof block.text === "string" ? block.text : "";
    const end = text.trimEnd().length;
    let from = 0;
    let visible = text.search(/\S/);
    for (let one = stored[next]; one?.callsBefore === 0; one = stored[++next]) {
      const place = (one.textBefore ?? 0) - textBefore;
      if (place >= end) break;
      if (place > visible) {
        placed.push({ type: "text", text: text.slice(from, place) });
        from = place;
        visible = from + text.slice(from).search(/\S/);
      }
      placed.push(one.value);
    }
    placed.push(from === 0 ? block : { ...block, text: text.slice(from) });
    textBefore += text.length;
  }
  for (const [index, call] of calls.entries()) {
    for (
      let one = stored[next];
      one !== undefined && one.callsBefore <= index;
      one = stored[++next]
    ) {
      placed.push(one.value);
    }
    placed.push(call);
  }
  return [...placed, ...stored.slice(next).map(({ value }) => value)];
}

/** True if the client has sent thinking blocks, or another value in their place. */
function hasBlocks(given: Optional): boolean {
  return Array.isArray(given) ? given.length > 0 : (given ?? null) !== null;
}
