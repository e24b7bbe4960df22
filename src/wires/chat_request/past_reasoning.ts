import type { JsonObject } from "../../core/json/json.ts";
import type { ReasoningBlock } from "../../core/reasoning.ts";
import type { ChatRequest } from "./chat_request.ts";

/** Stored reasoning of the assistant messages of a request, for one account. */
export interface PastReasoning {
  /** Returns the blocks of the message at an index; null if none of this account are stored. */
  find(index: number): readonly ReasoningBlock[] | null;
  /** Notes that the reasoning text of the message at an index is not sent. */
  drop(index: number): void;
  /** Returns the paths of the reasoning texts that are not sent. */
  dropped(): readonly string[];
}

/**
 * Returns the stored reasoning of a request for an account. Only the account that has signed or
 * encrypted a block accepts it.
 */
export function newPastReasoning({ reasoning }: ChatRequest, account: string): PastReasoning {
  const paths: string[] = [];
  return {
    find(index) {
      const found = reasoning?.get(index);
      return found?.account === account ? found.blocks : null;
    },
    drop(index) {
      paths.push(`messages[${index}].reasoning_content`);
    },
    dropped: () => paths,
  };
}

/** True if a message has a reasoning text. */
export function hasReasoningText({ reasoning_content: text }: JsonObject): boolean {
  return typeof text === "string" && text !== "";
}
