import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { decode } from "../../../src/wires/compat/decode.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

const START: StreamEvent = { type: "start", id: "chatcmpl-1", model: "m", created: 7 };

function read(text: string): Result<readonly StreamEvent[]> {
  const document = parseDocument(text);
  assert(document.ok);
  return decode(document.value, scriptedWorld());
}

function completion(message: JsonValue, finish_reason: JsonValue = "stop"): JsonObject {
  const choices = [{ index: 0, message, finish_reason }];
  return { id: "chatcmpl-1", object: "chat.completion", created: 7, model: "m", choices };
}

function eventsOf(body: JsonObject): readonly StreamEvent[] {
  const events = read(JSON.stringify(body));
  assert(events.ok, JSON.stringify(events));
  return events.value;
}

/** Returns the events of a message, without start and finish. */
function eventsOfMessage(message: JsonObject, finish: JsonValue = "stop"): readonly StreamEvent[] {
  return eventsOf(completion({ role: "assistant", ...message }, finish)).slice(1, -1);
}

function failureOf(body: JsonObject) {
  const events = read(JSON.stringify(body));
  assert(!events.ok && !isRefusal(events.failure));
  return events.failure;
}

Deno.test("a completion starts with its ID and model and ends with usage and finish", () => {
  const usage = {
    prompt_tokens: 3,
    completion_tokens: 4,
    prompt_tokens_details: { cached_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const body = { ...completion({ content: " Hi\n" }), usage, service_tier: "flex" };
  assertEquals(eventsOf(body), [
    START,
    { type: "text", delta: " Hi\n" },
    {
      type: "usage",
      usage: {
        input: 3,
        output: 4,
        total: 7,
        cached: 1,
        cacheWrite: 0,
        reasoning: 2,
        serviceTier: "flex",
      },
    },
    { type: "finish", reason: "stop" },
  ]);
});

Deno.test("missing fields produce no events, and a missing time is the current time", () => {
  const body = { choices: [{ message: { content: null }, finish_reason: "stop" }], usage: null };
  assertEquals(eventsOf(body), [
    { type: "start", id: "", model: "", created: 1_700_000_000 },
    { type: "finish", reason: "stop" },
  ]);
});

const DECODED: readonly (readonly [string, JsonObject, readonly StreamEvent[]])[] = [
  ["a refusal", { content: null, refusal: "No" }, [{ type: "refusal", delta: "No" }]],
  ["reasoning", { content: "a", reasoning_content: "t" }, [
    { type: "reasoning", delta: "t" },
    { type: "text", delta: "a" },
  ]],
  ["reasoning by its other name", { content: "", reasoning: "t" }, [
    { type: "reasoning", delta: "t" },
  ]],
  ["reasoning under both names", { reasoning: "t", reasoning_content: "t" }, [
    { type: "reasoning", delta: "t" },
  ]],
  ["content in parts", {
    content: [{ type: "text", text: "a" }, { type: "refusal", refusal: "b" }],
  }, [{ type: "text", delta: "a" }, { type: "refusal", delta: "b" }]],
  ["annotations", { content: "a", annotations: [{ type: "url_citation" }] }, [
    { type: "text", delta: "a" },
    { type: "annotation", value: { type: "url_citation" } },
  ]],
  [
    "nothing but empty members",
    { content: "", refusal: null, tool_calls: [], annotations: [] },
    [],
  ],
];

for (const [name, message, events] of DECODED) {
  Deno.test(`a message is decoded: ${name}`, () => assertEquals(eventsOfMessage(message), events));
}

Deno.test("calls are decoded in order, with their arguments unchanged", () => {
  const called = (name: string, text: JsonValue) => ({ name, arguments: text });
  const tool_calls = [
    { id: "a", type: "function", function: called("f", '{"x": 1.0}') },
    { id: "b", function: called("g", "") },
  ];
  assertEquals(eventsOfMessage({ content: null, tool_calls }, "tool_calls"), [
    { type: "tool_call", index: 0, id: "a", name: "f" },
    { type: "tool_arguments", index: 0, delta: '{"x": 1.0}' },
    { type: "tool_call", index: 1, id: "b", name: "g" },
  ]);
  assertEquals(eventsOfMessage({ function_call: called("f", "{}") }, "function_call").length, 2);
});

Deno.test("calls of custom tools are decoded with their input", () => {
  const tool_calls = [
    { id: "a", type: "custom", custom: { name: "run", input: "{}}\n" } },
    { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
  ];
  assertEquals(eventsOfMessage({ content: null, tool_calls }, "tool_calls"), [
    { type: "tool_call", index: 0, id: "a", name: "run", kind: "custom" },
    { type: "tool_arguments", index: 0, delta: "{}}\n" },
    { type: "tool_call", index: 1, id: "b", name: "f" },
    { type: "tool_arguments", index: 1, delta: "{}" },
  ]);
});

Deno.test("arguments sent as an object keep the text of their numbers", () => {
  const call = '{"id":"a","function":{"name":"f","arguments":{"n":12345678901234567890}}}';
  const events = read(
    `{"choices":[{"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`,
  );
  assert(events.ok);
  assertEquals(events.value[2], {
    type: "tool_arguments",
    index: 0,
    delta: '{"n":12345678901234567890}',
  });
});

Deno.test("every call has a unique ID", () => {
  const call = { function: { name: "f", arguments: "{}" } };
  const tool_calls = [{ ...call, id: "a" }, call, { ...call, id: "" }];
  const ids = eventsOfMessage({ tool_calls }).flatMap((event) =>
    event.type === "tool_call" ? [event.id] : []
  );
  assertEquals([ids.length, new Set(ids).size, ids[0]], [3, 3, "a"]);
});

Deno.test("calls with one ID are separate calls with separate arguments", () => {
  const call = (name: string, text: string) => ({
    id: "a",
    index: 0,
    function: { name, arguments: text },
  });
  const tool_calls = [call("f", "{}"), call("f", "{}"), call("g", "[]")];
  const events = eventsOfMessage({ tool_calls }, "tool_calls");
  const ids = events.flatMap((event) => event.type === "tool_call" ? [event.id] : []);
  assertEquals([ids.length, new Set(ids).size, ids[0]], [3, 3, "a"]);
  assertEquals(
    events.flatMap((event) => event.type === "tool_arguments" ? [[event.index, event.delta]] : []),
    [[0, "{}"], [1, "{}"], [2, "[]"]],
  );
});

Deno.test("finish reasons are those of Chat; a response with calls never finishes with stop", () => {
  const tool_calls = [{ id: "a", function: { name: "f", arguments: "{}" } }];
  const reasons = [
    ["stop", {}, "stop"],
    ["stop", { tool_calls }, "tool_calls"],
    ["tool_calls", { tool_calls }, "tool_calls"],
    ["function_call", { function_call: { name: "f", arguments: "" } }, "tool_calls"],
    ["length", { tool_calls }, "length"],
    ["content_filter", {}, "content_filter"],
  ] as const;
  for (const [given, message, reason] of reasons) {
    const body = completion(JSON.parse(JSON.stringify(message)), given);
    assertEquals(eventsOf(body).at(-1), { type: "finish", reason });
  }
});

const MALFORMED: Readonly<Record<string, JsonObject>> = {
  "no choices": { choices: [] },
  "no message": completion(null),
  "no finish": completion({ content: "a" }, null),
  "an unknown finish": completion({ content: "a" }, "tired"),
  "content of another type": completion({ content: 1 }),
  "an unknown part": completion({ content: [{ type: "image_url" }] }),
  "calls that are no list": completion({ tool_calls: {} }),
  "a call of another type": completion({ tool_calls: [{ id: "a", type: "mcp" }] }),
  "an input that is no text": completion({
    tool_calls: [{ id: "a", type: "custom", custom: { name: "run", input: { a: 1 } } }],
  }),
  "a call without a name": completion({ tool_calls: [{ id: "a", function: { arguments: "{}" } }] }),
  "arguments of another type": completion({
    tool_calls: [{ id: "a", function: { name: "f", arguments: 1 } }],
  }),
};

for (const [name, body] of Object.entries(MALFORMED)) {
  Deno.test(`a malformed response is a failure: ${name}`, () => {
    assertEquals(failureOf(body).kind, "invalid_upstream_response");
  });
}

Deno.test("an error under status 200 is the fault of the status that it contains", () => {
  const kinds = [429, 400, 503, undefined].map((code) =>
    failureOf({ error: { message: "m", ...code !== undefined && { code } } })
  );
  assertEquals(kinds.map(({ kind, upstream }) => [kind, upstream?.status]), [
    ["upstream_throttled", 429],
    ["upstream_rejected", 400],
    ["upstream_unavailable", 503],
    ["upstream_unavailable", 502],
  ]);
});

Deno.test("5,000 calls without an index are separate calls, with arguments as objects or as text", () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `call_${at}`);
  for (const given of [{ a: 1 }, '{"a":1}']) {
    const tool_calls = ids.map((id) => ({ id, function: { name: "f", arguments: given } }));
    const events = eventsOfMessage({ tool_calls }, "tool_calls");
    const calls = events.filter((event) => event.type === "tool_call");
    assertEquals(calls.map(({ id }) => id), ids);
    assertEquals(events.length, 2 * ids.length);
  }
});

Deno.test("a response with more than 5,000 calls is too large", () => {
  const tool_calls = Array(5_001).fill({ id: "c", function: { name: "f", arguments: "{}" } });
  const message = { role: "assistant", tool_calls };
  assertEquals(failureOf(completion(message, "tool_calls")).kind, "upstream_response_too_large");
});
