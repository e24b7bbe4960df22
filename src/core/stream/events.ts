import type { JsonObject } from "../json/json.ts";

/** Finish reason of a model's output, with the values of Chat Completions. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Token counts of one call. Input counts include both cache counts. A count is zero if the upstream
 * sent none.
 */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** Sum of input and output, or the upstream's own total; null when neither is known. */
  readonly total: number | null;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  /** The count that the upstream has not sent (zero here); absent if it sent both. */
  readonly unknown?: "input" | "output";
  /** True if the output is only that at the start of a stream; absent if it is the last count. */
  readonly isEarly?: true;
  /** Service tier with the values of Chat Completions; absent if the upstream sent none. */
  readonly serviceTier?: string;
}

/** Stream event of a model's output, independent of the upstream's protocol. */
export type StreamEvent =
  | {
    readonly type: "start";
    readonly id: string;
    readonly model: string;
    readonly created: number;
  }
  | {
    readonly type: "text";
    readonly delta: string;
    /** Token log probabilities in the format of Chat Completions; at least one if present. */
    readonly logprobs?: readonly JsonObject[];
  }
  | { readonly type: "refusal" | "reasoning"; readonly delta: string }
  /** Passed on whole, never parsed. */
  | { readonly type: "thinking_block" | "annotation"; readonly value: JsonObject }
  /**
   * Encrypted reasoning item of the Responses API, or what a Chat host has signed besides a text:
   * stored for the next request and never delivered.
   */
  | { readonly type: "reasoning_item"; readonly value: JsonObject }
  | {
    readonly type: "tool_call";
    readonly index: number;
    readonly id: string;
    readonly name: string;
    /**
     * Marks the call of a custom tool, whose input is sent as arguments are; absent for a function.
     */
    readonly kind?: "custom";
    /** The whole arguments text if it is known at once; no `tool_arguments` events follow then. */
    readonly arguments?: string;
  }
  | {
    readonly type: "tool_arguments";
    readonly index: number;
    readonly delta: string;
    /** True at the end of a custom tool's input, if it is known: the text does not show it. */
    readonly isLast?: boolean;
  }
  /** Replaces the counts of an earlier usage event; they are never added. */
  | { readonly type: "usage"; readonly usage: Usage }
  | {
    readonly type: "finish";
    readonly reason: FinishReason;
    /**
     * The stop text before which the gateway ended the response; absent if the upstream ended it.
     */
    readonly stopText?: string;
    /** Moderation result of the call in the format of Chat Completions. */
    readonly moderation?: JsonObject;
  };

/** Units of a call besides tokens, for prices by image, minute and character. */
export interface BilledUnits {
  /** Number of images of the response. */
  readonly images?: number;
  /** Length of the audio in seconds. */
  readonly seconds?: number;
  /** Number of characters (Unicode code points) of the request's text. */
  readonly characters?: number;
}
