import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { callSimulator } from "./call_simulator.ts";

const PATH = "/messages/v1/messages";
const COUNT = "/messages/v1/messages/count_tokens";
const USER = { role: "user", content: "hi there" };
const KEY = { "x-api-key": "any", "anthropic-version": "2023-06-01" };
const CLAUDE_CODE = {
  ...KEY,
  "anthropic-beta": "claude-code-20250219,per-turn-control-2026-07-01,effort-2025-11-24",
};

async function call(
  body: JsonObject,
  headers: Record<string, string> = CLAUDE_CODE,
  path = PATH,
): Promise<readonly [status: number, answer: JsonObject]> {
  const sent = path === COUNT ? body : { max_tokens: 2000, ...body };
  const response = await callSimulator(path, { model: "sim-echo", messages: [USER], ...sent }, {
    headers,
  });
  const answer: unknown = await response.json();
  assert(isObject(answer));
  return [response.status, answer];
}

function messageOf({ error }: JsonObject): JsonValue {
  return isObject(error) ? error.message ?? null : null;
}

Deno.test("messages accepts a request of Claude Code: fields of betas, and system messages in the dialogue", async () => {
  const body = {
    thinking: { type: "adaptive", display: "updates" },
    context_management: { edits: [] },
    safeguards: [{ type: "dangerous_tool_use" }],
    output_config: { effort: "medium" },
    messages: [
      USER,
      { role: "system", content: "# Environment", output_config: { effort: "low" } },
    ],
  };
  const [status, { content }] = await call(body);
  assertEquals(status, 200);
  assertEquals(content, [{ type: "text", text: "hi there", citations: null }]);
  assertEquals((await call(body, KEY))[0], 400);
  const [refused, answer] = await call({ messages: [{ role: "system", content: "x" }, USER] });
  assertEquals(
    [refused, messageOf(answer)],
    [400, 'messages: first message must use the "user" role'],
  );
});

Deno.test("messages reads results of tools before a system message, and refuses blocks in it", async () => {
  const loop = [
    USER,
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "4" }] },
  ];
  const tools = [{ name: "f", input_schema: { type: "object" } }];
  const last = { role: "system", content: "12 tokens left" };
  const [, { content }] = await call({ model: "sim-tools", tools, messages: [...loop, last] });
  assertEquals(content, [{ type: "text", text: 'The tools said "4".', citations: null }]);
  const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
  assertEquals((await call({ messages: [USER, { role: "system", content: [image] }] }))[0], 400);
});

Deno.test("a deferred tool of messages is called only when a tool_reference has named it", async () => {
  const tools = [
    { name: "late", input_schema: { type: "object" }, defer_loading: true },
    { name: "find", input_schema: { type: "object" } },
  ];
  const first = await call({ model: "sim-tools", tools });
  assert(JSON.stringify(first).includes('"name":"find"'));
  const found = (name: string) => [
    USER,
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "find", input: {} }] },
    {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "t1",
        content: [{ type: "tool_reference", tool_name: name }],
      }],
    },
    { role: "assistant", content: "Found." },
    USER,
  ];
  const second = await call({ model: "sim-tools", tools, messages: found("late") });
  assert(JSON.stringify(second).includes('"name":"late"'), JSON.stringify(second));
  const [status, answer] = await call({ model: "sim-tools", tools, messages: found("lost") });
  assertEquals([status, messageOf(answer)], [
    400,
    "Tool reference 'lost' not found in available tools",
  ]);
});

Deno.test("messages counts the words of a request, and refuses fields that a count does not have", async () => {
  const body = { system: "Be kind.", messages: [USER, { role: "assistant", content: "Hm" }] };
  assertEquals(await call(body, KEY, COUNT), [200, { input_tokens: 5 }]);
  assertEquals(await call(body, KEY, COUNT), await call(body, KEY, COUNT));
  const enabled = { thinking: { type: "enabled", budget_tokens: 2048 } };
  assertEquals((await call(enabled, KEY, COUNT))[0], 200);
  for (const more of [{ max_tokens: 1 }, { stream: true }, { messages: [] }]) {
    assertEquals((await call(more, KEY, COUNT))[0], 400, JSON.stringify(more));
  }
  assertEquals((await call({ model: "sim-nowhere" }, KEY, COUNT))[0], 404);
  assertEquals((await call({}, { "x-api-key": "any" }, COUNT))[0], 400);
});

Deno.test("an error of messages has the request ID in its body and its header", async () => {
  const response = await callSimulator(PATH, { model: "sim-echo", messages: [USER] });
  const { request_id } = await response.json();
  assertEquals([response.status, response.headers.get("request-id")], [400, request_id]);
});
