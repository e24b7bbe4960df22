import {
  encodeMessage,
  type MessageLabels,
  newMessageEncoder,
} from "../../../../src/api/messages/generate/encoder.ts";
import type { FinishReason, StreamEvent, Usage } from "../../../../src/core/stream/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../../src/core/json/json.ts";
import type { StreamRecord } from "../../../../src/core/stream/reply.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

/** Every count is another one. */
export const USAGE: Usage = {
  input: 100,
  output: 40,
  total: 140,
  cached: 10,
  cacheWrite: 20,
  reasoning: 4,
};

/** Labels of a message whose tools have their names unchanged. */
export function labelsOf(changed: Partial<MessageLabels> = {}): MessageLabels {
  return {
    id: "msg_1",
    requestId: "r-1",
    model: "asked",
    thinking: "shown",
    storesReasoning: false,
    signer: null,
    addsThinking: false,
    toolName: (name) => name,
    ...changed,
  };
}

/** A piece of text. */
export function text(delta: string): StreamEvent {
  return { type: "text", delta };
}

/** A piece of thinking. */
export function reasoning(delta: string): StreamEvent {
  return { type: "reasoning", delta };
}

/** The beginning of a tool call, with its whole arguments if they are known. */
export function call(index: number, whole?: string): StreamEvent {
  const begun = { type: "tool_call", index, id: `t${index}`, name: `f${index}` } as const;
  return whole === undefined ? begun : { ...begun, arguments: whole };
}

/** A piece of the arguments of a call. */
export function more(index: number, delta: string): StreamEvent {
  return { type: "tool_arguments", index, delta };
}

/** The event that ends what a model says. */
export function finish(reason: FinishReason = "stop"): StreamEvent {
  return { type: "finish", reason };
}

/** The data of each record, whose event line has the type of the data. */
export function readRecords(records: readonly StreamRecord[]): JsonObject[] {
  return records.map(({ event, data }) => {
    const value = parseJson(data);
    assert(isObject(value));
    assertEquals<unknown>(event, value.type);
    return value;
  });
}

/** Everything that a complete stream of these events gives. */
export function encoded(
  events: readonly StreamEvent[],
  labels: MessageLabels = labelsOf(),
): JsonObject[] {
  const encoder = newMessageEncoder(labels);
  const steps = [...events.map(encoder.push), encoder.end()];
  assertEquals(encoder.done(), true);
  return readRecords(steps.flatMap((step) => {
    assert(step.ok, JSON.stringify(step));
    return [...step.value];
  }));
}

/** The whole message of these events. */
export function whole(
  events: readonly StreamEvent[],
  labels: MessageLabels = labelsOf(),
): JsonObject {
  const message = encodeMessage(events, labels);
  assert(message.ok, JSON.stringify(message));
  return message.value.body;
}

/** The kind of the failure of these events as a stream, which is that of the whole response too. */
export function failureKind(events: readonly StreamEvent[]): string {
  const encoder = newMessageEncoder(labelsOf());
  const steps = [...events.map(encoder.push), encoder.end()];
  const failed = steps.find((step) => !step.ok);
  assert(failed !== undefined && !failed.ok, "it succeeds");
  const message = encodeMessage(events, labelsOf());
  assert(!message.ok);
  assertEquals(message.failure, failed.failure);
  return failed.failure.kind;
}

/** The content blocks that the records of a stream add up to, by index, as a client adds them. */
export function contentOf(records: readonly JsonObject[]): readonly JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const { type, index, content_block, delta } of records) {
    if (type === "content_block_start" && isObject(content_block)) {
      assertEquals<unknown>(index, blocks.length);
      blocks.push({ ...content_block });
    }
    const block = blocks[Number(index)];
    if (type !== "content_block_delta" || !isObject(delta) || block === undefined) continue;
    for (const name of ["text", "thinking", "signature", "partial_json"]) {
      if (delta[name] !== undefined) block[name] = `${block[name] ?? ""}${delta[name]}`;
    }
  }
  return blocks;
}
