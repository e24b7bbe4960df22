import type { JsonObject } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/reasoning.ts";
import type { Losses } from "./losses.ts";
import type { ChatRequest } from "./chat_request.ts";

/** Stored reasoning of the assistant messages of a request, for one account. */
export interface PastReasoning {
  /**
   * Returns the blocks of the message at an index; null if none of this account are stored. Those of another
   * account are recorded as lost, unless the message has a text for them.
   */
  find(message: JsonObject, index: number): readonly ReasoningBlock[] | null;
  /** Records that the reasoning text of the message at an index is not sent. */
  drop(index: number): void;
}

/**
 * Returns the stored reasoning of a request for an account. Only the account that has signed or
 * encrypted a block accepts it.
 */
export function newPastReasoning(
  { reasoning }: ChatRequest,
  account: string,
  losses: Losses,
): PastReasoning {
  return {
    find(message, index) {
      const found = reasoning?.get(index);
      if (found?.account === account) return found.blocks;
      if (found !== undefined && !hasReasoningText(message)) losses.add(`messages[${index}]`);
      return null;
    },
    drop(index) {
      losses.add(`messages[${index}].reasoning_content`);
    },
  };
}

/** True if a message has a reasoning text. */
export function hasReasoningText({ reasoning_content: text }: JsonObject): boolean {
  return typeof text === "string" && text !== "";
}
