import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { signThinking } from "../../src/simulator/hash.ts";
import { callSimulator } from "./call_simulator.ts";

const USER = { role: "user", content: "hi" };
const TOOL = { name: "f", input_schema: { type: "object" } };
const USE = { type: "tool_use", id: "t1", name: "f", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "t1", content: "4" };

async function messageOf(more: JsonObject, init: RequestInit = {}): Promise<string | null> {
  const body = { model: "sim-echo", max_tokens: 2000, messages: [USER], ...more };
  const response = await callSimulator("/messages/v1/messages", body, init);
  const answer: unknown = await response.json();
  assert(isObject(answer));
  if (response.status === 200) return null;
  assert(isObject(answer.error) && typeof answer.error.message === "string");
  assertEquals([response.status, answer.error.type], [400, "invalid_request_error"]);
  return answer.error.message;
}

async function assertRefused(cases: readonly JsonObject[]): Promise<void> {
  for (const more of cases) assert(await messageOf(more) !== null, JSON.stringify(more));
}

async function assertAccepted(cases: readonly JsonObject[]): Promise<void> {
  for (const more of cases) assertEquals(await messageOf(more), null, JSON.stringify(more));
}

Deno.test("messages refuses unknown fields and a missing max_tokens", async () => {
  assertEquals(await messageOf({ n: 1 }), "n: Extra inputs are not permitted");
  const body = { model: "sim-echo", messages: [USER] };
  assertEquals((await callSimulator("/messages/v1/messages", body)).status, 400);
  await assertRefused([
    { max_tokens: 1.5 },
    { temperature: 1.5 },
    { top_p: 2 },
    { top_k: 1.5 },
    { stop_sequences: "end" },
    { stop_sequences: [" "] },
    { metadata: { user_id: "a", other: "b" } },
    { service_tier: "default" },
    { system: "  " },
    { system: [{ type: "text", text: "" }] },
    { mcp_servers: [] },
  ]);
  await assertAccepted([
    { temperature: 1, top_p: 0.5, top_k: 4, stop_sequences: ["end"], metadata: { user_id: null } },
    { system: "", service_tier: "auto" },
    { system: [{ type: "text", text: "Be kind." }] },
  ]);
});

Deno.test("messages requires a key and a version, and the new version refuses sampling fields", async () => {
  const key = { "x-api-key": "any" };
  const fresh = { authorization: "Bearer any", "anthropic-version": "2026-10-21" };
  assert(await messageOf({}, { headers: key }) !== null);
  assert(await messageOf({}, { headers: { ...key, "anthropic-version": "2020-01-01" } }) !== null);
  assertEquals(await messageOf({}, { headers: fresh }), null);
  assert(await messageOf({ temperature: 1 }, { headers: fresh }) !== null);
  const unknownBeta = { ...fresh, "anthropic-beta": "time-travel" };
  assert(await messageOf({}, { headers: unknownBeta }) !== null);
  const body = { model: "sim-echo", max_tokens: 1, messages: [USER] };
  assertEquals((await callSimulator("/messages/v1/messages", body, { headers: {} })).status, 401);
});

Deno.test("messages refuses empty content where the API does", async () => {
  const text = (...texts: string[]) => texts.map((item) => ({ type: "text", text: item }));
  const user = (content: string | JsonObject[]) => ({ messages: [{ role: "user", content }] });
  const assistant = (content: string | JsonObject[]) => ({
    messages: [USER, { role: "assistant", content }, USER],
  });
  await assertRefused([
    user(""),
    user([]),
    user("\n"),
    user(text(" ")),
    user(text("", "x")),
    assistant(text("")),
    assistant(text(" ")),
  ]);
  await assertAccepted([
    user(text("hi", " ")),
    assistant(""),
    assistant([]),
    assistant(text(" ", "ok")),
  ]);
});

Deno.test("messages refuses unknown roles, a first assistant turn and a prefill with trailing space", async () => {
  await assertRefused([
    { messages: [] },
    { messages: [{ role: "system", content: "hi" }] },
    { messages: [USER, { role: "tool", content: "hi" }] },
    { messages: [{ role: "assistant", content: "hi" }] },
    { messages: [USER, { role: "assistant", content: "It is " }] },
    { messages: [{ ...USER, name: "Ann" }] },
  ]);
  await assertAccepted([
    { messages: [USER, USER] },
    { messages: [USER, { role: "assistant", content: "It is" }] },
  ]);
});

Deno.test("messages requires tool results at the start of the user message after the tool call", async () => {
  const turns = (...blocks: JsonObject[][]) => ({
    tools: [TOOL],
    messages: [
      USER,
      ...blocks.map((content, at) => ({ role: at % 2 ? "user" : "assistant", content })),
    ],
  });
  const words = { type: "text", text: "so" };
  await assertRefused([
    turns([USE]),
    turns([USE], [words]),
    turns([USE], [words, RESULT]),
    turns([USE], [RESULT, RESULT]),
    turns([words], [RESULT]),
    turns([{ ...USE, input: "{}" }], [RESULT]),
    turns([{ ...USE, id: "t 1" }], [{ ...RESULT, tool_use_id: "t 1" }]),
    { ...turns([USE], [RESULT]), tools: undefined },
    { ...turns([USE], [RESULT]), thinking: { type: "adaptive" } },
  ]);
  await assertAccepted([turns([USE], [RESULT]), turns([words, USE], [RESULT, words])]);
});

Deno.test("messages requires the thinking of a running tool loop from a model that thinks by itself", async () => {
  const thinking = {
    type: "thinking",
    thinking: "hm",
    signature: signThinking("hm"),
  };
  const loop = (more: JsonObject, ...blocks: JsonObject[]) => ({
    model: "sim-think-tools",
    tools: [TOOL],
    messages: [USER, { role: "assistant", content: blocks }, { role: "user", content: [RESULT] }],
    ...more,
  });
  const words = { type: "text", text: "so" };
  const turned = {
    messages: [
      USER,
      { role: "assistant", content: [USE] },
      { role: "user", content: [RESULT, words] },
    ],
  };
  await assertRefused([
    loop({}, USE),
    loop({}, { ...thinking, thinking: "changed" }, USE),
    loop({ thinking: { type: "adaptive" } }, words, USE),
  ]);
  await assertAccepted([
    loop({}, thinking, USE),
    loop({}, { type: "redacted_thinking", data: "x" }, USE),
    loop({ thinking: { type: "disabled" } }, USE),
    loop(turned),
  ]);
});

Deno.test("messages refuses invalid tools and tool choices", async () => {
  const tools = [TOOL];
  const tool = (more: JsonObject) => ({ tools: [{ ...TOOL, ...more }] });
  await assertRefused([
    tool({ name: "not a name" }),
    tool({ parameters: {} }),
    tool({ input_schema: {} }),
    tool({ input_schema: { type: "object", anyOf: [] } }),
    tool({ strict: true }),
    { tools: [TOOL, TOOL] },
    { tool_choice: { type: "auto" } },
    { tools, tool_choice: "auto" },
    { tools, tool_choice: { type: "required" } },
    { tools, tool_choice: { type: "tool", name: "g" } },
    { tools, tool_choice: { type: "none", disable_parallel_tool_use: true } },
    { tools, tool_choice: { type: "any" }, thinking: { type: "adaptive" } },
  ]);
  await assertAccepted([
    { tools, tool_choice: { type: "none" } },
    { tools, tool_choice: { type: "any", disable_parallel_tool_use: true } },
  ]);
});

Deno.test("messages refuses invalid thinking, effort and output format settings", async () => {
  const format = (schema: JsonObject) => ({
    output_config: { format: { type: "json_schema", schema } },
  });
  const enabled = { type: "enabled", budget_tokens: 1024 };
  await assertRefused([
    { thinking: { type: "on" } },
    { thinking: { type: "enabled", budget_tokens: 100 } },
    { thinking: { type: "enabled", budget_tokens: 2000 } },
    { thinking: enabled, temperature: 0.5 },
    { thinking: enabled, top_k: 1 },
    { output_config: { effort: "minimal" } },
    { output_config: { format: { type: "json_object" } } },
    format({ type: "object" }),
    format({ type: "object", additionalProperties: false, properties: { a: { minimum: 1 } } }),
  ]);
  await assertAccepted([
    { thinking: enabled, temperature: 1 },
    { thinking: { type: "disabled" }, output_config: { effort: "max" } },
    format({ type: "object", additionalProperties: false }),
  ]);
});

Deno.test("messages accepts images as plain base64 of a known type or as a URL", async () => {
  const picture = (source: JsonObject) => ({
    messages: [{ role: "user", content: [{ type: "image", source }] }],
  });
  await assertRefused([
    picture({ type: "base64", media_type: "image/jpg", data: "aGk=" }),
    picture({ type: "base64", media_type: "image/png", data: "data:image/png;base64,aGk=" }),
    picture({ type: "url", url: "file:///a" }),
  ]);
  await assertAccepted([
    picture({ type: "base64", media_type: "image/png", data: "aGk=" }),
    picture({ type: "url", url: "https://example.com/a.png" }),
  ]);
});
