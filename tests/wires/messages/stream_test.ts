import type { StreamEvent } from "../../../src/core/stream/events.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { withCrlf } from "../../support/golden.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import { decodeStream, idSource, streamOf } from "./encoded_request.ts";

const BEGIN: JsonObject = {
  type: "message_start",
  message: {
    id: "msg_1",
    model: "m",
    content: [],
    usage: { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 1 },
  },
};
const STOP: JsonObject = { type: "message_stop" };

function open(index: number, content_block: JsonObject): JsonObject {
  return { type: "content_block_start", index, content_block };
}

function add(index: number, type: string, value: JsonValue): JsonObject {
  const member = {
    text_delta: "text",
    input_json_delta: "partial_json",
    thinking_delta: "thinking",
    signature_delta: "signature",
    citations_delta: "citation",
  }[type] ?? "other";
  return { type: "content_block_delta", index, delta: { type, [member]: value } };
}

function shut(index: number): JsonObject {
  return { type: "content_block_stop", index };
}

function leave(stop_reason: string | null, usage: JsonObject = { output_tokens: 40 }): JsonObject {
  return { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage };
}

const TEXT = { type: "text", text: "" };
const CALL = { type: "tool_use", id: "t1", name: "now", input: {} };

const WHOLE: readonly JsonObject[] = [
  BEGIN,
  open(0, TEXT),
  { type: "ping" },
  add(0, "text_delta", "Ok "),
  shut(0),
  open(1, CALL),
  shut(1),
  open(2, { type: "tool_use", id: "t2", name: "add", input: {} }),
  add(2, "input_json_delta", ""),
  add(2, "input_json_delta", '{"a":'),
  add(2, "input_json_delta", "1}"),
  shut(2),
  leave("tool_use"),
  STOP,
];
const WHOLE_EVENTS: readonly StreamEvent[] = [
  { type: "start", id: "msg_1", model: "m", created: 1_700_000_000 },
  { type: "text", delta: "Ok " },
  { type: "tool_call", index: 0, id: "t1", name: "now" },
  { type: "tool_arguments", index: 0, delta: "{}" },
  { type: "tool_call", index: 1, id: "t2", name: "add" },
  { type: "tool_arguments", index: 1, delta: '{"a":' },
  { type: "tool_arguments", index: 1, delta: "1}" },
  {
    type: "usage",
    usage: { input: 8, output: 40, total: 48, cached: 5, cacheWrite: 0, reasoning: 0 },
  },
  { type: "finish", reason: "tool_calls" },
];

/** Returns the events of a stream, without start and usage. */
function eventsOf(events: readonly JsonObject[], reason = "end_turn"): readonly StreamEvent[] {
  const text = streamOf([BEGIN, ...events, leave(reason), STOP]);
  return valueOf(decodeStream(text)).slice(1, -2);
}

Deno.test("a stream has the same events however it is split and however its lines end", () => {
  const text = streamOf(WHOLE);
  const plain = WHOLE.map((event) => `: note\ndata:${JSON.stringify(event)}\n\n`).join("");
  for (const written of [text, withCrlf(text), plain, text.replaceAll("\n", "\r")]) {
    for (const size of [1, 7, written.length]) {
      assertEquals(valueOf(decodeStream(written, size)), WHOLE_EVENTS);
    }
  }
});

Deno.test("every stream that ends before its last record is a failure", () => {
  const text = streamOf(WHOLE);
  for (let end = 0; end < text.length; end += 1) {
    assertFailed(decodeStream(text.slice(0, end), 64), "invalid_upstream_response");
  }
});

Deno.test("records after the last record are ignored", () => {
  const text = streamOf(WHOLE) + "data: [DONE]\n\ndata: {\n\n";
  assertEquals(valueOf(decodeStream(text)), WHOLE_EVENTS);
});

Deno.test("interleaved blocks are identified by their index", () => {
  const events = eventsOf([
    open(0, CALL),
    open(1, { ...CALL, id: "t2" }),
    add(1, "input_json_delta", '{"b":2}'),
    add(0, "input_json_delta", '{"a":1}'),
  ]);
  assertEquals<unknown>(events, [
    { type: "tool_call", index: 0, id: "t1", name: "now" },
    { type: "tool_call", index: 1, id: "t2", name: "now" },
    { type: "tool_arguments", index: 1, delta: '{"b":2}' },
    { type: "tool_arguments", index: 0, delta: '{"a":1}' },
  ]);
});

Deno.test("the complete input in a call's start event is used if no delta follows", () => {
  const whole = '{"n":12345678901234567890}';
  const start =
    `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use",` +
    `"id":"t","name":"f","input":${whole}}}\n\n`;
  const text = streamOf([BEGIN]) + start + streamOf([shut(0), leave("tool_use"), STOP]);
  assertEquals<unknown>(valueOf(decodeStream(text))[2], {
    type: "tool_arguments",
    index: 0,
    delta: whole,
  });
  const pieces = eventsOf([
    open(0, { ...CALL, input: { a: 0 } }),
    add(0, "input_json_delta", '{"a":1}'),
    shut(0),
  ]);
  assertEquals<unknown>(pieces.slice(1), [
    { type: "tool_arguments", index: 0, delta: '{"a":1}' },
  ]);
});

Deno.test("arguments that are not an object are a failure, unless the token limit truncated them", () => {
  const cut = [open(0, CALL), add(0, "input_json_delta", '{"a":'), shut(0)];
  const broken = decodeStream(streamOf([BEGIN, ...cut, leave("tool_use"), STOP]));
  assertFailed(broken, "invalid_upstream_response");
  assertEquals<unknown>(eventsOf(cut, "max_tokens").at(-1), {
    type: "tool_arguments",
    index: 0,
    delta: '{"a":',
  });
});

Deno.test("thinking is emitted as it arrives, and again as a complete block with its last signature", () => {
  const start = { type: "thinking", thinking: "", signature: "" };
  const events = eventsOf([
    open(0, start),
    add(0, "thinking_delta", "h"),
    add(0, "thinking_delta", "m"),
    add(0, "signature_delta", "old"),
    add(0, "signature_delta", "new"),
    shut(0),
    open(1, start),
    add(1, "signature_delta", "s"),
    shut(1),
    open(2, { type: "redacted_thinking", data: "d" }),
    shut(2),
  ]);
  assertEquals<unknown>(events, [
    { type: "reasoning", delta: "h" },
    { type: "reasoning", delta: "m" },
    { type: "thinking_block", value: { type: "thinking", thinking: "hm", signature: "new" } },
    { type: "thinking_block", value: { type: "thinking", thinking: "", signature: "s" } },
    { type: "thinking_block", value: { type: "redacted_thinking", data: "d" } },
  ]);
});

Deno.test("citations are emitted when their text is complete", () => {
  const events = eventsOf([
    open(0, { type: "text", text: "a" }),
    add(0, "citations_delta", { url: "u", title: "t" }),
    add(0, "text_delta", "b"),
    shut(0),
  ]);
  assertEquals<unknown>(events.at(-1), {
    type: "annotation",
    value: {
      type: "url_citation",
      url_citation: { url: "u", title: "t", start_index: 0, end_index: 2 },
    },
  });
});

Deno.test("unknown records and deltas are ignored", () => {
  assertEquals<unknown>(
    eventsOf([
      { type: "new" },
      open(0, TEXT),
      add(0, "new_delta", 1),
      add(0, "text_delta", "a"),
      shut(0),
    ]),
    [{ type: "text", delta: "a" }],
  );
});

Deno.test("a later usage replaces an earlier one field by field", () => {
  const late = { input_tokens: 4, cache_read_input_tokens: null, output_tokens: 9 };
  const text = streamOf([BEGIN, leave(null, { output_tokens: 5 }), leave("end_turn", late), STOP]);
  assertEquals<unknown>(valueOf(decodeStream(text))[1], {
    type: "usage",
    usage: { input: 9, output: 9, total: 18, cached: 5, cacheWrite: 0, reasoning: 0 },
  });
});

Deno.test("unknown usage fields of 20,000 records are not stored", () => {
  const others = Array.from({ length: 20_000 }, (_, at) => leave(null, { [`x${at}`]: at }));
  const text = streamOf([BEGIN, ...others, leave("end_turn", { output_tokens: 9 }), STOP]);
  assertEquals<unknown>(valueOf(decodeStream(text))[1], {
    type: "usage",
    usage: { input: 8, output: 9, total: 17, cached: 5, cacheWrite: 0, reasoning: 0 },
  });
});

Deno.test("a stream without usage has no usage event", () => {
  const start = { type: "message_start", message: { id: "msg_1", model: "m" } };
  const end = { type: "message_delta", delta: { stop_reason: "end_turn" } };
  assertEquals<unknown>(valueOf(decodeStream(streamOf([start, end, STOP]))).slice(1), [
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("malformed records are failures", () => {
  const broken: readonly JsonObject[][] = [
    [leave(null), STOP],
    [STOP],
    [leave("pause_turn"), STOP],
    [open(0, { type: "server_tool_use", id: "a", name: "b", input: {} })],
    [add(0, "text_delta", "a")],
    [open(0, { ...CALL, id: null })],
  ];
  for (const events of broken) {
    assertFailed(decodeStream(streamOf([BEGIN, ...events])), "invalid_upstream_response");
  }
  for (const data of ["{", "[]", "1", "[DONE]"]) {
    assertFailed(decodeStream(`data: ${data}\n\n`), "invalid_upstream_response");
  }
});

Deno.test("two calls with one ID are two calls", () => {
  const events = eventsOf([open(0, CALL), shut(0), open(1, { ...CALL, name: "then" }), shut(1)]);
  assertEquals<unknown>(events.filter(({ type }) => type === "tool_call"), [
    { type: "tool_call", index: 0, id: "t1", name: "now" },
    { type: "tool_call", index: 1, id: "call_id", name: "then" },
  ]);
});

Deno.test("the usage is known after the first record, and later counts replace it", () => {
  const decoder = messages.newDecoder(idSource);
  const push = (event: JsonObject) =>
    decoder.push({ event: null, data: JSON.stringify(event), raw: null });
  const counts = { input: 8, cached: 5, cacheWrite: 0, reasoning: 0 };
  assertEquals(decoder.usage(), null);
  push(BEGIN);
  assertEquals(decoder.usage(), { ...counts, output: 1, total: 9, isEarly: true });
  push(leave(null, { output_tokens: 30 }));
  push({ type: "error", error: { type: "overloaded_error" } });
  assertEquals(decoder.usage(), { ...counts, output: 30, total: 38 });
});
