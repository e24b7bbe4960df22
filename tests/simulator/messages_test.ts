import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { callSimulator, sseData } from "./call_simulator.ts";

const PATH = "/messages/v1/messages";
const TOOL = {
  name: "add",
  input_schema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
};
const EMPTY_TOOL = { name: "now", input_schema: { type: "object" } };

function request(model: string, more: JsonObject = {}): JsonObject {
  const messages = [{ role: "user", content: "Good  day" }];
  return { model, max_tokens: 2000, messages, ...more };
}

async function whole(model: string, more: JsonObject = {}): Promise<JsonObject> {
  const response = await callSimulator(PATH, request(model, more));
  assertEquals(response.status, 200);
  const body: unknown = await response.json();
  return isObject(body) ? body : {};
}

async function events(model: string, more: JsonObject = {}): Promise<readonly JsonObject[]> {
  const text = await (await callSimulator(PATH, request(model, { stream: true, ...more }))).text();
  const values = sseData(text).map(parseJson).filter(isObject);
  const names = text.split("\n").filter((line) => line.startsWith("event: "));
  assertEquals(names, values.map(({ type }) => `event: ${type}`));
  return values;
}

function ofType(values: readonly JsonObject[], type: string): readonly JsonObject[] {
  return values.filter((value) => value.type === type);
}

Deno.test("a whole Messages response has content blocks, a stop reason and usage", async () => {
  assertEquals(await whole("sim-echo"), {
    id: "msg_00000000000040008000000000000001",
    type: "message",
    role: "assistant",
    model: "sim-echo",
    content: [{ type: "text", text: "Good  day", citations: null }],
    stop_reason: "end_turn",
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 2,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 2,
    },
  });
});

Deno.test("a Messages stream has all events of a message in order", async () => {
  const values = await events("sim-echo");
  assertEquals(values.map(({ type }) => type), [
    "message_start",
    "ping",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  assertEquals(ofType(values, "content_block_delta").map(({ delta }) => delta), [
    { type: "text_delta", text: "Good" },
    { type: "text_delta", text: "  day" },
  ]);
  assertEquals(ofType(values, "message_delta")[0]?.usage, { output_tokens: 2 });
});

Deno.test("a signed thinking block precedes the text, and is refused if the client changes it", async () => {
  const { content, usage } = await whole("sim-think");
  assert(Array.isArray(content) && isObject(content[0]) && isObject(usage));
  assertEquals(content[0].thinking, "The user says: Good  day");
  assertEquals(usage.output_tokens_details, { thinking_tokens: 5 });
  const messages = [
    { role: "user", content: "Good  day" },
    { role: "assistant", content },
    { role: "user", content: "And now?" },
  ];
  await whole("sim-think", { messages });
  const changed = [{ ...content[0], thinking: "The user says nothing" }, content[1] ?? null];
  const again = [messages[0] ?? null, { role: "assistant", content: changed }, messages[2] ?? null];
  const refused = await callSimulator(PATH, request("sim-think", { messages: again }));
  assertEquals(refused.status, 400);
});

Deno.test("a thinking block ends with its signature delta", async () => {
  const values = ofType(await events("sim-think"), "content_block_delta");
  const kinds = values.map(({ delta }) => isObject(delta) ? delta.type : null);
  assertEquals(kinds.lastIndexOf("thinking_delta") + 1, kinds.indexOf("signature_delta"));
  assert(kinds.indexOf("signature_delta") < kinds.indexOf("text_delta"));
});

Deno.test("each tool call is a block, with input fragments after an empty one", async () => {
  const values = await events("sim-tools-parallel", { tools: [TOOL, EMPTY_TOOL] });
  const blocks = ofType(values, "content_block_start").map((event) => event.content_block);
  assertEquals(blocks.map((block) => isObject(block) ? [block.name, block.input] : null), [
    ["add", {}],
    ["now", {}],
  ]);
  const texts = ["", ""];
  for (const { index, delta } of ofType(values, "content_block_delta")) {
    assert(isObject(delta) && typeof index === "number");
    texts[index] += String(delta.partial_json);
  }
  assertEquals(texts, ['{"a":1.5}', ""]);
});

Deno.test("a forced tool is the only one called if parallel tool calls are disabled", async () => {
  const tools = [TOOL, EMPTY_TOOL];
  const tool_choice = { type: "tool", name: "now", disable_parallel_tool_use: true };
  const { content, stop_reason } = await whole("sim-parallel", { tools, tool_choice });
  assert(Array.isArray(content) && isObject(content[0]));
  assertEquals([content.length, content[0].name, stop_reason], [1, "now", "tool_use"]);
});

Deno.test("sim-tools quotes the tool results of the last turn", async () => {
  const messages = [
    { role: "user", content: "add" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "add", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "42" }] },
  ];
  const { content } = await whole("sim-tools", { messages, tools: [TOOL] });
  assertEquals(content, [{ type: "text", text: 'The tools said "42".', citations: null }]);
});

Deno.test("a refusal, a filter and a token limit each set the stop reason", async () => {
  const refused = await whole("sim-refuse");
  assertEquals([refused.stop_reason, refused.content], ["refusal", []]);
  assert(isObject(refused.stop_details));
  assertEquals(refused.stop_details.explanation, "I cannot help with that.");
  assertEquals((await whole("sim-filter")).stop_reason, "refusal");
  assertEquals((await whole("sim-length")).stop_reason, "max_tokens");
  assertEquals((await whole("sim-echo", { max_tokens: 1 })).stop_reason, "max_tokens");
});

Deno.test("sim-json answers with an object that matches the schema in output_config", async () => {
  const schema = {
    type: "object",
    properties: { day: { type: "string", format: "date" } },
    required: ["day"],
    additionalProperties: false,
  };
  const { content } = await whole("sim-json", {
    output_config: { format: { type: "json_schema", schema } },
  });
  assert(Array.isArray(content) && isObject(content[0]));
  assertEquals(content[0].text, '{"day":"2026-01-02"}');
});

Deno.test("a model that thinks refuses a high effort while thinking is off", async () => {
  const cases = [
    ["sim-recall", "disabled", "xhigh", 400],
    ["sim-recall", "disabled", "max", 400],
    ["sim-recall", "disabled", "high", 200],
    ["sim-recall", "adaptive", "max", 200],
    ["sim-echo", "disabled", "max", 200],
  ] as const;
  for (const [model, type, effort, status] of cases) {
    const response = await callSimulator("/messages/v1/messages", {
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: "hi" }],
      thinking: { type },
      output_config: { effort },
    });
    await response.body?.cancel();
    assertEquals([model, type, effort, response.status], [model, type, effort, status]);
  }
});

Deno.test("a loop without thinking is refused by a model that thinks, unless thinking is off, and by every model with thinking", async () => {
  const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "1" };
  const question = { role: "user", content: "hi" };
  const messages = [
    question,
    { role: "assistant", content: [call] },
    { role: "user", content: [result] },
  ];
  const cases: readonly (readonly [model: string, type: string | null, status: number])[] = [
    ["sim-recall", null, 400],
    ["sim-recall", "adaptive", 400],
    ["sim-recall", "disabled", 200],
    ["sim-echo", null, 200],
    ["sim-echo", "adaptive", 400],
  ];
  for (const [model, type, status] of cases) {
    const response = await callSimulator("/messages/v1/messages", {
      model,
      max_tokens: 100,
      tools: [{ name: "f", input_schema: { type: "object" } }],
      messages,
      ...type !== null && { thinking: { type } },
    });
    const { error } = await response.json();
    assertEquals([model, type, response.status], [model, type, status]);
    const isExpected = /^Expected `thinking` or `redacted_thinking`, but found/.test(
      error?.message,
    );
    assertEquals(isExpected, status === 400);
  }
});
