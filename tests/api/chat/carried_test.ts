import { encodeCompletion } from "../../../src/api/chat/encode_response.ts";
import { newChatEncoder } from "../../../src/api/chat/encode_stream.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { extractFromEvents } from "../../../src/api/reasoning/reasoning_tags.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";

const LABELS = { id: "chatcmpl-1", created: 7, model: "m", legacyFunctions: false };
const STOP: StreamEvent = { type: "finish", reason: "stop" };
const [A, B] = ["a", "b"].map((token) => ({ token, logprob: -1, bytes: null, top_logprobs: [] }));
assert(A !== undefined && B !== undefined);

/** The chunks of the events, without `[DONE]`. */
function chunksOf(events: readonly StreamEvent[]) {
  const encoder = newChatEncoder({ ...LABELS, includeUsage: false });
  const records = [...events.map((event) => encoder.push(event)), encoder.end()].flatMap(valueOf);
  return records.slice(0, -1).map(({ data }) => JSON.parse(data));
}

function completed(events: readonly StreamEvent[]) {
  return JSON.parse(JSON.stringify(valueOf(encodeCompletion(events, LABELS)).body));
}

const EVENTS: readonly StreamEvent[] = [
  { type: "text", delta: "a", logprobs: [A] },
  { type: "text", delta: "x" },
  { type: "text", delta: "", logprobs: [B] },
  STOP,
];

Deno.test("logprobs are carried next to the text of the same chunk", () => {
  const relayed = chunksOf(EVENTS).map(({ choices: [choice] }) => [choice.delta, choice.logprobs]);
  assertEquals(relayed, [
    [{ role: "assistant", content: "" }, null],
    [{ content: "a" }, { content: [A], refusal: null }],
    [{ content: "x" }, null],
    [{ content: "" }, { content: [B], refusal: null }],
    [{}, null],
  ]);
});

Deno.test("a completion has all tokens in their order", () => {
  const [choice] = completed(EVENTS).choices;
  assertEquals(choice.message.content, "ax");
  assertEquals(choice.logprobs, { content: [A, B], refusal: null });
});

Deno.test("logprobs stay when reasoning is extracted from their text", () => {
  const events: readonly StreamEvent[] = [
    { type: "text", delta: "<think>hm</think>a", logprobs: [A] },
  ];
  assertEquals(extractFromEvents(events), [
    { type: "reasoning", delta: "hm" },
    { type: "text", delta: "a", logprobs: [A] },
  ]);
});

const CUSTOM: StreamEvent = { type: "tool_call", index: 0, id: "c", name: "run", kind: "custom" };

Deno.test("a call of a custom tool has its own shape, in chunks and in one piece", () => {
  const events: readonly StreamEvent[] = [
    CUSTOM,
    { type: "tool_arguments", index: 0, delta: "a\n" },
    { type: "tool_arguments", index: 0, delta: "b" },
    { type: "tool_call", index: 1, id: "d", name: "f", arguments: "{}" },
    { type: "finish", reason: "tool_calls" },
  ];
  const called = { name: "f", arguments: "{}" };
  const deltas = chunksOf(events).slice(1, -1).map(({ choices: [choice] }) => choice.delta);
  assertEquals(deltas, [
    { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "run", input: "" } }] },
    { tool_calls: [{ index: 0, custom: { input: "a\n" } }] },
    { tool_calls: [{ index: 0, custom: { input: "b" } }] },
    { tool_calls: [{ index: 1, id: "d", type: "function", function: called }] },
  ]);
  const { message, finish_reason } = completed(events).choices[0];
  assertEquals(message.content, null);
  assertEquals(message.tool_calls, [
    { id: "c", type: "custom", custom: { name: "run", input: "a\nb" } },
    { id: "d", type: "function", function: called },
  ]);
  assertEquals(finish_reason, "tool_calls");
});

Deno.test("a custom tool call is refused for a client that uses legacy functions", () => {
  const labels = { ...LABELS, legacyFunctions: true };
  const encoder = newChatEncoder({ ...labels, includeUsage: false });
  assertFailed(encoder.push(CUSTOM), "invalid_upstream_response");
  assertFailed(encodeCompletion([CUSTOM, STOP], labels), "invalid_upstream_response");
});

Deno.test("moderation results are sent with the finish", () => {
  const moderation = { input: { type: "error" }, output: { type: "error" } };
  const events: readonly StreamEvent[] = [
    { type: "text", delta: "a" },
    { ...STOP, type: "finish", reason: "stop", moderation },
  ];
  assertEquals(completed(events).moderation, moderation);
  assertEquals("moderation" in completed([STOP]), false);
  const found = chunksOf(events).map((chunk) => chunk.moderation);
  assertEquals(found, [undefined, undefined, moderation]);
});
