import type { JsonObject } from "../../../src/core/json/json.ts";
import type { GrowingAnswer, ProviderName } from "./growing_gateway.ts";

/** Returns `count` things, made of their numbers. */
export function times<Made>(count: number, make: (at: number) => Made): Made[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** Returns server-sent events. */
export function sse(records: readonly JsonObject[]): string {
  return records.map((record) => `data: ${JSON.stringify(record)}\n\n`).join("");
}

const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const COMPLETION = { id: "c", object: "chat.completion", created: 1, model: "m" };
const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m", error: null };

/** Returns a chunk of a Chat Completions stream. */
export function chunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return { ...CHUNK, choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** Returns a stream of a compat provider with these records in the middle. */
export function compatStream(records: readonly JsonObject[], finish = "stop"): GrowingAnswer {
  const role = chunk({ role: "assistant", content: "" });
  return { body: `${sse([role, ...records, chunk({}, finish)])}data: [DONE]\n\n` };
}

/** Returns a whole completion of a compat provider. */
export function compatAnswer(message: JsonObject, finish = "stop"): GrowingAnswer {
  const choice = { index: 0, message: { role: "assistant", content: "", ...message } };
  return json({ ...COMPLETION, choices: [{ ...choice, finish_reason: finish }] });
}

/** Returns a stream of a messages provider with these records in the middle. */
export function messagesStream(records: readonly JsonObject[], reason = "end_turn"): GrowingAnswer {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
  const delta = { stop_reason: reason, stop_sequence: null };
  return {
    body: sse([
      { type: "message_start", message: { ...message, usage: { input_tokens: 1 } } },
      ...records,
      { type: "message_delta", delta, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ]),
  };
}

/** Returns the records of one content block of a messages stream. */
export function block(index: number, start: JsonObject, deltas: readonly JsonObject[]) {
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** Returns a whole answer of a messages provider. */
export function messagesAnswer(content: JsonObject[], reason = "end_turn"): GrowingAnswer {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content };
  return json({ ...message, stop_reason: reason, usage: { input_tokens: 1, output_tokens: 2 } });
}

/** Returns a stream of a local runtime with these lines before the last. */
export function localStream(messages: readonly JsonObject[]): GrowingAnswer {
  const lines = [
    ...messages.map((message) => ({ model: "m", message, done: false })),
    { model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" },
  ];
  return { body: lines.map((line) => `${JSON.stringify(line)}\n`).join("") };
}

/** Returns a whole answer of a local runtime. */
export function localAnswer(message: JsonObject): GrowingAnswer {
  const whole = { role: "assistant", content: "", ...message };
  return json({ model: "m", message: whole, done: true, done_reason: "stop" });
}

/** Returns a Responses stream: its beginning, these events, and its end with this output. */
export function responsesStream(
  events: readonly JsonObject[],
  output: JsonObject[] = [],
): GrowingAnswer {
  const all = [
    { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
    ...events,
    { type: "response.completed", response: { ...RESPONSE, status: "completed", output } },
  ];
  return { body: sse(all.map((event, at) => ({ ...event, sequence_number: at }))) };
}

/** Returns a whole response. */
export function responsesAnswer(output: JsonObject[], more: JsonObject = {}): GrowingAnswer {
  return json({ ...RESPONSE, status: "completed", output, ...more });
}

/** Returns a JSON answer. */
export function json(value: JsonObject): GrowingAnswer {
  return { body: JSON.stringify(value) };
}

/** Returns a message of a Responses output. */
export function responsesMessage(content: JsonObject[]): JsonObject {
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

/** Returns a text part of a Responses message. */
export function outputText(text: string, annotations: JsonObject[] = []): JsonObject {
  return { type: "output_text", text, annotations, logprobs: [] };
}

/** Returns the short answer of a provider to a question of any kind. */
export function shortAnswer(provider: ProviderName, isStream: boolean): GrowingAnswer {
  switch (provider) {
    case "compat":
      return isStream ? compatStream([chunk({ content: "Hi" })]) : compatAnswer({ content: "Hi" });
    case "native": {
      const output = [responsesMessage([outputText("Hi")])];
      return isStream ? responsesStream([], output) : responsesAnswer(output);
    }
    case "messages":
      return isStream
        ? messagesStream(block(0, { type: "text", text: "Hi" }, []))
        : messagesAnswer([{ type: "text", text: "Hi" }]);
    case "local":
      return isStream ? localStream([{ content: "Hi" }]) : localAnswer({ content: "Hi" });
  }
}
