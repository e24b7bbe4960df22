import type { FinishReason, StreamEvent, Usage } from "../../../core/stream/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { type CallingReasoning, newReasoningCollector } from "../../../core/stream/reasoning.ts";
import {
  invalidResponse,
  responseEndedEarly,
  responseTooLarge,
  type Result,
  success,
} from "../../../core/failure/result.ts";
import { type MessageEvent, newBlocks } from "./blocks.ts";
import { callId } from "./call_id.ts";
import { messageUsage, stopFields } from "./ending.ts";
import type { MessageLabels } from "./labels.ts";

/**
 * Translation of the events of one response into events of a message, for streams and whole
 * responses.
 */
export interface MessageEvents {
  push(event: StreamEvent): Result<readonly MessageEvent[]>;
  /** Returns the last events of a complete message. Fails if the upstream sent no finish reason. */
  end(): Result<readonly MessageEvent[]>;
  usage(): Usage | null;
  /** Returns the reasoning to store for the next request of a tool loop; null for none. */
  reasoning(): CallingReasoning | null;
  /** Returns the bytes of the response that are held. */
  heldBytes(): number;
}

/** Limit of the text of a refusal, which is sent with the last events, in characters. */
const MAX_REFUSAL_CHARS = 1024 * 1024;

/**
 * Creates the translation. `message_start` comes with the first event that has content, the token
 * counts with `message_delta` at the end. Fails on a call without arguments that are a JSON object,
 * unless the token limit has cut the response.
 */
export function newMessageEvents(labels: MessageLabels): MessageEvents {
  const blocks = newBlocks(labels);
  let { model } = labels;
  let usage: Usage | null = null;
  let reason: FinishReason | null = null;
  let stopText: string | null = null;
  let refusal = "";
  let isBegun = false;
  const collector = labels.storesReasoning ? newReasoningCollector() : null;
  let calls = 0;

  /** Collects the reasoning with the text and the call IDs that the client gets. */
  function collect(event: StreamEvent): void {
    if (event.type === "tool_call") {
      collector?.push({ ...event, id: callId(event.id, labels.id, calls++) });
    } else if (event.type !== "reasoning" || labels.thinking !== "hidden") {
      collector?.push(event);
    }
  }

  function begin(): readonly MessageEvent[] {
    if (isBegun) return [];
    isBegun = true;
    return [{ type: "message_start", message: emptyMessage(labels.id, model, usage) }];
  }

  function push(event: StreamEvent): Result<readonly MessageEvent[]> {
    collect(event);
    switch (event.type) {
      case "start":
        model = event.model || model;
        return success([]);
      case "usage":
        usage = event.usage;
        return success([]);
      case "finish":
        reason = event.reason;
        stopText = event.stopText ?? null;
        return success([]);
      case "refusal":
        refusal += event.delta;
        if (refusal.length > MAX_REFUSAL_CHARS) {
          return responseTooLarge("The provider's refusal is longer than 1 MiB.");
        }
        return success(event.delta === "" ? [] : begin());
      case "text":
      case "reasoning":
      case "thinking_block":
      case "annotation":
      case "reasoning_item":
      case "tool_call":
      case "tool_arguments": {
        const added = blocks.push(event);
        return added.ok && hasContent(event) ? success([...begin(), ...added.value]) : added;
      }
    }
  }

  function end(): Result<readonly MessageEvent[]> {
    if (reason === null) return responseEndedEarly();
    const closed = blocks.end();
    if (reason !== "length" && !blocks.isSound()) {
      return invalidResponse("The provider called a tool with arguments that are no JSON object.");
    }
    const delta = stopFields({ reason, stopText, hasCalls: blocks.hasCalls(), refusal });
    return success([
      ...begin(),
      ...closed,
      { type: "message_delta", delta, usage: messageUsage(usage) },
      { type: "message_stop" },
    ]);
  }

  return {
    push,
    end,
    usage: () => usage,
    reasoning: () => collector?.value() ?? null,
    heldBytes: () => blocks.heldBytes() + refusal.length + (collector?.heldChars() ?? 0),
  };
}

/**
 * True if the model has begun to answer with this event. Thinking that is hidden from the client
 * counts too: it may take longer than a client waits for the first byte.
 */
function hasContent(event: StreamEvent): boolean {
  switch (event.type) {
    case "text":
    case "reasoning":
      return event.delta !== "";
    case "thinking_block":
    case "tool_call":
      return true;
    case "tool_arguments":
    case "annotation":
    case "reasoning_item":
    case "refusal":
    case "start":
    case "usage":
    case "finish":
      return false;
  }
}

function emptyMessage(id: string, model: string, usage: Usage | null): JsonObject {
  const { input_tokens, output_tokens, ...more } = messageUsage(usage);
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: { input_tokens, output_tokens, ...more },
  };
}
