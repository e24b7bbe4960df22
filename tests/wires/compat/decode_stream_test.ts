import type { StreamEvent } from "../../../src/core/stream/events.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import type { StreamRecord } from "../../../src/core/stream/reply.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import { newDecoder } from "../../../src/wires/compat/decode.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

const DONE = "[DONE]";

function chunk(delta: JsonValue, finish_reason: JsonValue = null): JsonObject {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 7, model: "m", choices };
}

/** Returns the last chunk of a choice. */
function leave(reason: JsonValue = "stop"): JsonObject {
  return chunk({}, reason);
}

function record(data: JsonObject | string, event: string | null = null): StreamRecord {
  return { event, data: typeof data === "string" ? data : JSON.stringify(data), raw: null };
}

function run(records: readonly (JsonObject | string)[]): Result<readonly StreamEvent[]> {
  const codec = newDecoder(scriptedWorld());
  const events: StreamEvent[] = [];
  for (const data of records) {
    const step = codec.push(record(data));
    if (!step.ok) return step;
    events.push(...step.value);
  }
  const end = codec.end();
  if (!end.ok) return end;
  assertEquals(codec.done(), true);
  return success([...events, ...end.value]);
}

function eventsOf(...records: readonly (JsonObject | string)[]): readonly StreamEvent[] {
  const events = run(records);
  assert(events.ok, JSON.stringify(events));
  return events.value;
}

/** Returns the events of the deltas, without start and finish. */
function eventsOfDeltas(...deltas: readonly JsonObject[]): readonly StreamEvent[] {
  return eventsOf(...deltas.map((delta) => chunk(delta)), leave(), DONE).slice(1, -1);
}

function calls(...tool_calls: JsonValue[]): JsonObject {
  return { tool_calls };
}

const F = { type: "tool_call", index: 0, id: "a", name: "f" } as const;
const G = { type: "tool_call", index: 1, id: "b", name: "g" } as const;

function added(index: number, delta: string): StreamEvent {
  return { type: "tool_arguments", index, delta };
}

Deno.test("a stream is decoded as it arrives, with usage and finish at its end", () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 };
  const events = eventsOf(
    "",
    { choices: [], prompt_filter_results: [] },
    chunk({ role: "assistant", content: "" }),
    { ...chunk({ content: "Hi" }, ""), usage: { prompt_tokens: 1 } },
    { ...chunk({ content: "!" }), usage: null },
    leave(),
    { choices: [], usage, service_tier: "default" },
    DONE,
  );
  const counts = { cached: 0, cacheWrite: 0, reasoning: 0, serviceTier: "default" };
  assertEquals(events, [
    { type: "start", id: "chatcmpl-1", model: "m", created: 7 },
    { type: "text", delta: "Hi" },
    { type: "text", delta: "!" },
    { type: "usage", usage: { input: 1, output: 2, total: 9, ...counts } },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("a stream that ends after its finish reason is complete without [DONE]", () => {
  assertEquals(
    eventsOf(chunk({ content: "Hi" }), leave()),
    eventsOf(chunk({ content: "Hi" }), leave(), DONE),
  );
});

Deno.test("records after [DONE] are ignored", () => {
  const codec = newDecoder(scriptedWorld());
  for (const data of [leave(), DONE]) codec.push(record(data));
  assertEquals([codec.push(record("{")), codec.end()], [success([]), success([])]);
});

Deno.test("choices other than the first are ignored", () => {
  const other = { choices: [{ index: 1, delta: { content: "x" }, finish_reason: "length" }] };
  assertEquals(eventsOf(chunk({ content: "a" }), other, leave()).slice(1), [
    { type: "text", delta: "a" },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("a call is emitted with its name, and its arguments as they arrive", () => {
  assertEquals(
    eventsOfDeltas(
      calls({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }),
      calls({ index: 0, function: { arguments: "{" } }),
      calls({ index: 1, id: "b", function: { name: "g" } }),
      calls({ index: 1, function: { arguments: "{}" } }, {
        index: 0,
        function: { arguments: "}" },
      }),
    ),
    [F, added(0, "{"), G, added(1, "{}"), added(0, "}")],
  );
});

const WHOLE = [F, added(0, "{}"), G, added(1, "{}")];
const CALLS: readonly (readonly [string, readonly JsonObject[], readonly StreamEvent[]])[] = [
  ["whole, without an index", [
    calls(
      { id: "a", function: { name: "f", arguments: "{}" } },
      { id: "b", function: { name: "g", arguments: "{}" } },
    ),
  ], WHOLE],
  ["whole, each with index 0", [
    calls({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
    calls({ index: 0, id: "b", function: { name: "g", arguments: "{}" } }),
  ], WHOLE],
  ["in pieces, without an index", [
    calls({ id: "a", function: { name: "f", arguments: "{" } }),
    calls({ function: { arguments: "}" } }),
  ], [F, added(0, "{"), added(0, "}")]],
  ["told apart by their ids alone", [
    calls({ id: "a", function: { name: "f" } }),
    calls({ id: "b", function: { name: "g" } }),
    calls({ id: "a", function: { arguments: "{}" } }),
  ], [F, G, added(0, "{}")]],
  ["with name and id repeated", [
    calls({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
    calls({ index: 0, id: "a", function: { name: "f", arguments: "}" } }),
  ], [F, added(0, "{"), added(0, "}")]],
  ["with the name behind the arguments", [
    calls({ index: 3, id: "a", function: { arguments: "{" } }),
    calls({ index: 3, function: { name: "f", arguments: "}" } }),
  ], [F, added(0, "{}")]],
  ["with arguments as an object", [
    calls({ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } }),
  ], [F, added(0, '{"x":1}')]],
  ["with arguments that are null", [
    calls({ index: 0, id: "a", function: { name: "f", arguments: null } }),
  ], [F]],
];

for (const [name, deltas, events] of CALLS) {
  Deno.test(`calls are decoded from deltas ${name}`, () =>
    assertEquals(eventsOfDeltas(...deltas), events));
}

Deno.test("a stop after calls becomes the finish reason tool_calls", () => {
  const whole = chunk(calls({ id: "a", function: { name: "f", arguments: "{}" } }), "stop");
  assertEquals(eventsOf(whole).at(-1), { type: "finish", reason: "tool_calls" });
});

Deno.test("a call that never receives an ID gets a generated one, at the end of the stream at the latest", () => {
  const early = eventsOfDeltas(calls({ index: 0, function: { name: "f", arguments: "{}" } }));
  const late = eventsOfDeltas(calls({ index: 0, function: { name: "f" } }));
  for (const [event] of [early, late]) {
    assert(event?.type === "tool_call" && /^call_[0-9a-f]{24}$/.test(event.id));
  }
});

/** Returns IDs, names and arguments of the calls of a stream. */
function called(...deltas: readonly JsonObject[]) {
  const events = eventsOfDeltas(...deltas);
  const found: { readonly id: string; readonly name: string; text: string }[] = [];
  for (const event of events) {
    if (event.type === "tool_call") {
      assertEquals(event.index, found.length, "calls are told in their order");
      found.push({ id: event.id, name: event.name, text: "" });
    }
    const call = event.type === "tool_arguments" ? found[event.index] : undefined;
    if (call !== undefined && event.type === "tool_arguments") call.text += event.delta;
  }
  return found;
}

const one = (name: string, args: string, more: JsonObject = {}) => ({
  id: "a",
  function: { name, arguments: args },
  ...more,
});

/** Streams of two calls with the same ID. */
const SAME_ID: Readonly<Record<string, readonly JsonObject[]>> = {
  "in one chunk, without an index": [calls(one("f", "{}"), one("g", "[]"))],
  "of one function, in one chunk": [calls(one("f", "{}"), one("f", "[]"))],
  "in one chunk, each with its index": [
    calls(one("f", "{}", { index: 0 }), one("f", "[]", { index: 1 })),
  ],
  "in one chunk, each with index 0": [
    calls(one("f", "{}", { index: 0 }), one("g", "[]", { index: 0 })),
  ],
  "whole, in two chunks, without an index": [calls(one("f", "{}")), calls(one("f", "[]"))],
  "whole, in two chunks, each with index 0": [
    calls(one("f", "{}", { index: 0 })),
    calls(one("f", "[]", { index: 0 })),
  ],
  "in pieces": [
    calls(one("f", "", { index: 0 })),
    calls({ index: 0, function: { arguments: "{" } }),
    calls({ index: 0, function: { arguments: "}" } }),
    calls(one("g", "", { index: 1 })),
    calls({ index: 1, function: { arguments: "[]" } }),
  ],
  "in pieces without an index": [
    calls(one("f", "{")),
    calls({ id: "a", function: { arguments: "}" } }),
    calls(one("g", "[")),
    calls({ id: "a", function: { arguments: "]" } }),
  ],
};

for (const [name, deltas] of Object.entries(SAME_ID)) {
  Deno.test(`two calls with one ID are two calls: ${name}`, () => {
    const [first, second, ...others] = called(...deltas);
    assertEquals([first?.id, first?.text, second?.text, others.length], ["a", "{}", "[]", 0]);
    assert(/^call_[0-9a-f]{24}$/.test(second?.id ?? ""));
  });
}

/** Streams of a call whose ID arrives late. */
const LATE_ID: Readonly<Record<string, readonly JsonObject[]>> = {
  "with its index": [
    calls({ index: 0, function: { name: "f", arguments: "" } }),
    calls({ index: 0, function: { arguments: "{" } }),
    calls({ index: 0, function: { arguments: "}" } }),
    calls({ index: 0, id: "a" }),
  ],
  "without an index": [
    calls({ function: { name: "f", arguments: "{" } }),
    calls({ function: { arguments: "}" } }),
    calls({ id: "a" }),
  ],
  "with the name again": [
    calls({ function: { name: "f", arguments: "{}" } }),
    calls({ id: "a", function: { name: "f", arguments: "" } }),
  ],
  "before the arguments end": [
    calls({ index: 0, function: { name: "f", arguments: "{" } }),
    calls({ index: 0, id: "a", function: { arguments: "}" } }),
  ],
  "empty first": [
    calls({ index: 0, id: "", function: { name: "f", arguments: "{}" } }),
    calls({ index: 0, id: null, function: { arguments: "" } }),
    calls({ index: 0, id: "a" }),
  ],
};

for (const [name, deltas] of Object.entries(LATE_ID)) {
  Deno.test(`an ID that arrives after name and arguments belongs to their call: ${name}`, () => {
    assertEquals(called(...deltas), [{ id: "a", name: "f", text: "{}" }]);
  });
}

Deno.test("a call after one that waits for its ID keeps its position", () => {
  const found = called(
    calls({ index: 0, function: { name: "f", arguments: "{}" } }),
    calls({ index: 1, id: "b", function: { name: "g", arguments: "[]" } }),
    calls({ index: 0, id: "a" }),
  );
  assertEquals(found.map(({ id, name, text }) => [id, name, text]), [
    ["a", "f", "{}"],
    ["b", "g", "[]"],
  ]);
});

Deno.test("a call waits for its ID for 512 deltas; then it keeps a generated ID", () => {
  const codec = newDecoder(scriptedWorld());
  const push = (delta: JsonObject) => {
    const step = codec.push(record(chunk(delta)));
    assert(step.ok);
    return step.value.filter(({ type }) => type !== "start");
  };
  assertEquals(push(calls({ index: 0, function: { name: "f", arguments: "{" } })), []);
  const piece = calls({ index: 0, function: { arguments: " " } });
  for (let count = 0; count < 510; count++) assertEquals(push(piece), []);
  const [begun, args] = push(piece);
  assert(begun?.type === "tool_call" && /^call_[0-9a-f]{24}$/.test(begun.id));
  assertEquals(args, added(0, `{${" ".repeat(511)}`));
  assertEquals(push(calls({ index: 0, id: "a", function: { arguments: "}" } })), [added(0, "}")]);
});

Deno.test("a call with long arguments does not wait for an ID, and no call waits for a name without bound", () => {
  const long = calls({ index: 0, function: { name: "f", arguments: "x".repeat(1024 * 1024 + 1) } });
  const step = newDecoder(scriptedWorld()).push(record(chunk(long)));
  assert(step.ok);
  assertEquals(step.value.map(({ type }) => type), ["start", "tool_call", "tool_arguments"]);
  const nameless = calls({
    index: 0,
    id: "a",
    function: { arguments: "x".repeat(1024 * 1024 + 1) },
  });
  assert(!newDecoder(scriptedWorld()).push(record(chunk(nameless))).ok);
  const many = Array.from({ length: 513 }, (_, index) => ({ index, id: `c${index}` }));
  assert(!newDecoder(scriptedWorld()).push(record(chunk(calls(...many)))).ok);
});

/** Records without client content. */
const NOTHING = [
  "",
  "  ",
  "{}",
  '{"choices":null}',
  '{"choices":null,"usage":null}',
  '{"type":"ping"}',
  '{"object":"chat.completion.metadata","data":[1]}',
];

Deno.test("records that are not chunks are ignored at any position", () => {
  const events = eventsOf(chunk({ content: "Hi" }), leave(), DONE);
  for (const nothing of NOTHING) {
    assertEquals(
      eventsOf(nothing, chunk({ content: "Hi" }), nothing, leave(), nothing, DONE),
      events,
      nothing,
    );
  }
});

Deno.test("[DONE] may be surrounded by spaces", () => {
  const events = eventsOf(chunk({ content: "Hi" }), leave(), DONE);
  for (const done of [" [DONE]", "[DONE] ", "\t[DONE]\n"]) {
    assertEquals(eventsOf(chunk({ content: "Hi" }), leave(), done), events);
  }
});

Deno.test("the usage is that of the last chunk with usage, also if the stream breaks after it", () => {
  const codec = newDecoder(scriptedWorld());
  assertEquals(codec.usage(), null);
  const counts = { cached: 0, cacheWrite: 0, reasoning: 0 };
  for (const output of [1, 2]) {
    const usage = { prompt_tokens: 7, completion_tokens: output };
    codec.push(record({ ...chunk({ content: "x" }), usage }));
    assertEquals(codec.usage(), { input: 7, output, total: 7 + output, ...counts });
  }
  codec.push(record({ ...chunk({ content: "x" }), usage: null, service_tier: "flex" }));
  assert(!codec.push(record("{")).ok);
  assertEquals(codec.usage(), { input: 7, output: 2, total: 9, ...counts, serviceTier: "flex" });
});

Deno.test("the legacy function_call is decoded as one call", () => {
  const [begun, ...rest] = eventsOfDeltas(
    { function_call: { name: "f", arguments: "" } },
    { function_call: { arguments: "{" } },
    { function_call: { arguments: "}" } },
  );
  assert(begun?.type === "tool_call" && begun.name === "f");
  assertEquals(rest, [added(0, "{"), added(0, "}")]);
});

const BROKEN: Readonly<Record<string, readonly (JsonObject | string)[]>> = {
  "nothing at all": [],
  "no finish": [chunk({ content: "a" })],
  "[DONE] before the finish": [chunk({ content: "a" }), DONE],
  "an unknown finish": [leave("tired"), DONE],
  "no JSON": ["{"],
  "no object": ["[]"],
  "no chunk": [{ choices: 1 }],
  "content of another type": [chunk({ content: 1 })],
  "a call without a name": [chunk(calls({ index: 0, id: "a" })), leave()],
};

for (const [name, records] of Object.entries(BROKEN)) {
  Deno.test(`a malformed stream is a failure: ${name}`, () => {
    const events = run(records);
    assert(!events.ok);
    assertEquals(events.failure.kind, "invalid_upstream_response");
  });
}

Deno.test("a record is an error by its error field, its event name or its type", () => {
  const errors = [
    record({ error: { message: "m" } }),
    record({ message: "m" }, "error"),
    record({ object: "error", message: "m" }),
    record({ type: "error", message: "m" }),
  ];
  for (const error of errors) {
    const step = newDecoder(scriptedWorld()).push(error);
    assert(!step.ok);
    assertEquals(step.failure.kind, "upstream_unavailable");
  }
});

Deno.test("the pieces of a custom tool's input are one call, also if each repeats its name and its braces close", () => {
  const head = { index: 0, id: "a", type: "custom" };
  const piece = (input: string) => ({ ...head, custom: { name: "f", input } });
  assertEquals(
    eventsOfDeltas(
      calls(piece("{}")),
      calls(piece("{}")),
      calls({ index: 0, custom: { input: "!" } }),
    ),
    [
      { ...F, kind: "custom" },
      added(0, "{}"),
      added(0, "{}"),
      added(0, "!"),
    ],
  );
});
