import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { callSimulator } from "./call_simulator.ts";

const USER = { role: "user", content: "Hi" };
const QUOTED = 'The tools said "one" and "two".';
const COMPAT = "/compat/v1/chat/completions";

/** Two calls in each protocol, with the results in the other order. */
const SWAPPED: Readonly<Record<string, JsonObject>> = {
  [COMPAT]: {
    messages: [
      USER,
      { role: "assistant", tool_calls: [compatCall("a"), compatCall("b")] },
      { role: "tool", tool_call_id: "b", content: "two" },
      { role: "tool", tool_call_id: "a", content: "one" },
    ],
  },
  "/messages/v1/messages": {
    max_tokens: 100,
    tools: [{ name: "f", input_schema: { type: "object" } }],
    messages: [
      USER,
      {
        role: "assistant",
        content: ["a", "b"].map((id) => ({ type: "tool_use", id, name: "f", input: {} })),
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "b", content: "two" },
          { type: "tool_result", tool_use_id: "a", content: "one" },
        ],
      },
    ],
  },
  "/local/api/chat": {
    stream: false,
    messages: [
      USER,
      {
        role: "assistant",
        content: "",
        tool_calls: ["a", "b"].map((id) => ({ id, function: { name: "f", arguments: {} } })),
      },
      { role: "tool", tool_call_id: "b", content: "two" },
      { role: "tool", tool_call_id: "a", content: "one" },
    ],
  },
  "/compat/v1/responses": {
    input: [
      USER,
      { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
      { type: "function_call", call_id: "b", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "b", output: "two" },
      { type: "function_call_output", call_id: "a", output: "one" },
    ],
  },
};

function compatCall(id: string): JsonObject {
  return { id, type: "function", function: { name: "f", arguments: "{}" } };
}

async function textOf(path: string, body: JsonObject): Promise<string> {
  const response = await callSimulator(path, body);
  assertEquals(response.status, 200);
  return /The tools said [^}]*?\./.exec((await response.text()).replaceAll('\\"', '"'))?.[0] ?? "";
}

for (const [path, body] of Object.entries(SWAPPED)) {
  Deno.test(`results of parallel calls are repeated in the order of the calls at ${path}`, async () => {
    assertEquals(await textOf(path, { model: "sim-tools-parallel", ...body }), QUOTED);
  });
}

async function message(body: JsonObject): Promise<JsonObject> {
  const response = await callSimulator(COMPAT, body);
  assertEquals(response.status, 200);
  const { choices } = await response.json();
  const [choice] = choices;
  return isObject(choice.message) ? choice.message : {};
}

Deno.test("sim-recall thinks and calls the first function, then repeats the conversation with its thinking", async () => {
  const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
  const first = await message({ model: "sim-recall", messages: [USER], tools });
  assertEquals(first.reasoning_content, "The user says: Hi");
  const [call] = Array.isArray(first.tool_calls) ? first.tool_calls : [];
  const id = isObject(call) ? call.id : null;
  const messages = [USER, first, { role: "tool", tool_call_id: id, content: "done" }];
  const second = await message({ model: "sim-recall", messages, tools });
  assertEquals(String(second.content).split("\n"), [
    "user: Hi",
    "thinking: The user says: Hi",
    "assistant calls f {}",
    "f returns done",
  ]);
});

Deno.test("sim-tools without a function answers with an object of the requested schema", async () => {
  const schema = { type: "object", properties: { a: { const: 1 } }, required: ["a"] };
  const format = { type: "json_schema", json_schema: { name: "one", schema } };
  const { content } = await message({
    model: "sim-tools",
    messages: [USER],
    response_format: format,
  });
  assertEquals(content, '{"a":1}');
});

Deno.test("a message whose tool_calls are null has none", async () => {
  const messages = [USER, { role: "assistant", content: "Ok", tool_calls: null }, USER];
  assertEquals((await message({ model: "sim-echo", messages })).content, "Hi");
});
