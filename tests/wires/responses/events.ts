import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";

/** What a response says of itself. */
export const LABELS = { id: "resp_1", object: "response", created_at: 5, model: "m" };
/** An assistant's message that has said nothing yet. */
export const MESSAGE = { id: "msg_1", type: "message", role: "assistant" };
/** A call that is whole. */
export const CALL = {
  id: "fc_1",
  type: "function_call",
  call_id: "c1",
  name: "f",
  arguments: "{}",
};

/** The event that a stream begins with. */
export function created(more: JsonObject = {}): JsonObject {
  const response = { ...LABELS, status: "in_progress", output: [], ...more };
  return { type: "response.created", response };
}

/** An item begins. */
export function added(output_index: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.added", output_index, item };
}

/** An item is whole. */
export function done(output_index: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.done", output_index, item };
}

/** A piece of a text. */
export function said(delta: JsonValue, output_index = 0, content_index = 0): JsonObject {
  return { type: "response.output_text.delta", output_index, content_index, delta };
}

/** A piece of a call's arguments. */
export function argued(delta: JsonValue, output_index = 0): JsonObject {
  return { type: "response.function_call_arguments.delta", output_index, delta };
}

/** A message that is whole, with these texts. */
export function message(...texts: readonly string[]): JsonObject {
  return { ...MESSAGE, content: texts.map((text) => ({ type: "output_text", text })) };
}

/** The terminal of this status. */
export function ended(status = "completed", more: JsonObject = {}): JsonObject {
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  return {
    type: `response.${status}`,
    response: { ...LABELS, status, output: [], usage, ...more },
  };
}

/** A stream in which a message has begun. */
export const BEGUN = [created(), added(0, { ...MESSAGE, content: [] })];

/** A stream that is complete. */
export const WHOLE = [...BEGUN, said(" Ok"), said("\n"), done(0, message(" Ok\n")), ended()];
