import type { EventEncoder } from "../../core/chain.ts";
import type { FinishReason, StreamEvent, Usage } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StreamRecord } from "../../core/reply.ts";
import { type Result, success } from "../../core/result.ts";
import { calledAs, calledPiece, type CallKind, logprobsOf } from "./called.ts";
import { callWithoutName, endedEarly, finishWord, type Labels, unfitCall } from "./completion.ts";
import { BROKEN, DONE } from "./terminal.ts";
import { chatUsage } from "./usage.ts";

/** How a stream of chunks is to be written. */
export interface ChatEncoderOptions extends Labels {
  /** The client asked for the usage chunk. */
  readonly includeUsage: boolean;
}

/** Writes the chunks of a Chat Completions stream. */
export type ChatEncoder = EventEncoder;

/**
 * Events as `chat.completion.chunk` records (OpenAI API, streaming). The role comes with the first
 * event that carries something; the finish chunk, the usage chunk and `[DONE]` come at the end,
 * because usage may be told before the finish or after it. Fails at the end without a finish.
 */
export function chatEncoder(options: ChatEncoderOptions): ChatEncoder {
  let { created, model } = options;
  let head = headOf();
  let usage: Usage | null = null;
  let reason: FinishReason | null = null;
  let isBegun = false;
  let isDone = false;
  let moderation: JsonObject | null = null;
  const calls = new Map<number, CallKind>();

  function headOf(): string {
    const labels = { id: options.id, object: "chat.completion.chunk", created, model };
    return JSON.stringify(labels).slice(0, -1) + ',"choices":[';
  }

  /** `more` are further members of the chunk, as they are written. */
  function chunk(
    delta: JsonObject,
    finish: string | null,
    tokens: readonly JsonObject[],
    more = "",
  ): StreamRecord {
    const logprobs = logprobsOf(tokens);
    const choice = { index: 0, delta, logprobs, finish_reason: finish };
    const tail = options.includeUsage ? `],"usage":null${more}}` : `]${more}}`;
    return { event: null, data: head + JSON.stringify(choice) + tail, raw: null };
  }

  function begin(): readonly StreamRecord[] {
    if (isBegun) return [];
    isBegun = true;
    return [chunk({ role: "assistant", content: "" }, null, [])];
  }

  function say(
    delta: JsonObject,
    tokens: readonly JsonObject[] = [],
  ): Result<readonly StreamRecord[]> {
    return success([...begin(), chunk(delta, null, tokens)]);
  }

  function call(event: StreamEvent & { type: "tool_call" }): Result<readonly StreamRecord[]> {
    const { index, id, name, kind } = event;
    if (options.legacyFunctions && (calls.size > 0 || kind === "custom")) return unfitCall();
    calls.set(index, kind);
    const called = calledAs(kind, name, event.arguments ?? "");
    if (options.legacyFunctions) return say({ function_call: called.function });
    return say({ tool_calls: [{ index, id, ...called }] });
  }

  function addArguments(index: number, text: string): Result<readonly StreamRecord[]> {
    if (!calls.has(index)) return callWithoutName();
    if (text === "") return success([]);
    if (options.legacyFunctions) return say({ function_call: { arguments: text } });
    return say({ tool_calls: [{ index, ...calledPiece(calls.get(index), text) }] });
  }

  function push(event: StreamEvent): Result<readonly StreamRecord[]> {
    switch (event.type) {
      case "start":
        created = event.created || created;
        model = event.model || model;
        head = headOf();
        return success([]);
      case "text":
        return event.delta === "" && event.logprobs === undefined
          ? success([])
          : say({ content: event.delta }, event.logprobs);
      case "refusal":
        return event.delta === "" ? success([]) : say({ refusal: event.delta });
      case "reasoning":
        return event.delta === "" ? success([]) : say({ reasoning_content: event.delta });
      case "thinking_block":
        return say({ thinking_blocks: [event.value] });
      case "annotation":
        return say({ annotations: [event.value] });
      case "tool_call":
        return call(event);
      case "tool_arguments":
        return addArguments(event.index, event.delta);
      case "usage":
        usage = event.usage;
        return success([]);
      case "finish":
        reason = event.reason;
        moderation = event.moderation ?? null;
        return success([]);
    }
  }

  function end(): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    if (reason === null) return endedEarly();
    isDone = true;
    // Not every client asks for usage, so the tier comes with the finish too.
    const word = finishWord(reason, options.legacyFunctions);
    const finish = chunk({}, word, [], moderationMember() + tierMember());
    return success([...begin(), finish, ...usageChunk(), DONE]);
  }

  function moderationMember(): string {
    return moderation === null ? "" : `,"moderation":${JSON.stringify(moderation)}`;
  }

  function tierMember(): string {
    const tier = usage?.serviceTier;
    return tier === undefined ? "" : `,"service_tier":${JSON.stringify(tier)}`;
  }

  function usageChunk(): readonly StreamRecord[] {
    if (!options.includeUsage || usage === null) return [];
    const data = `${head}],"usage":${JSON.stringify(chatUsage(usage))}${tierMember()}}`;
    return [{ event: null, data, raw: null }];
  }

  function fail(): readonly StreamRecord[] {
    if (isDone) return [];
    isDone = true;
    return BROKEN;
  }

  return {
    push,
    end,
    fail,
    done: () => isDone,
    usage: () => usage,
    resource: () => null,
  };
}
