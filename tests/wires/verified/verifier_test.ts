import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { messageOf } from "../../../src/core/failure/openai_error.ts";
import type { ResponsePromise } from "../../../src/prompt/response_promise.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import {
  call,
  CALLS,
  checkOf,
  LENGTH,
  PROMISES,
  STOP,
  strictObject,
  texts,
  verify,
} from "./verified.ts";

const THOUGHT: StreamEvent = { type: "reasoning", delta: "hm" };
const GOOD = '{"n":1}';

function assertBroken(promise: ResponsePromise, events: readonly StreamEvent[]): void {
  for (const isStream of [true, false]) {
    const { result, counted } = verify([promise], events, isStream);
    assertFailed(result, "promise_broken");
    assert(!result.ok);
    assertStringIncludes(messageOf(result.failure), `'${promise.path}'`);
    assertEquals(counted, [`${promise.kind} broken`]);
  }
}

function assertTooLarge(result: Result<unknown>): void {
  assertFailed(result, "promise_broken");
  assert(!result.ok);
  assertStringIncludes(messageOf(result.failure), "takes more than 200000 steps to be checked");
}

function assertKept(promise: ResponsePromise, events: readonly StreamEvent[]): void {
  for (const isStream of [true, false]) {
    const { result, counted } = verify([promise], events, isStream);
    assertEquals<unknown>(valueOf(result), events);
    assertEquals(counted, [`${promise.kind} kept`]);
  }
}

Deno.test("the arguments of a strict call must be an object of its schema", () => {
  const { strict } = PROMISES;
  for (const text of [GOOD, ' { "n" : -1.5e3 } ']) {
    assertKept(strict, [...texts("a"), call("f", text), CALLS]);
  }
  for (const text of ["", "[]", "{", "{}", '{"n":"1"}', '{"n":1,"m":2}', "null"]) {
    assertBroken(strict, [call("f", text), CALLS]);
  }
  assertKept(strict, [call("other", "{}"), CALLS]);
});

Deno.test("a strict call in pieces is held back until it is whole, and text before it is not", () => {
  const pieces: StreamEvent[] = [
    ...texts("a"),
    { type: "tool_call", index: 0, id: "c", name: "f" },
    { type: "tool_arguments", index: 0, delta: '{"n"' },
    { type: "tool_arguments", index: 0, delta: ":1}" },
    CALLS,
  ];
  const { groups, result } = verify([PROMISES.strict], pieces);
  assertEquals<unknown>(valueOf(result), pieces);
  assertEquals(groups.map(({ length }) => length), [1, 0, 0, 0, 4]);
  const bad = pieces.toSpliced(3, 1);
  assertBroken(PROMISES.strict, bad);
  assertKept(PROMISES.strict, bad.with(-1, LENGTH));
});

Deno.test("a whole strict call is returned at once", () => {
  const { groups } = verify([PROMISES.strict], [call("f", GOOD), ...texts("b"), CALLS]);
  assertEquals(groups.map(({ length }) => length), [1, 1, 1]);
});

Deno.test("a required call must come, and text waits for it", () => {
  const { required } = PROMISES;
  const events = [THOUGHT, ...texts("a", "b"), THOUGHT, call("g", "{}"), ...texts("c"), CALLS];
  assertKept(required, events);
  const { groups } = verify([required], events);
  assertEquals(groups.map(({ length }) => length), [1, 0, 0, 0, 4, 1, 1]);
  assertBroken(required, [...texts("a"), STOP]);
  assertBroken(required, [STOP]);
  assertBroken(required, [...texts("a"), LENGTH]);
  assertBroken(required, [call("h", "{}"), CALLS]);
});

Deno.test("text waits for a required call up to 1,024 pieces in a stream, and without limit in a whole response", () => {
  const many = texts(...Array.from({ length: 1_025 }, () => "a"));
  const events = [...many, call("f", "{}"), CALLS];
  assertFailed(verify([PROMISES.required], events).result, "promise_broken");
  assertEquals<unknown>(valueOf(verify([PROMISES.required], events, false).result), events);
  assertEquals<unknown>(
    valueOf(verify([PROMISES.required], events.slice(1)).result),
    events.slice(1),
  );
});

Deno.test("no more than 4 MiB are held back in a stream", () => {
  const large = texts(...Array.from({ length: 5 }, () => "a".repeat(1024 * 1024)));
  assertFailed(verify([PROMISES.required], large).result, "upstream_response_too_large");
  const { result } = verify([PROMISES.required], [...large, call("f", "{}"), CALLS], false);
  assert(result.ok);
  const four = texts(...Array.from({ length: 4 }, () => "a".repeat(1024 * 1024 - 64)));
  assert(verify([PROMISES.required], [...four, call("f", "{}"), CALLS]).result.ok);
});

Deno.test("the events that a stream holds back are limited in number and by their names", () => {
  const begin: StreamEvent = { type: "tool_call", index: 0, id: "c", name: "f" };
  const piece: StreamEvent = { type: "tool_arguments", index: 0, delta: "1" };
  const other: StreamEvent = { type: "tool_call", index: 1, id: "d", name: "g".repeat(1_000) };
  for (const [event, count] of [[piece, 200_000], [other, 5_000]] as const) {
    const { result } = verify([PROMISES.strict], [begin, ...Array(count).fill(event)]);
    assertFailed(result, "upstream_response_too_large");
  }
  const stop: StreamEvent[] = [...texts("E"), ...Array(200_000).fill(piece)];
  assertFailed(verify([PROMISES.stop], stop).result, "upstream_response_too_large");
});

Deno.test("a text of more than 1,600,000 characters is not checked but breaks the promise", () => {
  const long = (
    length: number,
  ): StreamEvent[] => [...texts('{"a":"', "a".repeat(length), '"}'), STOP];
  for (const isStream of [true, false]) {
    assert(verify([PROMISES.json], long(1_590_000), isStream).result.ok);
    assertTooLarge(verify([PROMISES.json], long(1_600_000), isStream).result);
    const stop = verify([{ kind: "stop", path: "stop", texts: ["\n"] }], long(1_600_000), isStream);
    assertTooLarge(stop.result);
    assertTooLarge(verify([PROMISES.textCall], long(1_600_000), false).result);
  }
});

Deno.test("all calls of a response share one budget for their checks", () => {
  const list = checkOf(strictObject({ a: { type: "array", items: { type: "integer" } } }));
  const promise = { kind: "strict", path: "s", name: "f", schema: list } as const;
  const part = `{"a":[${"1,".repeat(4_000)}1]}`;
  const calls = Array.from({ length: 12 }, (_, index) => call("f", part, index));
  for (const isStream of [true, false]) {
    assert(verify([promise], [...calls.slice(0, 9), CALLS], isStream).result.ok);
    const { result, counted } = verify([promise], [...calls, CALLS], isStream);
    assertTooLarge(result);
    assertEquals(counted, ["strict broken"]);
  }
});

Deno.test("a choice that requires no call limits which functions are called", () => {
  const { limited } = PROMISES;
  assertKept(limited, [...texts("a"), STOP]);
  assertKept(limited, [call("f", "{}"), CALLS]);
  assertBroken(limited, [call("g", "{}"), CALLS]);
});

Deno.test("at most one call is permitted, which is held back until the finish", () => {
  const { single } = PROMISES;
  const events = [...texts("a"), call("f", "{}"), ...texts("b"), CALLS];
  assertKept(single, events);
  assertEquals(verify([single], events).groups.map(({ length }) => length), [1, 0, 0, 3]);
  assertKept(single, [...texts("a"), STOP]);
  assertBroken(single, [call("f", "{}"), call("f", "{}", 1), CALLS]);
});

Deno.test("the text of a response becomes the required call", () => {
  const { textCall } = PROMISES;
  const { result, counted } = verify([textCall], [THOUGHT, ...texts(' {"n"', ":1}\n"), STOP]);
  assertEquals<unknown>(valueOf(result), [
    THOUGHT,
    {
      type: "tool_call",
      index: 0,
      id: "call_000040008000000000000001",
      name: "f",
      arguments: GOOD,
    },
    CALLS,
  ]);
  assertEquals(counted, ["tool_choice kept"]);
  assertBroken(textCall, [...texts("Hello"), STOP]);
  assertBroken(textCall, [...texts("[1]"), STOP]);
  assertBroken(textCall, [STOP]);
  assertBroken(textCall, [...texts("Hello"), LENGTH]);
  assertBroken(textCall, [call("f", GOOD), CALLS]);
  assertBroken(PROMISES.strict, [call("f", '{"n":""}'), CALLS]);
});

Deno.test("a required call that was cut has its arguments so far and the finish reason of the cut", () => {
  const { result } = verify([PROMISES.textCall, PROMISES.strict], [...texts('{"n":'), LENGTH]);
  const [begun, rest, finish] = valueOf(result);
  assertEquals(begun?.type, "tool_call");
  assertEquals<unknown>(rest, { type: "tool_arguments", index: 0, delta: '{"n":' });
  assertEquals<unknown>(finish, LENGTH);
});

Deno.test("text that becomes a strict call is checked against the schema", () => {
  const promises = [PROMISES.textCall, PROMISES.strict];
  assertFailed(verify(promises, [...texts('{"n":"x"}'), STOP]).result, "promise_broken");
  assert(verify(promises, [...texts(GOOD), STOP]).result.ok);
});

Deno.test("the text of a JSON response must be one object, and flows once it has begun", () => {
  const { json } = PROMISES;
  const events = [THOUGHT, ...texts(" \n", '{"a":', "[1,true]", "}", "\n"), STOP];
  assertKept(json, events);
  assertEquals(verify([json], events).groups.map(({ length }) => length), [1, 0, 2, 1, 1, 1, 1]);
  for (
    const text of ["Sure: {}", "[1]", "```json\n{}\n```", "{} {}", '{"a":1,}', '{"a"', "", "  "]
  ) {
    assertBroken(json, [...texts(text), STOP]);
  }
});

Deno.test("text that is no JSON object is never returned", () => {
  const { groups } = verify([PROMISES.json], [...texts(' {"a":1', "x"), STOP]);
  assertEquals<unknown>(groups, [texts(' {"a":1')]);
});

Deno.test("a JSON response that was cut, refused or made of calls keeps its promise", () => {
  const { json } = PROMISES;
  assertKept(json, [...texts('{"a":'), LENGTH]);
  assertKept(json, [...texts('{"a":'), { type: "finish", reason: "content_filter" }]);
  assertKept(json, [{ type: "refusal", delta: "no" }, STOP]);
  assertKept(json, [call("f", "{}"), CALLS]);
});

Deno.test("the text of a response with calls is free, whether it promises JSON or a strict format", () => {
  for (const promise of [PROMISES.jsonOrCalls, PROMISES.schemaOrCalls]) {
    const events = [...texts("Let me", " look."), THOUGHT, call("f", "{}"), ...texts("so"), CALLS];
    assertKept(promise, events);
    assertKept(promise, [...texts('{"n":"a"}', " and"), call("f", "{}"), CALLS]);
    assertBroken(promise, [...texts("Let me", " look."), STOP]);
    assertBroken(promise, [...texts("Let me", " look."), LENGTH]);
    assertBroken(promise, [...texts(GOOD, "!"), STOP]);
    // The text waits for the call, and is returned as soon as it begins.
    const { groups } = verify([promise], events);
    assertEquals(groups.map(({ length }) => length), [0, 0, 0, 4, 1, 1]);
    // The text of an object flows although a call may come.
    const begun = verify([promise], [...texts('{"n"', ":1}", "!"), call("f", "{}"), CALLS]);
    assertEquals(begun.groups.map(({ length }) => length), [1, 1, 0, 2, 1]);
  }
});

Deno.test("text that is no JSON object waits for a call up to 1,024 pieces in a stream", () => {
  const many = texts(...Array.from({ length: 1_025 }, () => "a"));
  assertFailed(verify([PROMISES.jsonOrCalls], many).result, "promise_broken");
  const events = [...many.slice(1), call("f", "{}"), CALLS];
  assertEquals<unknown>(valueOf(verify([PROMISES.jsonOrCalls], events).result), events);
});

Deno.test("text that is no JSON object fails at once if the request permits no calls", () => {
  const { groups, result } = verify([PROMISES.json], texts("a", "b"));
  assertFailed(result, "promise_broken");
  assertEquals(groups.length, 0);
});

Deno.test("the text of a strict format must be an object of its schema", () => {
  const { schema } = PROMISES;
  assertKept(schema, [...texts('{"n"', ":1}"), STOP]);
  assertBroken(schema, [...texts('{"n":"1"}'), STOP]);
  assertKept(schema, [...texts('{"n"'), LENGTH]);
});

Deno.test("a stream ends before the first stop text, also across pieces", () => {
  for (const pieces of [["abENDcd"], ["ab", "E", "N", "D", "cd"], ["abE", "ND"]]) {
    const { result, isDone } = verify([PROMISES.stop], [...texts(...pieces), STOP]);
    const verified = valueOf(result);
    assertEquals(verified.map((event) => event.type === "text" ? event.delta : "").join(""), "ab");
    assertEquals<unknown>(verified.at(-1), { ...STOP, stopText: "END" });
    assertEquals(isDone, true);
  }
});

Deno.test("text that only begins like a stop text is returned", () => {
  assertKept(PROMISES.stop, [...texts("a\n", "b"), STOP].toSpliced(0, 2, ...texts("ab")));
  const { groups, result } = verify([PROMISES.stop], [...texts("aE", "N", "x", "E"), STOP]);
  assertEquals(groups.map((group) => group.map((one) => one.type === "text" ? one.delta : "!")), [
    ["a"],
    [],
    ["E", "N", "x"],
    [],
    ["E", "!"],
  ]);
  assert(result.ok);
});

Deno.test("after a stop text only the token counts of a whole response remain", () => {
  const usage: StreamEvent = {
    type: "usage",
    usage: { input: 1, output: 2, total: 3, cached: 0, cacheWrite: 0, reasoning: 0 },
  };
  const events = [...texts("aENDb"), call("f", "{}"), usage, LENGTH];
  assertEquals<unknown>(valueOf(verify([PROMISES.stop], events, false).result), [
    ...texts("a"),
    usage,
    { ...STOP, stopText: "END" },
  ]);
});

Deno.test("the message of a broken promise holds nothing of the response", () => {
  const schema = checkOf(strictObject({ secret: { type: "string" } }));
  const promise: ResponsePromise = { kind: "strict", path: "tools[0].strict", name: "f", schema };
  const { result } = verify([promise], [call("f", '{"hidden":"answer"}'), CALLS]);
  assert(!result.ok);
  assertEquals(
    messageOf(result.failure),
    "The response holds a call whose arguments are no object of the schema, so it breaks 'tools[0].strict'.",
  );
});

Deno.test("a response without a finish fails if something of it is held back", () => {
  assertFailed(verify([PROMISES.required], texts("a")).result, "invalid_upstream_response");
});
