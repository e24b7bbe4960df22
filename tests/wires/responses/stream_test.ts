import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import { decodeStream, idSource, streamOf } from "./encoded_request.ts";
import { added, BEGUN, CALL, created, done, ended, message, textDelta, WHOLE } from "./events.ts";

const EVENTS = [
  { type: "start", id: "resp_1", model: "m", created: 5 },
  { type: "text", delta: " Ok" },
  { type: "text", delta: "\n" },
  {
    type: "usage",
    usage: { input: 3, output: 4, total: 7, cached: 0, cacheWrite: 0, reasoning: 0 },
  },
  { type: "finish", reason: "stop" },
];

Deno.test("a stream is decoded event by event, however its bytes are split", () => {
  for (const size of [1, 7, 9999]) {
    assertEquals<unknown>(valueOf(decodeStream(streamOf(WHOLE), size)), EVENTS);
  }
});

Deno.test("sequence numbers may start at any value and skip values, and event names may be missing", () => {
  const numbered = WHOLE.map((event, index) => ({ ...event, sequence_number: 7 + index * 3 }));
  assertEquals<unknown>(valueOf(decodeStream(streamOf(numbered))), EVENTS);
  const nameless = streamOf(WHOLE).replaceAll(/^event: .*\n/gm, "");
  assertEquals<unknown>(valueOf(decodeStream(nameless)), EVENTS);
});

Deno.test("content without deltas is emitted when its item or the response is complete", () => {
  const late = [...BEGUN, textDelta(" Ok"), done(0, message(" Ok\n")), ended()];
  const last = [...BEGUN, textDelta(" Ok"), ended("completed", { output: [message(" Ok\n")] })];
  const text = {
    type: "response.output_text.done",
    output_index: 0,
    content_index: 0,
    text: " Ok\n",
  };
  const byPart = [...BEGUN, textDelta(" Ok"), text, done(0, message(" Ok\n")), ended()];
  for (const events of [late, last, byPart]) {
    assertEquals<unknown>(valueOf(decodeStream(streamOf(events))), EVENTS);
  }
});

Deno.test("records after the terminal event are ignored", () => {
  const behind = `${streamOf(WHOLE)}data: {broken\n\n`;
  assertEquals<unknown>(valueOf(decodeStream(behind)), EVENTS);
});

Deno.test("unknown events are ignored", () => {
  const other = { type: "response.shell_call_command.delta", output_index: 9, delta: "x" };
  const events = [created(), other, ...WHOLE.slice(1)];
  assertEquals<unknown>(valueOf(decodeStream(streamOf(events))), EVENTS);
});

Deno.test("an error event is the fault of the status that belongs to it", () => {
  const cases: readonly [Parameters<typeof assertFailed>[1], JsonObject][] = [
    ["upstream_throttled", { type: "error", code: "rate_limit_exceeded", message: "m" }],
    ["upstream_rejected", { type: "error", error: { type: "invalid_request_error" } }],
    ["upstream_unavailable", { type: "error", message: "m" }],
    ["upstream_unavailable", ended("failed", { error: { code: "server_error", message: "m" } })],
    ["upstream_rejected", ended("failed", { error: { code: "invalid_prompt", message: "m" } })],
    ["upstream_unavailable", ended("failed")],
  ];
  for (const [kind, event] of cases) {
    assertFailed(decodeStream(streamOf([event])), kind);
    assertFailed(decodeStream(streamOf([...BEGUN, textDelta("a"), event])), kind);
  }
  assertFailed(decodeStream('event: error\ndata: {"error":"boom"}\n\n'), "upstream_unavailable");
});

Deno.test("an incomplete response may leave its last item open", () => {
  for (
    const [reason, expected] of [
      ["max_output_tokens", "length"],
      ["max_messages", "length"],
      ["content_filter", "content_filter"],
    ] as const
  ) {
    const end = ended("incomplete", { incomplete_details: { reason }, usage: null });
    const events = valueOf(decodeStream(streamOf([...BEGUN, textDelta("a"), end])));
    assertEquals<unknown>(events.at(-1), { type: "finish", reason: expected });
  }
});

Deno.test("two calls with one ID are two calls", () => {
  const other = { ...CALL, name: "g", arguments: "[]" };
  const events = [created(), added(0, CALL), added(1, other), done(1, other), done(0, CALL)];
  assertEquals<unknown>(valueOf(decodeStream(streamOf([...events, ended()]))).slice(1, -2), [
    { type: "tool_call", index: 0, id: "c1", name: "f" },
    { type: "tool_call", index: 1, id: "call_id", name: "g" },
    { type: "tool_arguments", index: 1, delta: "[]" },
    { type: "tool_arguments", index: 0, delta: "{}" },
  ]);
});

Deno.test("the usage is that of the last response object with usage, also of a failed one", () => {
  const decoder = responses.newDecoder(idSource);
  const push = (event: JsonObject, sequence_number: number) =>
    decoder.push({ event: null, data: JSON.stringify({ ...event, sequence_number }), raw: null });
  push(created(), 0);
  assertEquals(decoder.usage(), null);
  const counts = { total: 7, cached: 0, cacheWrite: 0, reasoning: 0 };
  assertFailed(
    push(ended("failed", { error: { code: "server_error" } }), 1),
    "upstream_unavailable",
  );
  assertEquals(decoder.usage(), { input: 3, output: 4, ...counts });
});
