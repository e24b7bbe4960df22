import { assert, assertEquals } from "../../support/assert.ts";
import { pieces } from "../../support/pieces.ts";
import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { newNdjsonFraming } from "../../../src/formats/ndjson.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { local } from "../../../src/wires/local/local.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { decodeRecords } from "../decoded.ts";
import { countingMint } from "./target.ts";

const LINES = [
  '{"model":"m","created_at":"2026-08-01T10:00:00Z","message":{"role":"assistant","content":""},"done":false}',
  '{"message":{"role":"assistant","content":"","thinking":"Need both."},"done":false}',
  '{"logprobs":[{"token":"a","logprob":-0.1}],"done":false}',
  '{"message":{"content":"Grüß 🌍","thinking":"?"},"done":false}',
  '{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"t","arguments":{"c":"Oslo"}}}]},"done":false}',
  '{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"t","arguments":{"n":1.0}}}]},"done":false}',
  '{"message":{"content":"."},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":30}',
];

const EVENTS: readonly StreamEvent[] = [
  {
    type: "start",
    id: "chatcmpl-00000000000040008000000000000001",
    model: "",
    created: 1_700_000_000,
  },
  { type: "reasoning", delta: "Need both." },
  { type: "reasoning", delta: "?" },
  { type: "text", delta: "Grüß 🌍" },
  {
    type: "tool_call",
    index: 0,
    id: "call_000040008000000000000002",
    name: "t",
    arguments: '{"c":"Oslo"}',
  },
  {
    type: "tool_call",
    index: 1,
    id: "call_000040008000000000000003",
    name: "t",
    arguments: '{"n":1.0}',
  },
  { type: "text", delta: "." },
  {
    type: "usage",
    usage: { input: 9, output: 30, total: 39, cached: 0, cacheWrite: 0, reasoning: 0 },
  },
  { type: "finish", reason: "tool_calls" },
];

/** Returns the events of a byte stream that arrives in reads of this size. */
function decodeBytes(bytes: Uint8Array, size: number): Result<readonly StreamEvent[]> {
  const framing = newNdjsonFraming();
  const decoder = local.newDecoder(countingMint());
  const text = new TextDecoder();
  return decodeRecords(decoder, [
    ...pieces(bytes, size).flatMap((part) => framing.push(text.decode(part, { stream: true }))),
    ...framing.end(),
  ]);
}

function decodeLines(...lines: readonly string[]): Result<readonly StreamEvent[]> {
  return decodeBytes(new TextEncoder().encode(lines.join("\n")), 1 << 20);
}

Deno.test("a stream has the same events however it is split and however its lines end", () => {
  for (const newline of ["\n", "\r\n", "\n\n", "\r\n \r\n"]) {
    for (const last of [newline, ""]) {
      const bytes = new TextEncoder().encode(LINES.join(newline) + last);
      for (const size of [1, 7, bytes.length]) {
        assertEquals<unknown>(valueOf(decodeBytes(bytes, size)), EVENTS);
      }
    }
  }
});

Deno.test("a stream truncated at any byte is a failure or complete", () => {
  const bytes = new TextEncoder().encode(LINES.slice(3).join("\n"));
  for (let length = 0; length < bytes.length; length++) {
    assertFailed(decodeBytes(bytes.slice(0, length), 7), "invalid_upstream_response");
  }
  assert(decodeBytes(bytes, 7).ok);
});

Deno.test("the start event is emitted once, with the first record that has content", () => {
  const decoder = local.newDecoder(countingMint());
  const step = (data: string) => valueOf(decoder.push({ event: null, data, raw: null }));
  assertEquals<unknown>(step('{"message":{"content":""},"done":false}'), []);
  assertEquals<unknown>(step('{"done":false}'), []);
  assertEquals<unknown>(step(" "), []);
  const types = step('{"model":"x","message":{"content":"a"}}').map(({ type }) => type);
  assertEquals<unknown>(types, ["start", "text"]);
  assertEquals<unknown>(step('{"message":{"content":"b"}}'), [{ type: "text", delta: "b" }]);
});

Deno.test("records after the last record are ignored", () => {
  const decoder = local.newDecoder(countingMint());
  const push = (data: string) => valueOf(decoder.push({ event: null, data, raw: null }));
  assertEquals(decoder.done(), false);
  assertEquals(push('{"done":true}').length, 2);
  assertEquals(decoder.done(), true);
  assertEquals<unknown>(push("garbage"), []);
  assertEquals<unknown>(push('{"error":"late"}'), []);
  assertEquals<unknown>(valueOf(decoder.end()), []);
});

Deno.test("every stream has unique IDs", () => {
  const idSource = countingMint();
  const line = '{"done":true,"message":{"tool_calls":[{"function":{"name":"f"}}]}}';
  const [first, second] = [local.newDecoder(idSource), local.newDecoder(idSource)].map((decoder) =>
    valueOf(decoder.push({ event: null, data: line, raw: null }))
      .flatMap((event) => "id" in event ? [event.id] : [])
  );
  assertEquals(new Set([...first ?? [], ...second ?? []]).size, 4);
});

Deno.test("a line that is not a JSON object is a failure", () => {
  for (const line of ["{", "[]", "null", '"a"', 'data: {"done":true}', '{"done":true} x']) {
    assertFailed(decodeLines(line), "invalid_upstream_response");
  }
  assertFailed(decodeLines('{"message":{"content":"a"}}', "oops"), "invalid_upstream_response");
});

Deno.test("a stream without its last record is a failure", () => {
  assertFailed(decodeLines(), "invalid_upstream_response");
  assertFailed(decodeLines('{"message":{"content":"a"}}'), "invalid_upstream_response");
});

Deno.test("a response that only loaded or unloaded the model is a failure", () => {
  for (const reason of ["load", "unload"]) {
    const line = `{"message":{"content":""},"done":true,"done_reason":"${reason}"}`;
    assertFailed(decodeLines(line), "invalid_upstream_response");
  }
});
