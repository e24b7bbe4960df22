import { assertEquals } from "../../support/assert.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { local } from "../../../src/wires/local/local.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { longParses } from "../../support/long_parses.ts";
import { countingMint } from "./target.ts";

const START: StreamEvent = {
  type: "start",
  id: "chatcmpl-00000000000040008000000000000001",
  model: "m",
  created: 1_785_578_400,
};

function decodeText(text: string): Result<readonly StreamEvent[]> {
  return local.decode(valueOf(parseDocument(text)), countingMint());
}

function decode(record: Record<string, unknown>): Result<readonly StreamEvent[]> {
  const common = { model: "m", created_at: "2026-08-01T10:00:00.123456789Z", done: true };
  return decodeText(JSON.stringify({ ...common, done_reason: "stop", ...record }));
}

function eventsOf(record: Record<string, unknown>): readonly StreamEvent[] {
  return valueOf(decode(record));
}

Deno.test("a response is decoded to its reasoning, text, usage and finish", () => {
  const message = { role: "assistant", content: "Hi", thinking: "Hm." };
  assertEquals<unknown>(eventsOf({ message, prompt_eval_count: 26, eval_count: 2 }), [
    START,
    { type: "reasoning", delta: "Hm." },
    { type: "text", delta: "Hi" },
    {
      type: "usage",
      usage: { input: 26, output: 2, total: 28, cached: 0, cacheWrite: 0, reasoning: 0 },
    },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("a response without content is a start and a finish", () => {
  for (const message of [undefined, null, {}, { content: "" }, { content: null, thinking: "" }]) {
    assertEquals<unknown>(eventsOf({ message }), [START, { type: "finish", reason: "stop" }]);
  }
});

Deno.test("the creation time is parsed with any offset; if missing, it is the current time", () => {
  const createdOf = (created_at: unknown) => {
    const [start] = eventsOf({ created_at });
    return start?.type === "start" ? start.created : null;
  };
  assertEquals(createdOf("2026-08-01T12:00:00.9+02:00"), 1_785_578_400);
  assertEquals(createdOf("yesterday"), 1_700_000_000);
  assertEquals(createdOf(undefined), 1_700_000_000);
});

Deno.test("tool calls have an index, their ID or a generated one, and finish with tool_calls", () => {
  const tool_calls = [
    { id: "call_a", function: { index: 3, name: "f", arguments: { c: "Oslo" } } },
    { function: { index: 3, name: "g", arguments: '{"c": "Rome"}' } },
    { id: "call_a", function: { name: "f" } },
    { id: "", function: { name: "f", arguments: null } },
  ];
  assertEquals<unknown>(eventsOf({ message: { content: "", tool_calls } }).slice(0, -1), [
    { ...START, id: "chatcmpl-00000000000040008000000000000004" },
    { type: "tool_call", index: 0, id: "call_a", name: "f", arguments: '{"c":"Oslo"}' },
    {
      type: "tool_call",
      index: 1,
      id: "call_000040008000000000000001",
      name: "g",
      arguments: '{"c": "Rome"}',
    },
    {
      type: "tool_call",
      index: 2,
      id: "call_000040008000000000000002",
      name: "f",
      arguments: "{}",
    },
    {
      type: "tool_call",
      index: 3,
      id: "call_000040008000000000000003",
      name: "f",
      arguments: "{}",
    },
  ]);
  assertEquals<unknown>(eventsOf({ message: { tool_calls } }).at(-1), {
    type: "finish",
    reason: "tool_calls",
  });
});

Deno.test("numbers in arguments keep their text", () => {
  const events = valueOf(decodeText(
    '{"done":true,"message":{"tool_calls":[{"function":{"name":"f",' +
      '"arguments":{"a":1.0,"b":12345678901234567890,"c":[-0,1e2]}}}]}}',
  ));
  assertEquals<unknown>(events.find(({ type }) => type === "tool_call"), {
    type: "tool_call",
    index: 0,
    id: "call_000040008000000000000001",
    name: "f",
    arguments: '{"a":1.0,"b":12345678901234567890,"c":[-0,1e2]}',
  });
});

Deno.test("malformed messages and calls are failures", () => {
  const bad: readonly Record<string, unknown>[] = [
    { message: "Hi" },
    { message: { content: ["Hi"] } },
    { message: { thinking: 1 } },
    { message: { tool_calls: {} } },
    { message: { tool_calls: ["f"] } },
    { message: { tool_calls: [{ id: "a" }] } },
    { message: { tool_calls: [{ function: { arguments: {} } }] } },
    { message: { tool_calls: [{ function: { name: "" } }] } },
    ...["", "[]", "{", 1, [], true].map((args) => ({
      message: { tool_calls: [{ function: { name: "f", arguments: args } }] },
    })),
  ];
  for (const record of bad) assertFailed(decode(record), "invalid_upstream_response");
});

const CALLING = { tool_calls: [{ function: { name: "f" } }] };

Deno.test("each stop reason maps to a finish reason, with and without calls", () => {
  const finishOf = (record: Record<string, unknown>) => eventsOf(record).at(-1);
  const finish = (reason: string) => ({ type: "finish", reason });
  for (const done_reason of ["stop", undefined, null, ""]) {
    assertEquals<unknown>(finishOf({ done_reason }), finish("stop"));
    assertEquals<unknown>(finishOf({ done_reason, message: CALLING }), finish("tool_calls"));
  }
  assertEquals<unknown>(finishOf({ done_reason: "length" }), finish("length"));
  assertEquals<unknown>(finishOf({ done_reason: "length", message: CALLING }), finish("length"));
});

Deno.test("a missing or unknown stop reason is a failure", () => {
  for (const done_reason of ["load", "unload", "tired", 1, {}]) {
    assertFailed(decode({ done_reason }), "invalid_upstream_response");
  }
  for (const done of [false, undefined, "true", 1]) {
    assertFailed(decode({ done, message: { content: "Hi" } }), "invalid_upstream_response");
  }
  assertFailed(decodeText("{}"), "invalid_upstream_response");
});

Deno.test("an error in a response with a success status is a failure", () => {
  for (const error of ["broken", { message: "broken" }, {}]) {
    assertFailed(decode({ error }), "upstream_unavailable");
  }
  assertFailed(decode({ error: true }), "invalid_upstream_response");
  assertEquals<unknown>(eventsOf({ error: "" }).at(-1), { type: "finish", reason: "stop" });
});

Deno.test("one missing count is zero, two are no usage, and cached tokens are part of the input", () => {
  const usageOf = (counts: Record<string, unknown>) => {
    const event = eventsOf(counts).find(({ type }) => type === "usage");
    return event?.type === "usage" ? event.usage : null;
  };
  const none = { input: 0, output: 0, total: 0, cached: 0, cacheWrite: 0, reasoning: 0 };
  assertEquals(usageOf({}), null);
  assertEquals(usageOf({ prompt_eval_count: "9", eval_count: -1 }), null);
  assertEquals(usageOf({ prompt_eval_count: 9 }), { ...none, input: 9, total: 9 });
  assertEquals(usageOf({ eval_count: 4 }), { ...none, output: 4, total: 4 });
  assertEquals(
    usageOf({ prompt_eval_count: 9, eval_count: 4, prompt_eval_cached_count: 5 }),
    { ...none, input: 9, output: 4, total: 13, cached: 5 },
  );
});

Deno.test("a response with calls is parsed once, unless its numbers have to keep their text", () => {
  for (const [number, expected] of [["1.5", 1], ["1.0", 2]] as const) {
    const call = { function: { name: "f", arguments: { text: "x".repeat(1_000), number: 0 } } };
    const message = { role: "assistant", content: "", tool_calls: [call] };
    const text = JSON.stringify({ model: "m", done: true, message })
      .replace('"number":0', `"number":${number}`);
    using parses = longParses();
    const events = valueOf(decodeText(text));
    assertEquals(parses.count(), expected);
    assertEquals(JSON.stringify(events).includes(`number\\":${number}`), true);
  }
});
