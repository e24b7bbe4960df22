import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { callSimulator } from "./call_simulator.ts";

const PATH = "/local/api/chat";
const TOOL = {
  type: "function",
  function: { name: "add", parameters: { type: "object", required: ["a"] } },
};

function request(model: string, more: JsonObject = {}): JsonObject {
  return { model, messages: [{ role: "user", content: "Good  day" }], ...more };
}

async function whole(model: string, more: JsonObject = {}): Promise<JsonObject> {
  const response = await callSimulator(PATH, request(model, { stream: false, ...more }));
  assertEquals(response.status, 200);
  const body: unknown = await response.json();
  return isObject(body) ? body : {};
}

async function lines(model: string, more: JsonObject = {}): Promise<readonly JsonObject[]> {
  const response = await callSimulator(PATH, request(model, more));
  assertEquals(response.headers.get("content-type"), "application/x-ndjson");
  return (await response.text()).trimEnd().split("\n").map(parseJson).filter(isObject);
}

function messagesIn(values: readonly JsonObject[]): readonly JsonObject[] {
  return values.map(({ message }) => message).filter(isObject);
}

Deno.test("local streams by default, with one object per line, of which only the last is done", async () => {
  const values = await lines("sim-echo:latest");
  assertEquals(messagesIn(values).map(({ content }) => content), ["Good", "  day", ""]);
  assertEquals(values.map(({ done }) => done), [false, false, true]);
  assert(values.every(({ model }) => model === "sim-echo:latest"));
});

Deno.test("a whole local response is one object with token counts", async () => {
  assertEquals(await whole("sim-echo"), {
    model: "sim-echo",
    created_at: "2023-11-14T22:13:20.000000000Z",
    message: { role: "assistant", content: "Good  day" },
    done: true,
    done_reason: "stop",
    total_duration: 3000,
    load_duration: 1000,
    prompt_eval_duration: 1000,
    eval_duration: 1000,
    prompt_eval_count: 2,
    eval_count: 2,
  });
});

Deno.test("local thinking is a field of the message, and absent if think is false", async () => {
  const values = messagesIn(await lines("sim-think", { think: "low" }));
  assertEquals(values.map(({ thinking }) => thinking ?? "").join(""), "The user says: Good  day");
  assertEquals((await whole("sim-think", { think: false })).message, {
    role: "assistant",
    content: "Good  day",
  });
});

Deno.test("local sends each tool call complete in one record and ends with the reason stop", async () => {
  const values = await lines("sim-parallel", { tools: [TOOL] });
  const calls = messagesIn(values).flatMap(({ tool_calls }) =>
    Array.isArray(tool_calls) ? tool_calls.filter(isObject) : []
  );
  assertEquals(calls.map((call) => call.function), [
    { index: 0, name: "add", arguments: { a: null } },
    { index: 1, name: "add", arguments: { a: null } },
  ]);
  assertEquals(values.at(-1)?.done_reason, "stop");
});

Deno.test("sim-tools quotes the tool results of the last turn", async () => {
  const messages = [
    { role: "user", content: "add" },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { name: "add", arguments: { a: 1 } } }],
    },
    { role: "tool", content: "42", tool_name: "add" },
  ];
  const { message } = await whole("sim-tools", { messages, tools: [TOOL] });
  assert(isObject(message));
  assertEquals(message.content, 'The tools said "42".');
});

Deno.test("num_predict limits the output tokens, and a value below one means no limit", async () => {
  assertEquals((await whole("sim-echo", { options: { num_predict: 1 } })).done_reason, "length");
  assertEquals((await whole("sim-echo", { options: { num_predict: -1 } })).done_reason, "stop");
  assertEquals((await whole("sim-echo", { max_tokens: 1 })).done_reason, "stop");
});

Deno.test("sim-json answers with an object that matches the schema in format", async () => {
  const format = { type: "object", properties: { a: { type: "boolean" } }, required: ["a"] };
  const { message } = await whole("sim-json", { format });
  assert(isObject(message));
  assertEquals(message.content, '{"a":true}');
});

Deno.test("a request without messages loads the model and returns empty content", async () => {
  const { message, done_reason, eval_count } = await whole("sim-long", { messages: [] });
  assertEquals(message, { role: "assistant", content: "" });
  assertEquals([done_reason, eval_count], ["load", undefined]);
});

Deno.test("local echoes images as brackets and ignores messages with an unknown role", async () => {
  const messages = [
    { role: "developer", content: "three more words" },
    { role: "USER", content: "See", images: ["aGk="] },
  ];
  const { message, prompt_eval_count } = await whole("sim-echo", { messages });
  assert(isObject(message));
  assertEquals([message.content, prompt_eval_count], ["See[image]", 1]);
});
