import type { JsonObject } from "../../../src/core/json/json.ts";
import { type GrowingCall, mostWithin } from "./doubling.ts";
import { growingCall } from "./growing_gateway.ts";
import { block, localAnswer, messagesStream, sse, times } from "./spoken.ts";

const QUESTION = { messages: [{ role: "user", content: "a" }] };

function strictTool(properties: JsonObject): JsonObject {
  const parameters = {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
  return { type: "function", function: { name: "f", strict: true, parameters } };
}

function namedOf<Value>(n: number, value: Value): Record<string, Value> {
  return Object.fromEntries(times(n, (at) => [`p${at}`, value] as const));
}

function chat(fields: JsonObject): { readonly path: string; readonly body: string } {
  return { path: "/chat/completions", body: JSON.stringify({ ...QUESTION, ...fields }) };
}

function callOf(args: JsonObject) {
  return localAnswer({ tool_calls: [{ function: { name: "f", arguments: args } }] });
}

/** Returns a Responses stream with one text in these pieces. */
function spokenStream(pieces: readonly string[]): string {
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m", error: null };
  const content = [{ type: "output_text", text: pieces.join(""), annotations: [] }];
  const item = { type: "message", id: "msg_1", role: "assistant", content };
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events: JsonObject[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item] } },
  ];
  return sse(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

/** Calls whose responses are checked, in which one thing grows. */
export const VERIFIED_CALLS: readonly GrowingCall[] = [
  growingCall("verified: properties of a strict function and of its call", (n) => ({
    ...chat({ model: "local/m", tools: [strictTool(namedOf(n, { type: "integer" }))] }),
    answer: callOf(namedOf(n, 1)),
  }), { most: 700 }),
  growingCall("verified: elements in the arguments of a strict call", (n) => ({
    ...chat({
      model: "local/m",
      tools: [strictTool({ a: { type: "array", items: { type: "integer" } } })],
    }),
    answer: callOf({ a: times(n, () => 1) }),
  }), { most: mostWithin(46_000) }),
  growingCall("verified: alternatives that a strict call has in vain", (n) => ({
    ...chat({
      model: "local/m",
      tools: [strictTool({ a: { anyOf: times(n, (at) => ({ const: at })) } })],
    }),
    answer: callOf({ a: n - 1 }),
  }), { most: mostWithin(900) }),
  growingCall("verified: pieces of a JSON object", (n) => ({
    ...chat({ model: "messages/m", stream: true, response_format: { type: "json_object" } }),
    answer: messagesStream(block(
      0,
      { type: "text", text: "" },
      ['{"a":[0', ...times(n, () => ",1"), "]}"].map((text) => ({ type: "text_delta", text })),
    )),
  })),
  growingCall("verified: blanks before a JSON object", (n) => ({
    ...chat({ model: "messages/m", stream: true, response_format: { type: "json_object" } }),
    answer: messagesStream(block(0, { type: "text", text: "" }, [
      { type: "text_delta", text: `${" ".repeat(n)}{}` },
    ])),
  }), { most: 60_000 }),
  growingCall("verified: text that begins like a stop text again and again", (n) => ({
    ...chat({ model: "native/m", stream: true, stop: `${"a".repeat(n)}b` }),
    answer: { body: spokenStream([...times(2 * n, () => "a"), "c"]) },
  }), { most: 350 }),
];
