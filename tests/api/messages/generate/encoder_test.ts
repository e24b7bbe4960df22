import { encodeMessage, newMessageEncoder } from "../../../../src/api/messages/generate/encoder.ts";
import { parseThinking, sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import { sealedText } from "../../../../src/core/stream/sealed_text.ts";
import type { StreamEvent, Usage } from "../../../../src/core/stream/events.ts";
import { isObject } from "../../../../src/core/json/json.ts";
import { fault, refuse } from "../../../../src/core/failure/result.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";
import {
  call,
  contentOf,
  encoded,
  failureKind,
  finish,
  labelsOf,
  more,
  readRecords,
  reasoning,
  text,
  USAGE,
  whole,
} from "./encoded.ts";

const START: StreamEvent = { type: "start", id: "chatcmpl-1", model: "told", created: 3 };
const BROKEN = fault("upstream_idle", "The upstream fell silent.").failure;

/** A usage event of these counts, besides input 3 and output 40. */
function counted(more: Partial<Usage> = {}): StreamEvent {
  const plain = { input: 3, output: 40, total: 43, cached: 0, cacheWrite: 0, reasoning: 0 };
  return { type: "usage", usage: { ...plain, ...more } };
}

const EXAMPLE: readonly StreamEvent[] = [
  reasoning("Hm"),
  text("Ok "),
  { type: "tool_call", index: 0, id: "t1", name: "now" },
  finish("tool_calls"),
  counted(),
];
const SEAL = sealThinking([{ type: "thinking", thinking: "Hm" }]);

Deno.test("thinking, text and a call without arguments give the documented stream", () => {
  const encoder = newMessageEncoder(labelsOf());
  const lines = [...EXAMPLE.map(encoder.push), encoder.end()].flatMap((step) => {
    assert(step.ok);
    return step.value.map(({ event, data }) => `event: ${event}\ndata: ${data}\n`);
  });
  assertEquals(
    lines.join("\n"),
    `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"asked","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"diagnostics":null,"usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"${SEAL}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":null}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Ok "}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"now","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":40}}

event: message_stop
data: {"type":"message_stop"}
`,
  );
});

Deno.test("a whole message is the sum of the stream's records", () => {
  assertEquals(whole(EXAMPLE), {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "asked",
    content: [
      { type: "thinking", thinking: "Hm", signature: SEAL },
      { type: "text", text: "Ok ", citations: null },
      { type: "tool_use", id: "t1", name: "now", input: {} },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 40,
    },
  });
});

Deno.test("a whole message has thinking first, then text, then calls, each in its order", () => {
  const events = [
    call(0, '{"a":1}'),
    text("A"),
    reasoning("B"),
    text("C"),
    call(1, "{}"),
    finish(),
  ];
  const { content } = whole(events);
  assert(Array.isArray(content));
  assertEquals(
    content.map((block) => isObject(block) ? block.thinking ?? block.text ?? block.name : null),
    ["B", "A", "C", "f0", "f1"],
  );
});

Deno.test("numbers in the arguments of a whole message are written as received", () => {
  const body = whole([call(0, '{"n":12345678901234567890,"m":1.0}'), finish()]);
  assert(JSON.stringify(body).includes('"input":{"n":12345678901234567890,"m":1.0}'));
});

Deno.test("the model is that of the upstream, and nothing is sent before content", () => {
  const encoder = newMessageEncoder(labelsOf());
  const quiet = [START, counted(), text(""), reasoning(""), { ...finish() }];
  for (const event of quiet) assertEquals(encoder.push(event), { ok: true, value: [] });
  const end = encoder.end();
  assert(end.ok);
  const [start, ...rest] = readRecords(end.value);
  assert(isObject(start?.message));
  assertEquals<unknown>(start.message.model, "told");
  assertEquals(rest.map(({ type }) => type), ["message_delta", "message_stop"]);
});

Deno.test("token counts that are known at the start are in message_start too", () => {
  const [start] = encoded([{ type: "usage", usage: USAGE }, text("A"), finish()]);
  assert(isObject(start?.message));
  assertEquals<unknown>(start.message.usage, {
    input_tokens: 70,
    output_tokens: 40,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 10,
    output_tokens_details: { thinking_tokens: 4 },
  });
});

Deno.test("a response without content is a valid message with empty content", () => {
  assertEquals(encoded([finish()]).map(({ type }) => type), [
    "message_start",
    "message_delta",
    "message_stop",
  ]);
  const { content, stop_reason } = whole([finish()]);
  assertEquals<unknown>([content, stop_reason], [[], "end_turn"]);
});

const STOPS: readonly [readonly StreamEvent[], string, unknown][] = [
  [[text("A"), finish("stop")], "end_turn", null],
  [[call(0, "{}"), finish("stop")], "tool_use", null],
  [[call(0, "{}"), finish("tool_calls")], "tool_use", null],
  [[text("A"), finish("tool_calls")], "end_turn", null],
  [[text("A"), finish("length")], "max_tokens", null],
  [[call(0, "{}"), finish("length")], "max_tokens", null],
  [[finish("content_filter")], "refusal", { type: "refusal", category: null, explanation: null }],
  [[{ type: "refusal", delta: "I " }, { type: "refusal", delta: "won't." }, finish()], "refusal", {
    type: "refusal",
    category: null,
    explanation: "I won't.",
  }],
];

Deno.test("the stop reason follows from the finish reason, the calls and the refusal", () => {
  for (const [events, reason, details] of STOPS) {
    const last = [...encoded(events)].at(-2);
    assertEquals<unknown>(last?.delta, {
      stop_reason: reason,
      stop_sequence: null,
      stop_details: details,
    });
    const message = whole(events);
    assertEquals<unknown>([message.stop_reason, message.stop_details], [reason, details]);
  }
});

Deno.test("a response that the gateway ended at a stop text names it, unless it calls a tool", () => {
  const stopped: StreamEvent = { type: "finish", reason: "stop", stopText: "END" };
  const lines: readonly [readonly StreamEvent[], string, string | null][] = [
    [[text("A"), stopped], "stop_sequence", "END"],
    [[call(0, "{}"), { ...stopped, reason: "tool_calls" }], "tool_use", null],
  ];
  for (const [events, stop_reason, stop_sequence] of lines) {
    const last = [...encoded(events)].at(-2);
    assertEquals<unknown>(last?.delta, { stop_reason, stop_sequence, stop_details: null });
    const message = whole(events);
    assertEquals<unknown>([message.stop_reason, message.stop_sequence], [
      stop_reason,
      stop_sequence,
    ]);
  }
});

Deno.test("the three input counts sum to the prompt, all of them in message_delta", () => {
  const usageOf = (more: Partial<Usage>) =>
    encoded([text("A"), finish(), counted(more)]).at(-2)?.usage;
  assertEquals<unknown>(usageOf({ input: 2255, output: 7, cached: 512, cacheWrite: 1733 }), {
    input_tokens: 10,
    cache_creation_input_tokens: 1733,
    cache_read_input_tokens: 512,
    output_tokens: 7,
  });
  assertEquals<unknown>(usageOf({ cached: 5, reasoning: 9, serviceTier: "default" }), {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 5,
    output_tokens: 40,
    output_tokens_details: { thinking_tokens: 9 },
    service_tier: "standard",
  });
  for (const [tier, shown] of [["priority", "priority"], ["flex", undefined]] as const) {
    const usage = usageOf({ serviceTier: tier });
    assertEquals<unknown>(isObject(usage) ? usage.service_tier : null, shown);
  }
  assertEquals<unknown>(encoded([text("A"), finish()]).at(-2)?.usage, {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  });
});

Deno.test("thinking that the client does not show travels in the signature only", () => {
  const events = [reasoning("Se"), reasoning("cret"), text("A"), finish()];
  const records = encoded(events, labelsOf({ thinking: "sealed" }));
  const [thinking] = contentOf(records);
  assertEquals<unknown>(thinking?.thinking, "");
  const sealed = sealedText(String(thinking?.signature));
  assertEquals(parseThinking(sealed ?? ""), [{ type: "thinking", thinking: "Secret" }]);
  assert(!JSON.stringify(records).includes("thinking_delta"));
  assertEquals<unknown>(whole(events, labelsOf({ thinking: "sealed" })).content, [
    { type: "thinking", thinking: "", signature: thinking?.signature ?? "" },
    { type: "text", text: "A", citations: null },
  ]);
});

Deno.test("thinking is not sent to a client that disabled it", () => {
  const block: StreamEvent = {
    type: "thinking_block",
    value: { type: "redacted_thinking", data: "x" },
  };
  const events = [reasoning("Hm"), block, text("A"), finish()];
  const labels = labelsOf({ thinking: "hidden" });
  assertEquals<unknown>(contentOf(encoded(events, labels)), [
    { type: "text", text: "A", citations: null },
  ]);
});

Deno.test("hidden thinking and a refusal begin the message, because they may take long", () => {
  for (const event of [reasoning("Hm"), { type: "refusal", delta: "No" } as const]) {
    const encoder = newMessageEncoder(labelsOf({ thinking: "hidden" }));
    const steps = [encoder.push(event), encoder.push(event)].map((step) => {
      assert(step.ok);
      return readRecords(step.value).map(({ type }) => type);
    });
    assertEquals(steps, [["message_start"], []]);
  }
});

Deno.test("signed thinking has the upstream's signature, and redacted thinking stays as it is", () => {
  const signed = (thinking: string): StreamEvent => ({
    type: "thinking_block",
    value: { type: "thinking", thinking, signature: "theirs" },
  });
  const events = [
    reasoning("A"),
    signed("A"),
    reasoning("B"),
    signed("C"),
    { type: "thinking_block", value: { type: "redacted_thinking", data: "x" } } as const,
    finish(),
  ];
  const seal = sealThinking([{ type: "thinking", thinking: "B" }]);
  const content = [
    { type: "thinking", thinking: "A", signature: "theirs" },
    { type: "thinking", thinking: "B", signature: seal },
    { type: "thinking", thinking: "C", signature: "theirs" },
    { type: "redacted_thinking", data: "x" },
  ];
  assertEquals<unknown>(contentOf(encoded(events)), content);
  assertEquals<unknown>(whole(events).content, content);
});

Deno.test("calls that interleave are sent one after the other, and text between their pieces waits", () => {
  const events = [
    call(0),
    call(1),
    more(1, '{"b"'),
    more(0, '{"a":'),
    text("Later"),
    more(0, "1}"),
    more(1, ":2}"),
    finish("tool_calls"),
  ];
  assertEquals<unknown>(contentOf(encoded(events)), [
    { type: "tool_use", id: "t0", name: "f0", input: {}, partial_json: '{"a":1}' },
    { type: "tool_use", id: "t1", name: "f1", input: {}, partial_json: '{"b":2}' },
    { type: "text", text: "Later", citations: null },
  ]);
});

Deno.test("arguments come only as deltas, and blank arguments as none", () => {
  const events = [call(0, '{"a":1}'), call(1, " "), call(2), more(2, "\n"), finish()];
  assertEquals<unknown>(contentOf(encoded(events)), [
    { type: "tool_use", id: "t0", name: "f0", input: {}, partial_json: '{"a":1}' },
    { type: "tool_use", id: "t1", name: "f1", input: {} },
    { type: "tool_use", id: "t2", name: "f2", input: {} },
  ]);
});

Deno.test("a call's ID is fit for the Messages API, and unique if the upstream sent none", () => {
  const named = (index: number, id: string): StreamEvent => ({
    type: "tool_call",
    index,
    id,
    name: "f",
    arguments: "{}",
  });
  const ids = contentOf(
    encoded([
      named(0, "call_a-1"),
      named(1, "functions.f:0"),
      named(2, ""),
      named(3, ""),
      finish(),
    ]),
  ).map(({ id }) => String(id));
  assertEquals(ids[0], "call_a-1");
  assertMatch(ids[1] ?? "", /^functions_f_0_[0-9a-f]{8}$/);
  assertMatch(ids[2] ?? "", /^toolu_[0-9a-f]{24}$/);
  assertMatch(ids[3] ?? "", /^toolu_[0-9a-f]{24}$/);
  assertEquals(new Set(ids).size, 4);
});

Deno.test("a tool has the name that the client gave it", () => {
  const labels = labelsOf({ toolName: (name) => `mcp__long__${name}` });
  const [block] = contentOf(encoded([call(0, "{}"), finish()], labels));
  assertEquals<unknown>(block?.name, "mcp__long__f0");
});

Deno.test("arguments that are no JSON object fail, unless the token limit has cut them", () => {
  for (const text of ['{"a"', "[1]", '"x"', '{"a":1}}', "null"]) {
    assertEquals(failureKind([call(0, text), finish("tool_calls")]), "invalid_upstream_response");
  }
  assertEquals(
    failureKind([call(0), more(0, "{}"), more(0, '{"a":1}'), finish()]),
    "invalid_upstream_response",
  );
  const cut = [text("A"), call(0, "{}"), call(1), more(1, '{"a'), finish("length")];
  assertEquals<unknown>(contentOf(encoded(cut)).at(-1)?.partial_json, '{"a');
  assertEquals<unknown>(whole(cut).content, [
    { type: "text", text: "A", citations: null },
    { type: "tool_use", id: "t0", name: "f0", input: {} },
  ]);
});

Deno.test("arguments that are nested too deeply for a whole message fail", () => {
  const deep = `{"a":${"[".repeat(600)}${"]".repeat(600)}}`;
  const message = encodeMessage([call(0, deep), finish()], labelsOf());
  assert(!message.ok);
  assertEquals(message.failure.kind, "invalid_upstream_response");
});

Deno.test("calls of custom tools, stray arguments and a missing finish reason fail", () => {
  const custom: StreamEvent = { type: "tool_call", index: 0, id: "t", name: "f", kind: "custom" };
  const cases = [
    [custom, finish()],
    [more(7, "{"), finish()],
    [call(0, "{}"), call(1), more(0, "x"), finish()],
    [text("A")],
  ];
  for (const events of cases) assertEquals(failureKind(events), "invalid_upstream_response");
});

Deno.test("white space behind the arguments of a closed call is ignored", () => {
  const [first] = contentOf(encoded([call(0), more(0, "{}"), text("A"), more(0, "\n "), finish()]));
  assertEquals<unknown>(first?.partial_json, "{}");
});

Deno.test("a failure at any point gives exactly one error record and no message_stop", () => {
  for (let at = 0; at <= EXAMPLE.length; at += 1) {
    const encoder = newMessageEncoder(labelsOf());
    const before = EXAMPLE.slice(0, at).flatMap((event) => {
      const step = encoder.push(event);
      return step.ok ? [...step.value] : [];
    });
    const records = readRecords([...before, ...encoder.fail(BROKEN)]);
    assertEquals(records.filter(({ type }) => type === "error").length, 1);
    assertEquals<unknown>(records.at(-1), {
      type: "error",
      error: { type: "api_error", message: "The upstream fell silent." },
      request_id: "r-1",
    });
    assert(!records.some(({ type }) => type === "message_stop" || type === "message_delta"));
    assertEquals([encoder.fail(BROKEN), encoder.end()], [[], { ok: true, value: [] }]);
  }
});

Deno.test("the type of an error in a stream is api_error, whatever the failure", () => {
  const upstream = { status: 529, headers: {}, error: {}, raw: null };
  const failures = [
    fault("invalid_upstream_response", "m"),
    fault("upstream_unavailable", "m", { upstream }),
    refuse("draining", "m"),
    fault("internal_error", "m"),
  ];
  for (const { failure } of failures) {
    const [record] = readRecords(newMessageEncoder(labelsOf()).fail(failure));
    assert(isObject(record?.error));
    assertEquals<unknown>(record.error, { type: "api_error", message: "m" });
  }
});

Deno.test("an upstream's own message is not repeated in a stream, because it may hold a secret", () => {
  const upstream = { status: 500, headers: {}, error: { message: "key sk-1" }, raw: null };
  const { failure } = fault("upstream_unavailable", "It failed.", { upstream });
  assert(!JSON.stringify(newMessageEncoder(labelsOf()).fail(failure)).includes("sk-1"));
});

Deno.test("stored text is bounded: 16 MiB of thinking and arguments, and any number of blocks", () => {
  const piece = "x".repeat(1024 * 1024);
  const sources: readonly ((at: number) => StreamEvent[])[] = [
    () => [reasoning(piece)],
    (at) => at === 0 ? [call(0), more(0, `{"a":"`)] : [more(0, piece)],
    (at) => at === 0 ? [call(0), text("A")] : [text(piece)],
  ];
  for (const source of sources) {
    const encoder = newMessageEncoder(labelsOf());
    let taken = 0;
    while (taken < 40 && source(taken).every((event) => encoder.push(event).ok)) taken += 1;
    assert(taken > 14 && taken < 18, String(taken));
  }
  const encoder = newMessageEncoder(labelsOf());
  let blocks = 0;
  while (blocks < 80_000 && [text("A"), reasoning("B")].every((one) => encoder.push(one).ok)) {
    blocks += 2;
  }
  assert(blocks > 20_000 && blocks < 40_000, String(blocks));
});

Deno.test("text is not stored, so that its length has no limit", () => {
  const encoder = newMessageEncoder(labelsOf());
  const piece = text("x".repeat(1024 * 1024));
  for (let at = 0; at < 40; at += 1) assert(encoder.push(piece).ok);
});

Deno.test("a refusal of more than 1 MiB fails", () => {
  const events: StreamEvent[] = [{ type: "refusal", delta: "x".repeat(1024 * 1024 + 1) }, finish()];
  assertEquals(failureKind(events), "upstream_response_too_large");
});
