import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { callSimulator } from "./call_simulator.ts";

const USER = { role: "user", content: "hi" };
const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const CALLING = { role: "assistant", content: null, tool_calls: [CALL] };
const TOOL = { type: "function", function: { name: "f" } };

async function compatStatus(more: JsonObject): Promise<number> {
  const body = { model: "sim-echo", messages: [USER], ...more };
  const response = await callSimulator("/v1/chat/completions", body);
  const answer: unknown = await response.json();
  if (response.status !== 200) assertValid("ErrorResponse", answer);
  return response.status;
}

Deno.test("compat refuses fields with a wrong type or out of range", async () => {
  const wrong: readonly JsonObject[] = [
    { stream: "yes" },
    { temperature: 3 },
    { temperature: "1" },
    { n: 0 },
    { max_tokens: 0 },
    { max_completion_tokens: 1.5 },
    { stop: [] },
    { stop: ["a", "b", "c", "d", "e"] },
    { stream_options: { include_usage: true } },
    { top_logprobs: 2 },
    { tools: [{ name: "f" }] },
    { tools: [{ type: "function", function: { name: "not a name" } }] },
    { tool_choice: "auto" },
    { tool_choice: { type: "any" }, tools: [TOOL] },
    { response_format: { type: "json_schema", schema: {} } },
    { parallel_tool_calls: null },
    { reasoning_effort: "extreme" },
    { metadata: { a: 1 } },
  ];
  for (const more of wrong) assertEquals(await compatStatus(more), 400, JSON.stringify(more));
});

Deno.test("compat accepts valid values and unknown fields", async () => {
  const right: readonly JsonObject[] = [
    { stream: null, temperature: null, stop: null, n: null },
    { stop: "end", top_k: 4, logprobs: true, top_logprobs: 2 },
    { tools: [TOOL], tool_choice: { type: "function", function: { name: "f" } } },
    { response_format: { type: "json_object" }, reasoning_effort: "xhigh" },
  ];
  for (const more of right) assertEquals(await compatStatus(more), 200, JSON.stringify(more));
});

Deno.test("compat requires a tool message for each tool call, and a tool call for each tool message", async () => {
  const result = { role: "tool", tool_call_id: "c1", content: "4" };
  const cases: readonly (readonly [number, JsonObject[]])[] = [
    [200, [USER, CALLING, result]],
    [400, [USER, result]],
    [400, [USER, CALLING, USER]],
    [400, [USER, CALLING]],
    [400, [USER, CALLING, result, result]],
    [400, [USER, CALLING, { ...result, tool_call_id: "c2" }]],
  ];
  for (const [status, messages] of cases) {
    assertEquals(await compatStatus({ messages }), status, JSON.stringify(messages));
  }
});

Deno.test("compat refuses messages with an unknown role or invalid content", async () => {
  const wrong: readonly JsonObject[] = [
    { role: "robot", content: "hi" },
    { role: "user" },
    { role: "user", content: [] },
    { role: "user", content: [{ type: "image", source: {} }] },
    { role: "assistant" },
    { role: "system", content: [{ type: "image_url", image_url: { url: "x" } }] },
  ];
  for (const message of wrong) {
    assertEquals(await compatStatus({ messages: [message] }), 400, JSON.stringify(message));
  }
  assertEquals(await compatStatus({ messages: [] }), 400);
});

async function localError(more: JsonObject): Promise<string> {
  const response = await callSimulator("/local/api/chat", {
    model: "sim-echo",
    messages: [USER],
    ...more,
  });
  assertEquals(response.status, 400, JSON.stringify(more));
  const answer: unknown = await response.json();
  assert(isObject(answer) && typeof answer.error === "string");
  return answer.error;
}

Deno.test("local refuses what the runtime cannot parse, with a text as error", async () => {
  const call = { function: { name: "f", arguments: "{}" } };
  const cases: readonly (readonly [string, JsonObject])[] = [
    ["array", { messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] }],
    ["string", { messages: [{ role: "assistant", content: "", tool_calls: [call] }] }],
    ["base64", { messages: [{ ...USER, images: ["data:image/png;base64,aGk="] }] }],
    ["invalid format", { format: "xml" }],
    ["must be of type array", { options: { stop: "end" } }],
    ["must be of type integer", { options: { num_predict: 1.5 } }],
    ["does not support thinking", { think: true }],
    ["think", { model: "sim-think", think: "extreme" }],
    ["model is required", { model: "" }],
  ];
  for (const [part, more] of cases) assertStringIncludes(await localError(more), part);
});

Deno.test("local ignores unknown fields, as the runtime does", async () => {
  const more = { stop: "end", tool_choice: "none", temperature: "hot", think: false, format: "" };
  const body = { model: "sim-echo", messages: [USER], stream: false, ...more };
  assertEquals((await callSimulator("/local/api/chat", body)).status, 200);
});

Deno.test("an unknown model is refused with 404 in the error format of each protocol", async () => {
  const body = { model: "gpt-5", messages: [USER], max_tokens: 1, stream: false };
  const paths = ["/v1/chat/completions", "/messages/v1/messages", "/local/api/chat"];
  const answers = await Promise.all(paths.map(async (path) => {
    const response = await callSimulator(path, body);
    assertEquals(response.status, 404);
    const answer: unknown = await response.json();
    assert(isObject(answer));
    return isObject(answer.error) ? answer.error.code ?? answer.error.type : answer.error;
  }));
  assertEquals(answers, ["model_not_found", "not_found_error", "model 'gpt-5' not found"]);
});
