import type { OwnedReasoning } from "../../../src/core/stream/reasoning.ts";
import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../src/core/json/json.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { newDocument } from "../../../src/formats/document.ts";
import { messages as wire } from "../../../src/wires/messages/messages.ts";
import type { UpstreamRequest } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertFailed, targetAt, valueOf } from "../../support/translated.ts";
import { provider } from "./encoded_request.ts";

const USER = { role: "user", content: "Hi" };
const BLOCK = { type: "thinking", thinking: "hm", signature: "s" };
const REDACTED = { type: "redacted_thinking", data: "d" };
const CALL = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const CALLED = { role: "assistant", content: "So", tool_calls: [CALL] };
const RESULT = { role: "tool", tool_call_id: "c", content: "1" };

function stored(account = "account"): OwnedReasoning {
  const blocks = [BLOCK, REDACTED].map((value) => ({ value, callsBefore: 0 }));
  return { account, blocks };
}

function encode(
  messages: readonly JsonObject[],
  reasoning: readonly (readonly [number, OwnedReasoning])[] = [],
  more: JsonObject = {},
): Result<UpstreamRequest> {
  const chat = {
    document: newDocument({ messages: [...messages], ...more }),
    stream: false,
    includeUsage: false,
    reasoning: new Map(reasoning),
  };
  return wire.encode(chat, targetAt(provider({ capabilities: { adaptive_thinking: true } }), wire));
}

/** Returns the types of the blocks of the first assistant turn. */
function typesIn(request: UpstreamRequest): readonly unknown[] {
  const body = parseJson(request.payload?.text() ?? "");
  assert(isObject(body) && Array.isArray(body.messages));
  const turn = body.messages.filter(isObject).find(({ role }) => role === "assistant");
  if (!Array.isArray(turn?.content)) return [turn?.content];
  return turn.content.filter(isObject).map(({ type }) => type);
}

Deno.test("stored thinking is placed first in its turn, unchanged, with the text or without it", () => {
  for (const more of [{}, { reasoning_content: "hm" }, { thinking_blocks: [] }]) {
    const sent = valueOf(encode([USER, { ...CALLED, ...more }, RESULT], [[1, stored()]]));
    assertEquals(typesIn(sent), ["thinking", "redacted_thinking", "text", "tool_use"]);
    assertEquals(sent.lossy, undefined);
    assert(sent.payload?.text().includes(JSON.stringify([BLOCK, REDACTED]).slice(1, -1)));
  }
});

Deno.test("thinking blocks of the client have precedence over stored ones", () => {
  const own = { ...CALLED, thinking_blocks: [{ ...BLOCK, signature: "own" }] };
  const sent = valueOf(encode([USER, own, RESULT], [[1, stored()]]));
  assertEquals(typesIn(sent), ["thinking", "text", "tool_use"]);
});

Deno.test("a reasoning text before the last user message is left out and named", () => {
  const answer = { role: "assistant", content: "So", reasoning_content: "hm" };
  const loop = [USER, { ...CALLED, reasoning_content: "hm" }, RESULT, answer, USER];
  const sent = valueOf(encode(loop));
  assertEquals(typesIn(sent), ["text", "tool_use"]);
  const paths = [1, 3].map((index) => `messages[${index}].reasoning_content`);
  assertEquals(sent.lossy, paths);
  assertEquals(valueOf(encode(loop, [[1, stored("other")]])).lossy, paths);
  assertEquals(valueOf(encode(loop, [[1, stored()]])).lossy, paths.slice(1));
  assertEquals(
    valueOf(encode([USER, { ...answer, reasoning_content: "" }, USER])).lossy,
    undefined,
  );
});

Deno.test("reasoning inside a content part counts as that of its message", () => {
  const part = (more: JsonObject) => ({ type: "text", text: "So", ...more });
  const loop = (more: JsonObject) => [USER, { ...CALLED, content: [part(more)] }, RESULT];
  const text = { reasoning_content: "hm" };
  const sent = valueOf(encode(loop(text), [[1, stored()]]));
  assertEquals(typesIn(sent), ["thinking", "redacted_thinking", "text", "tool_use"]);
  const own = { thinking_blocks: [{ ...BLOCK, signature: "own" }] };
  assertEquals(typesIn(valueOf(encode(loop(own), [[1, stored()]]))), [
    "thinking",
    "text",
    "tool_use",
  ]);
  const earlier = valueOf(encode([...loop(text), USER]));
  assertEquals(earlier.lossy, ["messages[1].reasoning_content"]);
});

/** Returns what is sent as `thinking`, and the lossy paths. */
function thinkingOf(...request: Parameters<typeof encode>): readonly JsonValue[] {
  const { payload, lossy } = valueOf(encode(...request));
  const body = parseJson(payload?.text() ?? "");
  assert(isObject(body));
  return [body.thinking ?? null, [...lossy ?? []]];
}

const OFF = { type: "disabled" };
const ADAPTIVE = { thinking: { type: "adaptive" } };

Deno.test("a running tool loop with thinking of another account continues with thinking off", () => {
  const path = "messages[4].reasoning_content";
  const called = { ...CALLED, reasoning_content: "hm" };
  const loop = [USER, CALLED, RESULT, USER, called, RESULT];
  assertEquals(thinkingOf(loop), [OFF, [path]]);
  assertEquals(thinkingOf(loop, [], ADAPTIVE), [OFF, ["thinking", path]]);
  assertEquals(thinkingOf(loop, [], { thinking: OFF }), [OFF, [path]]);
  assertEquals(thinkingOf(loop, [[4, stored("other")]]), [OFF, [path]]);
  const silent = [USER, CALLED, RESULT];
  assertEquals(thinkingOf(silent, [[1, stored("other")]]), [OFF, ["messages[1]"]]);
  // One step without its thinking is enough, whichever steps are signed.
  const signed = { ...CALLED, thinking_blocks: [BLOCK] };
  const next = { ...CALL, id: "d" };
  const steps = [{ ...signed, tool_calls: [next] }, { ...RESULT, tool_call_id: "d" }];
  assertEquals(thinkingOf([USER, called, RESULT, ...steps])[0], OFF);
});

Deno.test("thinking stays as the client sets it where no call lacks it", () => {
  const called = { ...CALLED, reasoning_content: "hm" };
  const answer = { role: "assistant", content: "So", reasoning_content: "hm" };
  const on = ADAPTIVE.thinking;
  assertEquals(thinkingOf([USER, called, RESULT], [[1, stored()]], ADAPTIVE), [on, []]);
  assertEquals(thinkingOf([USER, { ...called, thinking_blocks: [BLOCK] }, RESULT]), [null, []]);
  assertEquals(thinkingOf([USER, CALLED, RESULT], [], ADAPTIVE), [on, []]);
  for (const behind of [[called, RESULT, USER], [answer]]) {
    assertEquals(thinkingOf([USER, ...behind], [], ADAPTIVE)[0], on);
  }
});

Deno.test("thinking of a client that has the wrong type is refused", () => {
  const wrong = [USER, { ...CALLED, reasoning_content: { text: "hm" } }, USER];
  assertFailed(encode(wrong), "invalid_type", "messages[1].reasoning_content");
  const blocks = [USER, { ...CALLED, thinking_blocks: {} }, RESULT];
  assertFailed(encode(blocks, [[1, stored()]]), "invalid_type", "messages[1].thinking_blocks");
});

/**
 * Returns the blocks of the first assistant turn: texts as they are, others by thinking or name.
 */
function orderIn(request: UpstreamRequest): readonly unknown[] {
  const body = parseJson(request.payload?.text() ?? "");
  assert(isObject(body) && Array.isArray(body.messages));
  const turn = body.messages.filter(isObject).find(({ role }) => role === "assistant");
  assert(Array.isArray(turn?.content));
  return turn.content.filter(isObject).map(({ text, thinking, name }) => text ?? thinking ?? name);
}

const SECOND = { ...CALL, id: "d", function: { name: "g", arguments: "{}" } };

/** Stored thinking with these names, each with the text and the calls before it. */
function interleaved(...places: readonly (readonly [string, number, number])[]): OwnedReasoning {
  const blocks = places.map(([thinking, textBefore, callsBefore]) => {
    return { value: { ...BLOCK, thinking }, textBefore, callsBefore };
  });
  return { account: "account", blocks };
}

const PLACES: readonly (readonly [
  content: JsonValue,
  stored: OwnedReasoning,
  order: readonly string[],
])[] = [
  ["Let me look.", interleaved(["A", 0, 0], ["B", 12, 0]), ["A", "Let me look.", "B", "f", "g"]],
  ["onetwo", interleaved(["A", 0, 0], ["B", 3, 0]), ["A", "one", "B", "two", "f", "g"]],
  ["one", interleaved(["A", 0, 0], ["B", 3, 1]), ["A", "one", "f", "B", "g"]],
  ["one", interleaved(["A", 0, 0], ["B", 3, 2]), ["A", "one", "f", "g", "B"]],
  ["\n\none", interleaved(["A", 2, 0]), ["A", "\n\none", "f", "g"]],
  ["one\n\n", interleaved(["A", 0, 0], ["B", 4, 0]), ["A", "one\n\n", "B", "f", "g"]],
  ["a  b", interleaved(["A", 1, 0], ["B", 2, 0], ["C", 3, 0]), [
    "a",
    "A",
    "B",
    "C",
    "  b",
    "f",
    "g",
  ]],
  // The client has sent less text than it received.
  ["o", interleaved(["A", 0, 0], ["B", 30, 0]), ["A", "o", "B", "f", "g"]],
  [null, interleaved(["A", 0, 0], ["B", 3, 0]), ["A", "B", "f", "g"]],
  [
    [{ type: "text", text: "one" }, { type: "text", text: "two" }],
    interleaved(["A", 0, 0], ["B", 3, 0], ["C", 5, 0]),
    ["A", "one", "B", "tw", "C", "o", "f", "g"],
  ],
];

Deno.test("stored thinking goes back in the order of the response, between its texts and calls", () => {
  for (const [content, reasoning, order] of PLACES) {
    const message = { role: "assistant", content, tool_calls: [CALL, SECOND] };
    const results = [RESULT, { ...RESULT, tool_call_id: "d" }];
    const sent = valueOf(encode([USER, message, ...results], [[1, reasoning]]));
    assertEquals(orderIn(sent), order, JSON.stringify(content));
  }
});

Deno.test("stored thinking of another account is named as lost, also without a reasoning text", () => {
  const sent = valueOf(encode([USER, CALLED, RESULT], [[1, stored("other")]]));
  assertEquals(typesIn(sent), ["text", "tool_use"]);
  assertEquals(sent.lossy, ["messages[1]"]);
  assertEquals(valueOf(encode([USER, CALLED, RESULT])).lossy, undefined);
});
