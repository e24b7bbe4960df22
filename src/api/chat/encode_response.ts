import type { StreamEvent, Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue, objectsIn } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { CallingReasoning } from "../../core/stream/reasoning.ts";
import { responseEndedEarly, type Result, success } from "../../core/failure/result.ts";
import { logprobsOf } from "./tool_call.ts";
import { finishWord, type Labels, newChatDeltas } from "./deltas.ts";
import { chatUsage } from "./usage.ts";

/** A whole response in the Chat Completions format. */
export interface Completion {
  readonly body: JsonObject;
  /** Null if the upstream sends no token counts. */
  readonly usage: Usage | null;
  /** Reasoning to store for a client that does not send it back; null for none. */
  readonly reasoning: CallingReasoning | null;
}

/**
 * Encodes the events of one response as a `chat.completion`, which is the sum of the deltas of the
 * same response as a stream. Fails without a finish event, or on an event that the object cannot
 * represent.
 */
export function encodeCompletion(
  events: readonly StreamEvent[],
  labels: Labels,
): Result<Completion> {
  const deltas = newChatDeltas(labels);
  const message = newMessage();
  const logprobs: JsonObject[] = [];
  for (const event of events) {
    const step = deltas.push(event);
    if (!step.ok) return step;
    if (step.value === null) continue;
    message.add(step.value.delta);
    pushAll(logprobs, step.value.logprobs);
  }
  const { created, model, usage, finishReason, moderation } = deltas.state();
  if (finishReason === null) return responseEndedEarly();
  const choice: JsonObject = {
    index: 0,
    message: message.whole(),
    logprobs: logprobsOf(logprobs),
    finish_reason: finishWord(finishReason, labels.legacyFunctions),
  };
  const body: JsonObject = {
    id: labels.id,
    object: "chat.completion",
    created,
    model,
    choices: [choice],
    ...moderation !== null && { moderation },
    ...usage?.serviceTier !== undefined && { service_tier: usage.serviceTier },
    ...usage !== null && { usage: chatUsage(usage) },
  };
  return success({ body, usage, reasoning: deltas.reasoning() });
}

/** Returns a message that accumulates the deltas of a choice. */
function newMessage() {
  const texts = { content: "", refusal: "", reasoning_content: "" };
  const lists = { thinking_blocks: [] as JsonObject[], annotations: [] as JsonObject[] };
  const calls = new Map<JsonValue | undefined, JsonObject>();
  let functionCall: JsonObject | null = null;

  return {
    add(delta: JsonObject): void {
      for (const name of ["content", "refusal", "reasoning_content"] as const) {
        const piece = delta[name];
        if (typeof piece === "string") texts[name] += piece;
      }
      for (const name of ["thinking_blocks", "annotations"] as const) {
        pushAll(lists[name], objectsIn(delta[name]));
      }
      for (const { index, ...piece } of objectsIn(delta.tool_calls)) {
        calls.set(index, withPiece(calls.get(index), piece));
      }
      if (isObject(delta.function_call)) {
        functionCall = withPiece(functionCall ?? undefined, delta.function_call);
      }
    },
    whole(): JsonObject {
      const { content, refusal, reasoning_content } = texts;
      const hasCall = calls.size > 0 || functionCall !== null;
      return {
        role: "assistant",
        content: content === "" && (refusal !== "" || hasCall) ? null : content,
        refusal: refusal === "" ? null : refusal,
        ...reasoning_content !== "" && { reasoning_content },
        ...lists.thinking_blocks.length > 0 && { thinking_blocks: lists.thinking_blocks },
        ...lists.annotations.length > 0 && { annotations: lists.annotations },
        ...functionCall !== null && { function_call: functionCall },
        ...calls.size > 0 && { tool_calls: [...calls.values()] },
      };
    },
  };
}

/** Returns a tool call with one more piece of its arguments; the first piece is the call itself. */
function withPiece(call: JsonObject | undefined, piece: JsonObject): JsonObject {
  if (call === undefined) return piece;
  for (const [name, added] of Object.entries(piece)) {
    const before = call[name];
    if (typeof before === "string" && typeof added === "string") call[name] = before + added;
    else if (isObject(before) && isObject(added)) call[name] = withPiece(before, added);
  }
  return call;
}
