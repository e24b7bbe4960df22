import { relayResponse } from "../../../src/api/chat/relay_response.ts";
import { newRelay } from "../../../src/api/chat/relay_stream.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { fault } from "../../../src/core/failure/result.ts";
import { utf8Bytes, utf8Text } from "../../../src/formats/utf8.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { valueOf } from "../../support/translated.ts";
import { scriptedWorld } from "../../support/world.ts";

const IDENTITY = {
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 7,
  model: "m",
} as const;
const MADE = /^call_[0-9a-f]{24}$/;

function chunk(delta: JsonObject, finish_reason: string | null = null, index = 0): JsonObject {
  return { ...IDENTITY, choices: [{ index, delta, finish_reason }] };
}

function calls(...tool_calls: JsonValue[]): JsonObject {
  return chunk({ tool_calls });
}

const FINISH = chunk({}, "tool_calls");

function newTestRelay() {
  const delivery = newRelay({
    identity: IDENTITY,
    includeUsage: false,
    extractsReasoning: false,
    idSource: scriptedWorld(),
  });
  return {
    /** The data of the records that go out for this one. */
    push: (value: JsonObject | string) => {
      const data = typeof value === "string" ? value : JSON.stringify(value);
      const records = valueOf(delivery.push({ event: null, data, raw: `data: ${data}\n\n` }));
      return records.map((record) => record.data);
    },
    fail: () => delivery.fail(fault("upstream_unreachable", "Broke.").failure),
  };
}

/** The records that the client receives for these chunks, a finish chunk and `[DONE]`. */
function relayed(...chunks: readonly JsonObject[]): readonly string[] {
  const { push } = newTestRelay();
  return [...chunks, FINISH, "[DONE]"].flatMap(push);
}

interface Seen {
  id: string;
  name: string;
  text: string;
}

/**
 * The calls as clients put them together: by index, the id and the name of the first piece, one id
 * only.
 */
function seen(data: readonly string[]): readonly Seen[] {
  const found = new Map<JsonValue, Seen>();
  for (const text of data.slice(0, -1)) {
    for (const item of itemsOf(JSON.parse(text))) {
      const called = isObject(item.function) ? item.function : {};
      const index = item.index ?? 0;
      const known = found.get(index);
      if (known === undefined) {
        assert(
          typeof item.id === "string" && item.id !== "",
          `a call begins without an id: ${text}`,
        );
        found.set(index, {
          id: item.id,
          name: String(called.name),
          text: String(called.arguments ?? ""),
        });
        continue;
      }
      if (typeof item.id === "string" && item.id !== "") assertEquals(item.id, known.id);
      known.text += String(called.arguments ?? "");
    }
  }
  return [...found.values()];
}

function itemsOf(value: JsonObject): readonly JsonObject[] {
  const [choice] = Array.isArray(value.choices) ? value.choices : [];
  const delta = isObject(choice) ? choice.delta : undefined;
  const items = isObject(delta) ? delta.tool_calls : undefined;
  return Array.isArray(items) ? items.filter(isObject) : [];
}

const call = (index: number | null, id: string | null, name: string, text: string): JsonObject => ({
  ...index !== null && { index },
  ...id !== null && { id, type: "function" },
  function: { ...name !== "" && { name }, arguments: text },
});

const SAME_ID: Readonly<Record<string, readonly JsonObject[]>> = {
  "in one chunk": [calls(call(0, "a", "f", "{}"), call(1, "a", "g", "[]"))],
  "in one chunk, each with index 0": [calls(call(0, "a", "f", "{}"), call(0, "a", "g", "[]"))],
  "in one chunk, without an index": [calls(call(null, "a", "f", "{}"), call(null, "a", "f", "[]"))],
  "whole, in two chunks": [calls(call(0, "a", "f", "{}")), calls(call(1, "a", "f", "[]"))],
  "whole, in two chunks, each with index 0": [
    calls(call(0, "a", "f", "{}")),
    calls(call(0, "a", "f", "[]")),
  ],
  "in pieces": [
    calls(call(0, "a", "f", "")),
    calls(call(0, null, "", "{")),
    calls(call(0, null, "", "}")),
    calls(call(1, "a", "g", "")),
    calls(call(1, null, "", "[]")),
  ],
  "in pieces that repeat name and id": [
    calls(call(0, "a", "f", "{")),
    calls(call(0, "a", "f", "}")),
    calls(call(1, "a", "g", "[")),
    calls(call(1, "a", "g", "]")),
  ],
  "in pieces that mix them": [
    calls(call(0, "a", "f", "{"), call(1, "a", "g", "[")),
    calls(call(1, null, "", "]"), call(0, null, "", "}")),
  ],
};

for (const [name, chunks] of Object.entries(SAME_ID)) {
  Deno.test(`clients of a relayed stream see two calls where both have one id: ${name}`, () => {
    const [first, second, ...others] = seen(relayed(...chunks));
    assertEquals([first?.id, first?.text, second?.text, others.length], ["a", "{}", "[]", 0]);
    assert(MADE.test(second?.id ?? ""), second?.id ?? "");
  });
}

const LATE_ID: Readonly<Record<string, readonly JsonObject[]>> = {
  "with its index": [
    calls(call(0, null, "f", "")),
    calls(call(0, null, "", "{")),
    calls(call(0, null, "", "}")),
    calls({ index: 0, id: "a" }),
  ],
  "with the end of the arguments": [
    calls(call(0, null, "f", "{")),
    calls(call(0, "a", "", "}")),
  ],
  "null first": [
    calls({ index: 0, id: null, function: { name: "f", arguments: "{}" } }),
    calls({ index: 0, id: "a", function: { arguments: "" } }),
  ],
  "without an index": [calls(call(null, null, "f", "{}")), calls({ id: "a" })],
  "in the same chunk": [calls(call(0, null, "f", "{}"), { index: 0, id: "a" })],
};

for (const [name, chunks] of Object.entries(LATE_ID)) {
  Deno.test(`an id that comes late is in the first piece that clients get: ${name}`, () => {
    assertEquals(seen(relayed(...chunks)), [{ id: "a", name: "f", text: "{}" }]);
  });
}

Deno.test("records after a tool call without ID are buffered with it, in order", () => {
  const { push } = newTestRelay();
  const text = chunk({ content: "Hi" });
  assertEquals(push(text), [JSON.stringify(text)]);
  assertEquals(push(calls(call(0, null, "f", "{}"))), []);
  assertEquals(push(text), []);
  assertEquals(push(calls(call(1, "b", "g", "{}"))), []);
  const out = push(calls({ index: 0, id: "a" })).map((data) => JSON.parse(data));
  assertEquals(out.map((value) => value.choices[0].delta.content ?? null), [
    null,
    "Hi",
    null,
    null,
  ]);
  assertEquals(out.map((value) => itemsOf(value).map(({ id }) => id ?? null)), [
    ["a"],
    [],
    ["b"],
    [null],
  ]);
  assertEquals(push(text), [JSON.stringify(text)]);
});

Deno.test("a missing tool call ID is generated when its choice finishes or the stream ends", () => {
  const { push } = newTestRelay();
  assertEquals(push(calls(call(0, null, "f", "{}"))), []);
  const out = push(FINISH);
  assertEquals(out.length, 2);
  assert(MADE.test(String(itemsOf(JSON.parse(out[0] ?? ""))[0]?.id)));
  assertEquals(push("[DONE]"), ["[DONE]"]);

  const late = newTestRelay();
  late.push(FINISH);
  assertEquals(late.push(calls(call(0, null, "f", "{}"))), []);
  const ended = late.push("[DONE]");
  assertEquals([ended.length, ended[1]], [2, "[DONE]"]);
  assert(MADE.test(String(itemsOf(JSON.parse(ended[0] ?? ""))[0]?.id)));
});

Deno.test("a tool call ID is awaited for at most 512 records and 1 MiB, and a later one is dropped", () => {
  const { push } = newTestRelay();
  assertEquals(push(calls(call(0, null, "f", ""))), []);
  const piece = calls(call(0, null, "", " "));
  for (let count = 0; count < 510; count++) assertEquals(push(piece), []);
  const out = push(piece);
  assertEquals(out.length, 512);
  assert(MADE.test(String(itemsOf(JSON.parse(out[0] ?? ""))[0]?.id)));
  const [late] = push(calls({ index: 0, id: "a", function: { arguments: "{}" } }));
  assertEquals(itemsOf(JSON.parse(late ?? "")), [{ index: 0, function: { arguments: "{}" } }]);
  assertEquals(newTestRelay().push(calls(call(0, null, "f", "x".repeat(1024 * 1024)))).length, 1);
  assertEquals(newTestRelay().push(calls(call(0, null, "f", "x".repeat(1023 * 1024)))), []);
});

Deno.test("tool calls with distinct indexes are relayed byte for byte", () => {
  const { push } = newTestRelay();
  const chunks = [
    calls(call(1, "a", "f", ""), call(2, "b", "g", "")),
    calls(call(1, null, "", "{}")),
    calls(call(2, "b", "g", "[]")),
    calls({ index: 2, id: null, function: { arguments: " " } }, { index: 2, id: "" }),
    chunk({ tool_calls: [call(0, "a", "f", "{}")] }, null, 1),
    calls(null, "x"),
    calls({ index: 3, id: "c", type: "custom", custom: { name: "h", input: "i" } }),
  ];
  for (const value of chunks) assertEquals(push(value), [JSON.stringify(value)]);
});

Deno.test("equal pieces of tool calls are each delivered", () => {
  const { push } = newTestRelay();
  const piece = chunk({ content: "", tool_calls: [call(0, "a", "f", "{}")] });
  const out = [piece, piece, piece].flatMap(push).map((data) => itemsOf(JSON.parse(data))[0]);
  assertEquals(out.map((item) => item?.index), [0, 1, 2]);
  assertEquals(new Set(out.map((item) => item?.id)).size, 3);
});

Deno.test("a stream that breaks while a tool call ID is awaited delivers nothing of that call", () => {
  const { push, fail } = newTestRelay();
  push(chunk({ content: "Hi" }));
  push(calls(call(0, null, "f", "{}")));
  assertEquals(fail().map(({ data }) => data).filter((data) => data.includes('"f"')), []);
});

/** The text of a whole completion with these messages, and what becomes of it. */
function answered(...messages: readonly JsonObject[]): [sent: string, text: string] {
  const choices = messages.map((message, index) => ({
    index,
    message,
    finish_reason: "tool_calls",
  }));
  const sent = JSON.stringify({ ...IDENTITY, object: "chat.completion", choices });
  const identity = { ...IDENTITY, object: "chat.completion" } as const;
  const { response } = valueOf(
    relayResponse({ body: utf8Bytes(sent) }, () => identity, {
      extractsReasoning: false,
      idSource: scriptedWorld(),
    }),
  );
  return [sent, utf8Text(response.body) ?? ""];
}

Deno.test("tool calls with a duplicate or missing ID get distinct IDs in an unstreamed response", () => {
  const called = { type: "function", function: { name: "f", arguments: "{}" } };
  const message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "a", ...called }, { id: "a", ...called }, called, { id: "b", ...called }],
  };
  const [, text] = answered(message, message);
  for (const choice of JSON.parse(text).choices) {
    const ids: string[] = choice.message.tool_calls.map(({ id }: Seen) => id);
    assertEquals([ids[0], ids[3]], ["a", "b"]);
    assert(ids.slice(1, 3).every((id) => MADE.test(id)) && new Set(ids).size === 4, ids.join());
    assertEquals(
      choice.message.tool_calls.map(({ id: _id, ...rest }: Seen) => rest),
      [called, called, called, called],
    );
  }
});

Deno.test("an unstreamed response whose tool calls have distinct IDs keeps every byte", () => {
  const tool_calls = [{ id: "a", function: { name: "f", arguments: "{}" } }, null];
  const [sent, text] = answered({ tool_calls }, { tool_calls }, { tool_calls: [] }, {});
  assertEquals(text, sent);
});

Deno.test("chunks have the beginning of a long ID, and those without a model that of the first one", () => {
  const { push } = newTestRelay();
  const long = { ...chunk({ content: "a" }), id: "i".repeat(1000), model: "m".repeat(1000) };
  const { id: _id, model: _model, ...bare } = chunk({ content: "b" });
  const ids = [long, bare].map((one) => JSON.parse(push(one)[0] ?? "").id);
  assertEquals(ids, ["i".repeat(256), "i".repeat(256)]);
  assertEquals(JSON.parse(push(bare)[0] ?? "").model, "m".repeat(256));
});

Deno.test("a completion or a chunk with more than 1,000 choices or 5,000 calls is a fault", () => {
  const listOf = (count: number) => Array.from({ length: count }, () => ({ function: {} }));
  const identity = () => ({ ...IDENTITY, object: "chat.completion" as const });
  for (
    const [choices, calls] of [[1, 5_000], [1_000, 5], [1, 5_001], [1_000, 6], [
      1_001,
      1,
    ]] as const
  ) {
    const isFault = choices > 1_000 || choices * calls > 5_000;
    const members = { content: "a", tool_calls: listOf(calls) };
    const all = (member: string) =>
      Array.from({ length: choices }, (_, index) => ({ index, [member]: members }));
    const body = utf8Bytes(JSON.stringify({ choices: all("message") }));
    const options = { extractsReasoning: false, idSource: scriptedWorld() };
    assertEquals(relayResponse({ body }, identity, options).ok, !isFault);
    const relay = newRelay({ ...options, identity: IDENTITY, includeUsage: false });
    const data = JSON.stringify({ ...IDENTITY, choices: all("delta") });
    assertEquals(relay.push({ event: null, data, raw: null }).ok, !isFault);
  }
});

Deno.test("a stream has at most 1,000 choices and 5,000 calls in all its chunks", () => {
  const options = { extractsReasoning: false, idSource: scriptedWorld(), includeUsage: false };
  const call = (index: number) => ({ index, id: `c${index}`, function: { name: "f" } });
  for (
    const [most, choiceAt] of [
      [1_000, (index: number) => ({ index, delta: { content: "a" } })],
      [5_000, (at: number) => ({ index: at % 10, delta: { tool_calls: [call(at)] } })],
    ] as const
  ) {
    const relay = newRelay({ ...options, identity: IDENTITY });
    const isRead = Array.from({ length: most + 1 }, (_, at) => {
      const data = JSON.stringify({ ...IDENTITY, choices: [choiceAt(at)] });
      return relay.push({ event: null, data, raw: null }).ok;
    });
    assertEquals(isRead.indexOf(false), most);
  }
});
