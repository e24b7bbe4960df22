import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";

/** Fields of every response object. */
export const LABELS = { id: "resp_1", object: "response", created_at: 5, model: "m" };
/** An assistant message without content. */
export const MESSAGE = { id: "msg_1", type: "message", role: "assistant" };
/** A complete tool call. */
export const CALL = {
  id: "fc_1",
  type: "function_call",
  call_id: "c1",
  name: "f",
  arguments: "{}",
};

/** Returns the first event of a stream. */
export function created(more: JsonObject = {}): JsonObject {
  const response = { ...LABELS, status: "in_progress", output: [], ...more };
  return { type: "response.created", response };
}

/** Returns the start event of an item. */
export function added(output_index: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.added", output_index, item };
}

/** Returns the end event of an item. */
export function done(output_index: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.done", output_index, item };
}

/** Returns a text delta event. */
export function textDelta(delta: JsonValue, output_index = 0, content_index = 0): JsonObject {
  return { type: "response.output_text.delta", output_index, content_index, delta };
}

/** Returns an arguments delta event of a call. */
export function argued(delta: JsonValue, output_index = 0): JsonObject {
  return { type: "response.function_call_arguments.delta", output_index, delta };
}

/** Returns a complete message with these texts. */
export function message(...texts: readonly string[]): JsonObject {
  return { ...MESSAGE, content: texts.map((text) => ({ type: "output_text", text })) };
}

/** Returns the terminal event of this status. */
export function ended(status = "completed", more: JsonObject = {}): JsonObject {
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  return {
    type: `response.${status}`,
    response: { ...LABELS, status, output: [], usage, ...more },
  };
}

/** The events of a stream up to the start of a message. */
export const BEGUN = [created(), added(0, { ...MESSAGE, content: [] })];

/** The events of a complete stream. */
export const WHOLE = [
  ...BEGUN,
  textDelta(" Ok"),
  textDelta("\n"),
  done(0, message(" Ok\n")),
  ended(),
];
