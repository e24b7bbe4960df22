import type { JsonObject } from "./json/json.ts";

/** Why a model stopped, in the words of Chat Completions. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Tokens of one call. Input counts include both cache figures; zero where an upstream is silent. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** Sum of the two, or what the upstream says it is; null when neither is known. */
  readonly total: number | null;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  /** The count that the upstream has not sent, which is zero here; absent when both were sent. */
  readonly unknown?: "input" | "output";
  /** In the words of Chat Completions, where the upstream tells it. */
  readonly serviceTier?: string;
}

/** What a model can say, whatever protocol it speaks. */
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
    /** Its tokens in the shape of Chat Completions, where they are told; then there is at least one. */
    readonly logprobs?: readonly JsonObject[];
  }
  | { readonly type: "refusal" | "reasoning"; readonly delta: string }
  /** Carried whole, never read. */
  | { readonly type: "thinking_block" | "annotation"; readonly value: JsonObject }
  | {
    readonly type: "tool_call";
    readonly index: number;
    readonly id: string;
    readonly name: string;
    /** The call of a custom tool, whose input is told as arguments are; absent for a function. */
    readonly kind?: "custom";
    /** The whole text, where it is known at once; then no `tool_arguments` follow. */
    readonly arguments?: string;
  }
  | { readonly type: "tool_arguments"; readonly index: number; readonly delta: string }
  /** Replaces an earlier one, never adds. */
  | { readonly type: "usage"; readonly usage: Usage }
  | {
    readonly type: "finish";
    readonly reason: FinishReason;
    /** What a moderation of the call has found, in the shape of Chat Completions. */
    readonly moderation?: JsonObject;
  };
