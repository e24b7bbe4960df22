import type { StreamEvent } from "./events.ts";
import type { JsonObject } from "../json/json.ts";

/**
 * A part of a model's reasoning that its upstream accepts only unchanged: it is signed or
 * encrypted.
 */
export interface ReasoningBlock {
  /**
   * A thinking block of the Messages API, a reasoning item of the Responses API, or what a host
   * with Chat has signed.
   */
  readonly value: JsonObject;
  /** Number of tool calls of the response before this block. */
  readonly callsBefore: number;
  /** Number of characters of the response's text before this block; absent for none. */
  readonly textBefore?: number;
}

/** Reasoning blocks with the account that has signed or encrypted them. */
export interface OwnedReasoning {
  readonly account: string;
  readonly blocks: readonly ReasoningBlock[];
}

/** The reasoning of a response that calls tools. */
export interface CallingReasoning {
  /** The reasoning text as it was sent to the client. */
  readonly text: string;
  /** IDs of the tool calls as they were sent to the client; at least one. */
  readonly callIds: readonly string[];
  /** At least one. */
  readonly blocks: readonly ReasoningBlock[];
}

/** Maximum length of the collected text and blocks of one response, in characters of JSON. */
const MAX_REASONING_CHARS = 4 * 1024 * 1024;

/**
 * Returns a collector without events. A response above the size limit has no collected reasoning.
 */
export function newReasoningCollector() {
  const texts: string[] = [];
  const callIds: string[] = [];
  const blocks: ReasoningBlock[] = [];
  let length = 0;
  let textBefore = 0;
  let heldChars = 0;

  function admits(added: number): boolean {
    length += added;
    if (length > MAX_REASONING_CHARS) return false;
    heldChars += added;
    return true;
  }

  return {
    push(event: StreamEvent): void {
      switch (event.type) {
        case "reasoning":
          if (admits(event.delta.length)) texts.push(event.delta);
          return;
        case "thinking_block":
        case "reasoning_item":
          if (admits(JSON.stringify(event.value).length)) {
            const callsBefore = callIds.length;
            blocks.push({ value: event.value, callsBefore, ...textBefore > 0 && { textBefore } });
          }
          return;
        case "tool_call":
          callIds.push(event.id);
          return;
        case "text":
          textBefore += event.delta.length;
          return;
        case "start":
        case "refusal":
        case "annotation":
        case "tool_arguments":
        case "usage":
        case "finish":
          return;
      }
    },
    /** Returns the characters that are collected. */
    heldChars: (): number => heldChars,
    /**
     * Returns the reasoning; null if it has no tool calls or no blocks, or exceeds the size limit.
     */
    value: (): CallingReasoning | null =>
      callIds.length === 0 || blocks.length === 0 || length > MAX_REASONING_CHARS
        ? null
        : { text: texts.join(""), callIds, blocks },
  };
}
