import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { hasReasoningText, type PastReasoning } from "../chat_request/past_reasoning.ts";
import type { Optional } from "../chat_request/refusals.ts";

/** Returns a message with its thinking as far as it is known. */
export type ThinkingRestorer = (message: JsonObject, index: number) => JsonObject;

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
    if (message.role !== "assistant" || hasBlocks(message.thinking_blocks)) return message;
    const blocks = past.find(index);
    if (blocks !== null) return { ...message, thinking_blocks: blocks.map(({ value }) => value) };
    if (index > lastUser || !hasReasoningText(message)) return message;
    past.drop(index);
    return { ...message, reasoning_content: null };
  };
}

/** True if the client has sent thinking blocks, or another value in their place. */
function hasBlocks(given: Optional): boolean {
  return Array.isArray(given) ? given.length > 0 : (given ?? null) !== null;
}
