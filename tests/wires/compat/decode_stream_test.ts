import type { StreamEvent } from "../../../src/core/events.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json.ts";
import type { StreamRecord } from "../../../src/core/reply.ts";
import { type Result, success } from "../../../src/core/result.ts";
import { decoder } from "../../../src/wires/compat/decode.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

const DONE = "[DONE]";

function chunk(delta: JsonValue, finish_reason: JsonValue = null): JsonObject {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 7, model: "m", choices };
}

/** The last chunk of a choice. */
function leave(reason: JsonValue = "stop"): JsonObject {
  return chunk({}, reason);
}

function record(data: JsonObject | string, event: string | null = null): StreamRecord {
  return { event, data: typeof data === "string" ? data : JSON.stringify(data), raw: null };
}

function run(records: readonly (JsonObject | string)[]): Result<readonly StreamEvent[]> {
  const codec = decoder(scriptedWorld());
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

/** What the deltas say, between the start and the finish. */
function said(...deltas: readonly JsonObject[]): readonly StreamEvent[] {
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

Deno.test("a stream is told as it comes, usage and finish at its end", () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 };
  const events = eventsOf(
    "",
    { choices: [], prompt_filter_results: [] },
    chunk({ role: "assistant", content: "" }),
    { ...chunk({ content: "Hi" }, ""), usage: { prompt_tokens: 7 } },
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

Deno.test("a stream that closes after its finish is complete without [DONE]", () => {
  assertEquals(
    eventsOf(chunk({ content: "Hi" }), leave()),
    eventsOf(chunk({ content: "Hi" }), leave(), DONE),
  );
});

Deno.test("what comes after [DONE] is not read", () => {
  const codec = decoder(scriptedWorld());
  for (const data of [leave(), DONE]) codec.push(record(data));
  assertEquals([codec.push(record("{")), codec.end()], [success([]), success([])]);
});

Deno.test("other choices are not spoken of", () => {
  const other = { choices: [{ index: 1, delta: { content: "x" }, finish_reason: "length" }] };
  assertEquals(eventsOf(chunk({ content: "a" }), other, leave()).slice(1), [
    { type: "text", delta: "a" },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("a call is told with its name, its arguments as they come", () => {
  assertEquals(
    said(
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
  Deno.test(`calls come ${name}`, () => assertEquals(said(...deltas), events));
}

Deno.test("calls make the finish one with calls", () => {
  const whole = chunk(calls({ id: "a", function: { name: "f", arguments: "{}" } }), "stop");
  assertEquals(eventsOf(whole).at(-1), { type: "finish", reason: "tool_calls" });
});

Deno.test("a call that never gets an id gets one of ours, at the latest at the end", () => {
  const early = said(calls({ index: 0, function: { name: "f", arguments: "{}" } }));
  const late = said(calls({ index: 0, function: { name: "f" } }));
  for (const [event] of [early, late]) {
    assert(event?.type === "tool_call" && /^call_[0-9a-f]{24}$/.test(event.id));
  }
});

Deno.test("the older function_call is one call", () => {
  const [begun, ...rest] = said(
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
  "no chunk": [{ hello: 1 }],
  "content of another type": [chunk({ content: 1 })],
  "a call without a name": [chunk(calls({ index: 0, id: "a" })), leave()],
};

for (const [name, records] of Object.entries(BROKEN)) {
  Deno.test(`a stream that cannot be trusted is a failure: ${name}`, () => {
    const events = run(records);
    assert(!events.ok);
    assertEquals(events.failure.kind, "invalid_upstream_response");
  });
}

Deno.test("an error record is a failure, by its member or by its name", () => {
  for (const one of [record({ error: { message: "m" } }), record({ message: "m" }, "error")]) {
    const step = decoder(scriptedWorld()).push(one);
    assert(!step.ok);
    assertEquals(step.failure.kind, "upstream_unavailable");
  }
});
