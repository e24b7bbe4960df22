import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { callSimulator, sseData } from "./call_simulator.ts";

const PATH = "/compat/v1/chat/completions";
const TOOL = {
  type: "function",
  function: {
    name: "add",
    parameters: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "string" }, c: { type: "boolean" } },
      required: ["a", "b"],
    },
  },
};

function request(model: string, more: JsonObject = {}): JsonObject {
  return { model, messages: [{ role: "user", content: "Good  day\nto you" }], ...more };
}

async function whole(model: string, more: JsonObject = {}): Promise<JsonObject> {
  const body: unknown = await (await callSimulator(PATH, request(model, more))).json();
  assertValid("CreateChatCompletionResponse", body);
  return isObject(body) ? body : {};
}

async function chunks(model: string, more: JsonObject = {}): Promise<readonly JsonObject[]> {
  const response = await callSimulator(PATH, request(model, { stream: true, ...more }));
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  const data = sseData(await response.text());
  assertEquals(data.at(-1), "[DONE]");
  const values = data.slice(0, -1).map(parseJson).filter(isObject);
  for (const value of values) assertValid("CreateChatCompletionStreamResponse", value);
  return values;
}

function choiceOf(value: JsonObject | undefined): JsonObject {
  const [choice] = Array.isArray(value?.choices) ? value.choices : [];
  return isObject(choice) ? choice : {};
}

function deltas(values: readonly JsonObject[], key: string): readonly unknown[] {
  return values.map(choiceOf).flatMap(({ delta }) =>
    isObject(delta) && delta[key] !== undefined ? [delta[key]] : []
  );
}

Deno.test("sim-echo streams the last user message word by word, with its white space", async () => {
  const values = await chunks("sim-echo");
  assertEquals(deltas(values, "content"), ["", "Good", "  day", "\nto", " you"]);
  assertEquals(deltas(values, "role"), ["assistant"]);
  assertEquals(choiceOf(values.at(-1)).finish_reason, "stop");
  assertEquals(new Set(values.map(({ id }) => id)).size, 1);
});

Deno.test("a whole completion has the text of its stream and counts words as tokens", async () => {
  const { choices, usage } = await whole("sim-echo");
  const message = { role: "assistant", content: "Good  day\nto you", refusal: null };
  assertEquals(choices, [{ index: 0, finish_reason: "stop", message, logprobs: null }]);
  assertEquals(usage, {
    prompt_tokens: 4,
    completion_tokens: 4,
    total_tokens: 8,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
});

Deno.test("a stream sends usage in its last chunk only if include_usage is set", async () => {
  const asked = await chunks("sim-echo", { stream_options: { include_usage: true } });
  assertEquals(asked.at(-1)?.choices, []);
  assert(isObject(asked.at(-1)?.usage));
  assert(asked.slice(0, -1).every(({ usage }) => usage === null));
  assert((await chunks("sim-echo")).every((chunk) => !("usage" in chunk)));
});

Deno.test("n choices have consecutive indexes, and usage counts all of them", async () => {
  const body = await whole("sim-echo", { n: 3 });
  const indexes = Array.isArray(body.choices)
    ? body.choices.filter(isObject).map(({ index }) => index)
    : [];
  assertEquals(indexes, [0, 1, 2]);
  assert(isObject(body.usage));
  assertEquals(body.usage.completion_tokens, 12);
  const streamed = (await chunks("sim-echo", { n: 2 })).map((chunk) => choiceOf(chunk).index);
  assertEquals(new Set(streamed).size, 2);
});

Deno.test("a text with more words than the token limit has the finish reason length", async () => {
  const first = choiceOf(await whole("sim-echo", { max_completion_tokens: 2 }));
  assertEquals(first.finish_reason, "length");
  assert(isObject(first.message));
  assertEquals(first.message.content, "Good  day");
  assertEquals(choiceOf(await whole("sim-echo", { max_tokens: 4 })).finish_reason, "stop");
  assertEquals(choiceOf(await whole("sim-length")).finish_reason, "length");
});

Deno.test("sim-long-N streams N words, and sim-long 200", async () => {
  assertEquals(deltas(await chunks("sim-long-7"), "content").length, 1 + 7);
  assertEquals(deltas(await chunks("sim-long"), "content").length, 1 + 200);
});

Deno.test("sim-tools calls a tool with arguments that match its schema", async () => {
  const choice = choiceOf(await whole("sim-tools", { tools: [TOOL] }));
  assertEquals(choice.finish_reason, "tool_calls");
  assert(isObject(choice.message) && Array.isArray(choice.message.tool_calls));
  const [call] = choice.message.tool_calls;
  assert(isObject(call));
  assertEquals(call.function, { name: "add", arguments: '{"a":1,"b":"text"}' });
  assertEquals(choice.message.content, null);
});

Deno.test("a streamed tool call starts with id and name, followed by fragments of its arguments", async () => {
  const calls = deltas(await chunks("sim-parallel", { tools: [TOOL] }), "tool_calls")
    .flatMap((list) => Array.isArray(list) ? list.filter(isObject) : []);
  const opened = calls.filter(({ id }) => typeof id === "string");
  assertEquals(opened.map(({ index }) => index), [0, 1]);
  for (const index of [0, 1]) {
    const text = calls.filter((call) => call.index === index)
      .map((call) => isObject(call.function) ? call.function.arguments : "").join("");
    assertEquals(text, '{"a":1,"b":"text"}');
  }
  const single = await chunks("sim-parallel", { tools: [TOOL], parallel_tool_calls: false });
  assert(deltas(single, "tool_calls").every((list) => !JSON.stringify(list).includes('"index":1')));
});

Deno.test("sim-tools answers with text if tool_choice is none or the tool result is present", async () => {
  const none = choiceOf(await whole("sim-tools", { tools: [TOOL], tool_choice: "none" }));
  assertEquals(none.finish_reason, "stop");
  const call = { id: "call_1", type: "function", function: { name: "add", arguments: "{}" } };
  const messages = [
    { role: "user", content: "add" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "42" },
  ];
  const { message } = choiceOf(await whole("sim-tools", { tools: [TOOL], messages }));
  assert(isObject(message));
  assertEquals(message.content, 'The tools said "42".');
});

Deno.test("thinking precedes the text, in reasoning_content or in think tags", async () => {
  const values = await chunks("sim-think");
  assertEquals(
    deltas(values, "reasoning_content").join(""),
    "The user says: Good  day\nto you",
  );
  assertEquals(deltas(values, "content").join(""), "Good  day\nto you");
  const { usage } = await whole("sim-think");
  assert(isObject(usage));
  assertEquals(usage.completion_tokens_details, { reasoning_tokens: 7 });
  const tagged = deltas(await chunks("sim-think-tags"), "content").join("");
  assert(tagged.startsWith("<think>The user says:") && tagged.includes("</think>Good"));
  const off = await chunks("sim-think", { reasoning_effort: "none" });
  assertEquals(deltas(off, "reasoning_content"), []);
});

Deno.test("sim-json answers with an object that matches the schema", async () => {
  const schema = {
    type: "object",
    properties: { size: { enum: ["big", "small"] }, count: { type: "integer", minimum: 3 } },
    required: ["size", "count"],
  };
  const response_format = { type: "json_schema", json_schema: { name: "form", schema } };
  const content = deltas(await chunks("sim-json", { response_format }), "content").join("");
  assertEquals(parseJson(content), { size: "big", count: 3 });
});

Deno.test("sim-refuse sets the refusal field and sim-filter the finish reason content_filter", async () => {
  const refused = choiceOf(await whole("sim-refuse"));
  assert(isObject(refused.message));
  assertEquals(refused.message.content, null);
  assertEquals(refused.message.refusal, "I cannot help with that.");
  assertEquals(
    deltas(await chunks("sim-refuse"), "refusal").slice(1).join(""),
    "I cannot help with that.",
  );
  assertEquals(choiceOf(await whole("sim-filter")).finish_reason, "content_filter");
});
