import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { assertEquals } from "../../support/assert.ts";
import { longParses } from "../../support/long_parses.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { decodeText } from "./encoded_request.ts";

const START: StreamEvent = { type: "start", id: "msg_1", model: "m-1", created: 1_700_000_000 };
const TEXT = { type: "text", text: "Hi", citations: null };

function decode(members: Written) {
  const common = { id: "msg_1", type: "message", role: "assistant", model: "m-1" };
  return decodeText(JSON.stringify({ ...common, stop_reason: "end_turn", ...members }));
}

/** Returns the events of a response, without start and finish. */
function eventsOf(members: Written): readonly StreamEvent[] {
  const [start, ...events] = valueOf(decode(members));
  assertEquals(start, START);
  return events.slice(0, -1);
}

function finishOf(members: Written): StreamEvent | undefined {
  return valueOf(decode(members)).at(-1);
}

Deno.test("a response is decoded to its texts in order, its usage and its finish", () => {
  const usage = { input_tokens: 10, cache_creation_input_tokens: null, output_tokens: 7 };
  const content = [TEXT, { type: "text", text: " there" }];
  assertEquals<unknown>(valueOf(decode({ content, usage })), [
    START,
    { type: "text", delta: "Hi" },
    { type: "text", delta: " there" },
    {
      type: "usage",
      usage: { input: 10, output: 7, total: 17, cached: 0, cacheWrite: 0, reasoning: 0 },
    },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("a response may be empty", () => {
  assertEquals(eventsOf({ content: [] }), []);
});

Deno.test("the input count includes tokens read from and written to the cache", () => {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 1733,
    cache_read_input_tokens: 512,
    cache_creation: { ephemeral_5m_input_tokens: 1733, ephemeral_1h_input_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 3 },
  };
  assertEquals<unknown>(eventsOf({ content: [], usage }), [{
    type: "usage",
    usage: { input: 2255, output: 7, total: 2262, cached: 512, cacheWrite: 1733, reasoning: 3 },
  }]);
});

Deno.test("calls are numbered without the other blocks, and their numbers keep their text", () => {
  const events = valueOf(decodeText(
    '{"content":[{"type":"text","text":"Ok"},{"type":"tool_use","id":"a","name":"f","input":' +
      '{"n":12345678901234567890, "m":1.0}},{"type":"tool_use","id":"b","name":"g","input":{}}],' +
      '"stop_reason":"tool_use"}',
  ));
  assertEquals<unknown>(events.slice(2), [
    { type: "tool_call", index: 0, id: "a", name: "f" },
    { type: "tool_arguments", index: 0, delta: '{"n":12345678901234567890,"m":1.0}' },
    { type: "tool_call", index: 1, id: "b", name: "g" },
    { type: "tool_arguments", index: 1, delta: "{}" },
    { type: "finish", reason: "tool_calls" },
  ]);
});

Deno.test("thinking is emitted, and a signed or redacted block is also emitted complete", () => {
  const signed = { type: "thinking", thinking: "", signature: "s" };
  const redacted = { type: "redacted_thinking", data: "d" };
  const unsigned = { type: "thinking", thinking: "hm", signature: "" };
  assertEquals<unknown>(eventsOf({ content: [signed, redacted, unsigned] }), [
    { type: "reasoning", delta: "" },
    { type: "thinking_block", value: signed },
    { type: "thinking_block", value: redacted },
    { type: "reasoning", delta: "hm" },
  ]);
});

Deno.test("web citations cover the text that they belong to", () => {
  const citation = { type: "web_search_result_location", url: "u", title: "t", cited_text: "c" };
  const cited = { type: "text", text: "cited", citations: [citation, { type: "page_location" }] };
  assertEquals<unknown>(eventsOf({ content: [TEXT, cited] }).at(-1), {
    type: "annotation",
    value: {
      type: "url_citation",
      url_citation: { url: "u", title: "t", start_index: 2, end_index: 7 },
    },
  });
});

const REASONS: readonly [reason: string, finish: string][] = [
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
];

Deno.test("each stop reason maps to a finish reason, and unknown ones are failures", () => {
  for (const [stop_reason, reason] of REASONS) {
    assertEquals<unknown>(finishOf({ content: [TEXT], stop_reason }), { type: "finish", reason });
  }
  for (const stop_reason of ["pause_turn", "compaction", "new", null, undefined]) {
    assertFailed(decode({ content: [TEXT], stop_reason }), "invalid_upstream_response");
  }
});

Deno.test("a response with calls finishes with tool_calls, unless the limit truncated it", () => {
  const content = [{ type: "tool_use", id: "a", name: "f", input: {} }];
  assertEquals<unknown>(finishOf({ content }), { type: "finish", reason: "tool_calls" });
  const cut = finishOf({ content, stop_reason: "max_tokens" });
  assertEquals<unknown>(cut, { type: "finish", reason: "length" });
});

Deno.test("a refusal has its explanation or a default sentence", () => {
  const refused = (stop_details: unknown) =>
    eventsOf({ content: [TEXT], stop_reason: "refusal", stop_details });
  const text = { type: "text", delta: "Hi" };
  const explained = refused({ type: "refusal", explanation: "No." });
  assertEquals<unknown>(explained, [text, { type: "refusal", delta: "No." }]);
  for (const details of [null, { explanation: null }, { explanation: "" }]) {
    const plain = { type: "refusal", delta: "The model refused to answer." };
    assertEquals<unknown>(refused(details), [text, plain]);
  }
});

Deno.test("a block without a counterpart in Chat is a failure", () => {
  const blocks = [
    { type: "server_tool_use", id: "a", name: "web_search", input: {} },
    { type: "new" },
    { type: "tool_use", id: "a", name: "f", input: "{}" },
    { type: "tool_use", name: "f", input: {} },
    { type: "text" },
    null,
  ];
  for (const block of blocks) {
    assertFailed(decode({ content: [block] }), "invalid_upstream_response");
  }
  assertFailed(decode({ content: "Hi" }), "invalid_upstream_response");
  assertFailed(decodeText("{}"), "invalid_upstream_response");
});

Deno.test("two calls with one ID are two calls", () => {
  const call = { type: "tool_use", id: "t1", name: "f", input: {} };
  const events = eventsOf({ content: [call, { ...call, name: "g" }], stop_reason: "tool_use" });
  assertEquals<unknown>(events.filter(({ type }) => type === "tool_call"), [
    { type: "tool_call", index: 0, id: "t1", name: "f" },
    { type: "tool_call", index: 1, id: "call_id", name: "g" },
  ]);
});

Deno.test("a response is parsed once, unless its numbers have to keep their text", () => {
  for (const [score, expected] of [["1.5", 1], ["1.0", 2]] as const) {
    const content = [{ type: "text", text: "x".repeat(1_000) }];
    const members = { type: "message", model: "m-1", stop_reason: "end_turn", content, score: 0 };
    using parses = longParses();
    valueOf(decodeText(JSON.stringify(members).replace('"score":0', `"score":${score}`)));
    assertEquals(parses.count(), expected);
  }
});
