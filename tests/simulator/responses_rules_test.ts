import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { ADD, newNativeClient } from "./native_client.ts";

async function errorFor(more: JsonObject, status = 400): Promise<JsonObject> {
  const body = { model: "sim-echo", input: "hi", ...more };
  const { error } = await newNativeClient().json("POST /responses", body, status);
  assert(isObject(error));
  return error;
}

Deno.test("a create request with an invalid field is refused with the field name as param", async () => {
  const wrong: readonly JsonObject[] = [
    { input: 3 },
    { instructions: [] },
    { stream: "yes" },
    { store: 1 },
    { background: "no" },
    { conversation: {} },
    { temperature: 3 },
    { top_p: -1 },
    { max_output_tokens: 15 },
    { top_logprobs: 21 },
    { truncation: "some" },
    { include: ["everything"] },
    { metadata: { a: 1 } },
    { text: { format: { type: "json_schema", schema: {} } } },
    { reasoning: { effort: "extreme" } },
    { tools: [{ type: "function", name: "not a name" }] },
    { tool_choice: "any" },
  ];
  for (const more of wrong) {
    assertEquals((await errorFor(more)).param, Object.keys(more)[0]);
  }
});

Deno.test("missing parameters, exclusive parameters and unknown objects each have their error code", async () => {
  const codes = [
    await errorFor({ model: undefined }),
    await errorFor({ input: undefined }),
    await errorFor({ previous_response_id: "resp_1", conversation: "conv_1" }),
    await errorFor({ background: true, store: false }),
    await errorFor({ model: "sim-nothing" }, 404),
    await errorFor({ conversation: "conv_1" }, 404),
  ].map(({ code }) => code);
  assertEquals(codes, [
    "missing_required_parameter",
    "missing_required_parameter",
    "mutually_exclusive_parameters",
    "invalid_value",
    "model_not_found",
    null,
  ]);
});

Deno.test("an invalid input item is refused with its path as param", async () => {
  const wrong: readonly (readonly [JsonObject | string, string])[] = [
    ["hi", "input[0]"],
    [{ type: "poem" }, "input[0].type"],
    [{ role: "robot", content: "hi" }, "input[0].role"],
    [{ role: "user" }, "input[0].content"],
    [{ role: "user", content: [{ type: "output_text", text: "x" }] }, "input[0].content[0]"],
    [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }, "input[0].content[0]"],
    [{ type: "function_call", name: "f", arguments: "{}" }, "input[0].call_id"],
    [{ type: "function_call_output", call_id: "c" }, "input[0].output"],
    [{ type: "item_reference", id: null }, "input[0].id"],
  ];
  for (const [item, path] of wrong) {
    assertEquals((await errorFor({ input: [item] })).param, path, JSON.stringify(item));
  }
});

Deno.test("every function call needs one later output, and every output an earlier call", async () => {
  const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c1", output: "4" };
  const upstream = newNativeClient();
  const cases: readonly (readonly [number, JsonObject[]])[] = [
    [200, [call, output]],
    [400, [call]],
    [400, [output]],
    [400, [output, call]],
    [400, [call, output, output]],
  ];
  for (const [status, input] of cases) {
    await upstream.json("POST /responses", { model: "sim-tools", tools: [ADD], input }, status);
  }
});

Deno.test("an item reference resolves to an item of the same account only", async () => {
  const upstream = newNativeClient();
  const { id } = await upstream.json("POST /responses", {
    model: "sim-echo",
    input: "stored words",
  });
  const { first_id: item } = await upstream.json(`GET /responses/${id}/input_items`);
  for (const reference of [{ type: "item_reference", id: item }, { id: item }]) {
    const { usage } = await upstream.json("POST /responses", {
      model: "sim-echo",
      input: [reference],
    });
    assert(isObject(usage));
    assertEquals(usage.input_tokens, 2);
    const body = { model: "sim-echo", input: [reference] };
    await upstream.json("POST /responses", body, 404, "sk-two");
  }
});

Deno.test("sim-error-N responds with status N for the Responses protocol", async () => {
  const { type } = await errorFor({ model: "sim-error-503" }, 503);
  assertEquals(type, "server_error");
  const response = await newNativeClient().call("POST /responses", {
    model: "sim-error-429",
    input: "x",
  });
  assertEquals([response.status, response.headers.get("retry-after")], [429, "1"]);
});

Deno.test("compaction keeps user messages and seals the rest for one account", async () => {
  const upstream = newNativeClient();
  const input = [
    { role: "user", content: "one" },
    { role: "assistant", content: "two" },
    { role: "user", content: "three" },
  ];
  const compacted = await upstream.json("POST /responses/compact", { model: "sim-echo", input });
  assertValid("CompactResource", compacted);
  assert(Array.isArray(compacted.output));
  assertEquals(compacted.output.length, 3);
  const body = { model: "sim-echo", input: compacted.output };
  await upstream.json("POST /responses", body);
  await upstream.json("POST /responses", body, 400, "sk-two");
  await upstream.json("POST /responses/compact", { input }, 400);
  await upstream.json("POST /responses/compact", { model: "sim-error-500", input }, 500);
});

Deno.test("input_tokens counts the words of the history, the input and the instructions", async () => {
  const upstream = newNativeClient();
  const first = await upstream.json("POST /responses", { model: "sim-echo", input: "one two" });
  const more = { previous_response_id: first.id, input: "three", instructions: "four" };
  assertEquals(await upstream.json("POST /responses/input_tokens", more), {
    object: "response.input_tokens",
    input_tokens: 6,
  });
  assertEquals((await upstream.json("POST /responses/input_tokens", {})).input_tokens, 0);
});
