import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { longParses } from "../../support/long_parses.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { objectsAt, refusalOf, stateCalls, textAt } from "../../support/state_call.ts";
import { scriptedWorld } from "../../support/world.ts";

function fixture() {
  return stateCalls(testGateway(oneProvider("http://up"), scriptedWorld()).app);
}

type Calls = ReturnType<typeof fixture>;

async function itemsPath(calls: Calls): Promise<string> {
  return `/conversations/${textAt((await calls.post("/conversations")).json, "id")}/items`;
}

/** Returns an item as the conversation stores it. */
async function kept(item: JsonObject): Promise<JsonObject> {
  const calls = fixture();
  const { json } = await calls.post(await itemsPath(calls), { items: [item] });
  return objectsAt(json, "data")[0] ?? {};
}

const LONG = "x".repeat(1_000);

const MESSAGE = { type: "message", role: "user", content: "Hi" } as const;
const FUNCTION_CALL = { type: "function_call", call_id: "c", name: "f", arguments: "{}" } as const;
const OUTPUT = { type: "function_call_output", call_id: "c", output: "4" } as const;

testOverStores("a message becomes a whole one: parts, status and an id", async () => {
  const user = await kept({ role: "user", content: " Hi\n" });
  const { id = null } = user;
  assertEquals(user, {
    id,
    type: "message",
    role: "user",
    status: "completed",
    content: [{ type: "input_text", text: " Hi\n" }],
  });
  assertMatch(String(id), /^msg_[0-9a-f]{32}$/);
  const assistant = await kept({ role: "assistant", content: "Yes", phase: "final_answer" });
  assertEquals(
    [assistant.content, assistant.phase],
    [[{ type: "output_text", text: "Yes", annotations: [], logprobs: [] }], "final_answer"],
  );
});

Deno.test("each type of item gets an id of its kind, unless it brings one", async () => {
  const kinds: [JsonObject, RegExp][] = [
    [MESSAGE, /^msg_/],
    [FUNCTION_CALL, /^fc_/],
    [OUTPUT, /^fco_/],
    [{ type: "web_search_call", status: "searching" }, /^item_/],
    [{ ...MESSAGE, id: null }, /^msg_/],
    [{ ...MESSAGE, id: "mine" }, /^mine$/],
    [{ type: "reasoning", id: "rs_mine", summary: [] }, /^rs_mine$/],
  ];
  for (const [item, pattern] of kinds) assertMatch(String((await kept(item)).id), pattern);
});

Deno.test("stored tool calls and their outputs have a status", async () => {
  assertEquals((await kept(FUNCTION_CALL)).status, "completed");
  assertEquals((await kept(OUTPUT)).status, "completed");
  assertEquals((await kept({ ...OUTPUT, status: "incomplete" })).status, "incomplete");
});

testOverStores(
  "unknown types and members come back as they were sent, numbers by their digits",
  async () => {
    const calls = fixture();
    const path = await itemsPath(calls);
    const item =
      '{"type":"x.new","id":"n","size":1.0,"big":12345678901234567890,"deep":{"a":[null]}}';
    const { text } = await calls.post(path, `{"items":[${item}]}`);
    assertStringIncludes(text, '"size":1.0,"big":12345678901234567890,"deep":{"a":[null]}');
    const shown = await calls.get(`${path}/n`);
    assertStringIncludes(shown.text, '"size":1.0,"big":12345678901234567890,"deep":{"a":[null]}');
  },
);

Deno.test(
  "an item that cannot be stored is refused with the path of the wrong field",
  async () => {
    const wrong: [JsonValue, string, string][] = [
      ["text", "invalid_type", "items[0]"],
      [{}, "missing_required_parameter", "items[0].type"],
      [{ type: 1 }, "invalid_type", "items[0].type"],
      [{ type: "x", id: "" }, "invalid_value", "items[0].id"],
      [{ type: "x", id: " a" }, "invalid_value", "items[0].id"],
      [{ type: "x", id: 1 }, "invalid_type", "items[0].id"],
      [{ type: "item_reference", id: "a" }, "unsupported_feature", "items[0].type"],
      [{ id: "a" }, "unsupported_feature", "items[0].type"],
      [{ ...MESSAGE, role: "critic" }, "invalid_value", "items[0].role"],
      [{ type: "message", content: "x" }, "missing_required_parameter", "items[0].role"],
      [{ role: "user" }, "missing_required_parameter", "items[0].content"],
      [{ role: "user", content: 1 }, "invalid_type", "items[0].content"],
      [{ role: "user", content: ["x"] }, "invalid_type", "items[0].content[0]"],
      [{ role: "user", content: [{ type: "smell" }] }, "invalid_value", "items[0].content[0].type"],
      [
        { role: "user", content: [{ type: "input_text" }] },
        "missing_required_parameter",
        "items[0].content[0].text",
      ],
      [{ ...FUNCTION_CALL, call_id: " c" }, "invalid_value", "items[0].call_id"],
      [
        { type: "function_call", name: "f", arguments: "" },
        "missing_required_parameter",
        "items[0].call_id",
      ],
      [
        { type: "function_call_output", output: "" },
        "missing_required_parameter",
        "items[0].call_id",
      ],
      [
        { type: "function_call_output", call_id: "c" },
        "missing_required_parameter",
        "items[0].output",
      ],
      [{ type: "reasoning", summary: [] }, "missing_required_parameter", "items[0].id"],
      [{ type: "reasoning", id: "r" }, "missing_required_parameter", "items[0].summary"],
      [{ type: "reasoning", id: "r", summary: "s" }, "invalid_type", "items[0].summary"],
    ];
    const calls = fixture();
    const path = await itemsPath(calls);
    for (const [item, code, param] of wrong) {
      const answer = await calls.post(path, { items: [item] });
      assertEquals(refusalOf(answer), [400, code, param], JSON.stringify(item));
      const atCreation = await calls.post("/conversations", { items: [item] });
      assertEquals(refusalOf(atCreation), [400, code, param], JSON.stringify(item));
    }
    assertEquals(objectsAt((await calls.get(path)).json, "data"), []);
  },
);

testOverStores("a batch of items is stored completely or not at all", async () => {
  const calls = fixture();
  const path = await itemsPath(calls);
  const bad = await calls.post(path, { items: [{ ...MESSAGE, id: "a" }, { type: "reasoning" }] });
  assertEquals(refusalOf(bad), [400, "missing_required_parameter", "items[1].id"]);
  const twice = await calls.post(path, { items: [{ type: "x", id: "a" }, { type: "x", id: "a" }] });
  assertEquals(refusalOf(twice), [400, "duplicate_item_id", "items"]);
  assertEquals(objectsAt((await calls.get(path)).json, "data"), []);
  await calls.post(path, { items: [{ type: "x", id: "a" }] });
  const again = await calls.post(path, { items: [{ type: "x", id: "b" }, { type: "x", id: "a" }] });
  assertEquals(refusalOf(again), [400, "duplicate_item_id", "items"]);
  assertEquals(objectsAt((await calls.get(path)).json, "data"), [{ type: "x", id: "a" }]);
});

Deno.test("a batch holds 1 to 20 items", async () => {
  const calls = fixture();
  const path = await itemsPath(calls);
  const batch = (count: number) => ({
    items: Array.from({ length: count }, () => ({ type: "x" })),
  });
  assertEquals((await calls.post(path, batch(20))).status, 200);
  const tooMany = [400, "array_above_max_length", "items"];
  assertEquals(refusalOf(await calls.post(path, batch(21))), tooMany);
  assertEquals(refusalOf(await calls.post("/conversations", batch(21))), tooMany);
  const none = [400, "missing_required_parameter", "items"];
  assertEquals(refusalOf(await calls.post(path, batch(0))), none);
  assertEquals(refusalOf(await calls.post(path, {})), none);
  assertEquals(refusalOf(await calls.post(path, { items: {} })), [400, "invalid_type", "items"]);
  assertEquals(objectsAt((await calls.get(path)).json, "data").length, 20);
});

testOverStores("a conversation takes 1000 items and not one more", async () => {
  const calls = fixture();
  const path = await itemsPath(calls);
  const items = Array.from({ length: 20 }, () => ({ type: "x" }));
  for (let count = 0; count < 50; count++) {
    assertEquals((await calls.post(path, { items })).status, 200);
  }
  const more = await calls.post(path, { items: [{ type: "x" }] });
  assertEquals(refusalOf(more), [400, "conversation_item_limit_exceeded", null]);
});

Deno.test("items that are nested too deeply are refused", async () => {
  const calls = fixture();
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const answer = await calls.post(await itemsPath(calls), `{"items":[{"type":"x","a":${deep}}]}`);
  assertEquals(refusalOf(answer), [400, "invalid_value", "items"]);
});

Deno.test("a list of items is parsed once", async () => {
  const calls = fixture();
  const path = await itemsPath(calls);
  using parses = longParses();
  const { status } = await calls.post(path, { items: [{ role: "user", content: LONG }] });
  // Two are the parses of the response by the test.
  assertEquals([status, parses.count()], [200, 3]);
});
