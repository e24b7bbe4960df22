import { encodeCompletion } from "../../../src/api/chat/encode_response.ts";
import type { Labels } from "../../../src/api/chat/deltas.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const LABELS: Labels = { id: "chatcmpl-1", created: 7, model: "asked", legacyFunctions: false };
const USAGE = { input: 10, output: 7, total: 17, cached: 1, cacheWrite: 2, reasoning: 3 };
const STOP: StreamEvent = { type: "finish", reason: "stop" };
const CALLS: readonly StreamEvent[] = [
  { type: "tool_call", index: 0, id: "c1", name: "f" },
  { type: "tool_arguments", index: 0, delta: '{"n":' },
  { type: "tool_arguments", index: 0, delta: "1.0}" },
];

function completed(events: readonly StreamEvent[], labels: Partial<Labels> = {}) {
  const result = encodeCompletion(events, { ...LABELS, ...labels });
  assert(result.ok);
  return { ...result.value, body: JSON.parse(JSON.stringify(result.value.body)) };
}

function messageOf(events: readonly StreamEvent[], labels: Partial<Labels> = {}) {
  return completed([...events, STOP], labels).body.choices[0].message;
}

Deno.test("an unstreamed response is one completion with its usage", () => {
  const { body, usage } = completed([
    { type: "start", id: "msg_1", model: "told", created: 9 },
    { type: "text", delta: " Hi" },
    { type: "text", delta: " there\n" },
    { type: "usage", usage: USAGE },
    STOP,
  ]);
  assertEquals(usage, USAGE);
  assertEquals(body, {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 9,
    model: "told",
    choices: [{
      index: 0,
      message: { role: "assistant", content: " Hi there\n", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 7,
      total_tokens: 17,
      prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  });
});

Deno.test("a response without upstream usage has no usage member", () => {
  const { body, usage } = completed([STOP]);
  assertEquals(usage, null);
  assertEquals("usage" in body, false);
});

Deno.test("content is null only with tool calls or a refusal", () => {
  assertEquals(messageOf([]), { role: "assistant", content: "", refusal: null });
  assertEquals(messageOf(CALLS).content, null);
  const refusal: StreamEvent = { type: "refusal", delta: "no" };
  assertEquals(messageOf([refusal]), { role: "assistant", content: null, refusal: "no" });
  assertEquals(messageOf([{ type: "text", delta: "a" }, refusal]).content, "a");
});

Deno.test("reasoning, citations and tool calls are in their own members", () => {
  const block = { type: "redacted_thinking", data: "d" };
  const citation = { type: "url_citation" };
  const message = messageOf([
    { type: "reasoning", delta: "h" },
    { type: "reasoning", delta: "m" },
    { type: "thinking_block", value: block },
    { type: "annotation", value: citation },
    ...CALLS,
    { type: "tool_call", index: 1, id: "c2", name: "g", arguments: "{}" },
  ]);
  assertEquals(message, {
    role: "assistant",
    content: null,
    refusal: null,
    reasoning_content: "hm",
    thinking_blocks: [block],
    annotations: [citation],
    tool_calls: [
      { id: "c1", type: "function", function: { name: "f", arguments: '{"n":1.0}' } },
      { id: "c2", type: "function", function: { name: "g", arguments: "{}" } },
    ],
  });
});

Deno.test("a client of functions gets its one call as function_call", () => {
  const finish: StreamEvent = { type: "finish", reason: "tool_calls" };
  const { body } = completed([...CALLS, finish], { legacyFunctions: true });
  const [choice] = body.choices;
  assertEquals(choice.finish_reason, "function_call");
  assertEquals(choice.message.function_call, { name: "f", arguments: '{"n":1.0}' });
  assertEquals("tool_calls" in choice.message, false);
  const second: StreamEvent = { type: "tool_call", index: 1, id: "c2", name: "g" };
  assertEquals(
    encodeCompletion([...CALLS, second, finish], { ...LABELS, legacyFunctions: true }).ok,
    false,
  );
});

Deno.test("a response without a finish, or with arguments of an unknown call, is a failure", () => {
  const stray: StreamEvent = { type: "tool_arguments", index: 0, delta: "{}" };
  for (const events of [[], [stray, STOP]]) {
    const result = encodeCompletion(events, LABELS);
    assert(!result.ok);
    assertEquals<unknown>(result.failure.kind, "invalid_upstream_response");
  }
});
