import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { assertValid } from "../../support/schemas.ts";
import { objectsAt, refusalOf } from "../../support/state_call.ts";
import { idOf, idsIn, stateful } from "./stateful.ts";

testOverStores("a stored response is retrieved unchanged, streamed or not", async () => {
  const calls = stateful();
  for (const stream of [false, true]) {
    const resource = await calls.created({ input: "one", stream, metadata: { a: "b" } });
    const { status, json } = await calls.get(`/responses/${idOf(resource)}`);
    assertEquals([status, json], [200, resource]);
    assertEquals(json.metadata, { a: "b" });
  }
});

testOverStores("an unstored response is not found", async () => {
  const calls = stateful();
  for (const stream of [false, true]) {
    const id = idOf(await calls.created({ input: "one", store: false, stream }));
    const expected = [404, "response_not_found", "response_id"];
    assertEquals(refusalOf(await calls.get(`/responses/${id}`)), expected);
    assertEquals(refusalOf(await calls.get(`/responses/${id}/input_items`)), expected);
  }
  assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
});

testOverStores(
  "deleting a response returns an empty body, and 404 for the second time",
  async () => {
    const calls = stateful();
    const path = `/responses/${idOf(await calls.created({ input: "one" }))}`;
    const first = await calls.delete(path);
    assertEquals([first.status, first.text], [204, ""]);
    const expected = [404, "response_not_found", "response_id"];
    assertEquals(refusalOf(await calls.delete(path)), expected);
    assertEquals(refusalOf(await calls.get(path)), expected);
    assertEquals(refusalOf(await calls.post(`${path}/cancel`)), expected);
    assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
  },
);

testOverStores("a stored response is finished and cannot be cancelled", async () => {
  const calls = stateful();
  const path = `/responses/${idOf(await calls.created({ input: "one" }))}`;
  assertEquals(refusalOf(await calls.post(`${path}/cancel`)), [400, "unsupported_feature", null]);
  assertEquals((await calls.get(path)).json.status, "completed");
});

Deno.test(
  "a query parameter that only an upstream can serve is refused by its name",
  async () => {
    const calls = stateful();
    const path = `/responses/${idOf(await calls.created({ input: "one" }))}`;
    const queries = {
      include: "x",
      "include[]": "x",
      include_obfuscation: "true",
      starting_after: "1",
      stream: "true",
    };
    for (const [name, value] of Object.entries(queries)) {
      const answer = await calls.get(`${path}?${encodeURIComponent(name)}=${value}`);
      assertEquals(refusalOf(answer), [400, "unsupported_feature", name]);
    }
    assertEquals((await calls.get(`${path}?stream=false`)).status, 200);
    for (const name of ["include", "include[]"]) {
      const answer = await calls.get(`${path}/input_items?${encodeURIComponent(name)}=x`);
      assertEquals(refusalOf(answer), [400, "unsupported_feature", name]);
    }
  },
);

testOverStores(
  "input items have IDs and are listed with all earlier items, newest first",
  async () => {
    const calls = stateful();
    const first = await calls.created({ input: "one" });
    const message: JsonObject = { role: "user", content: "two", id: "mine" };
    const input = [{ role: "developer", content: "Be kind." }, message];
    const second = await calls.created({ input, previous_response_id: idOf(first) });
    const path = `/responses/${idOf(second)}/input_items`;
    const { json } = await calls.get(path);
    const data = objectsAt(json, "data");
    assertEquals(data.map(({ role }) => role), ["user", "developer", "assistant", "user"]);
    assertEquals(data[0], {
      id: "mine",
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: "two" }],
    });
    assertMatch(String(data[1]?.id), /^msg_[0-9a-f]{32}$/);
    assertEquals(data[2], objectsAt(first, "output")[0]);
    assertEquals([json.first_id, json.last_id], [data[0]?.id, data[3]?.id]);
    const oldest = await calls.get(`${path}?order=asc`);
    assertEquals(idsIn(oldest), data.map(({ id }) => id).toReversed());
  },
);

testOverStores("input items keep their IDs between requests and are paged by them", async () => {
  const calls = stateful();
  const input = Array.from({ length: 30 }, (_item, at) => ({ role: "user", content: `${at}` }));
  const path = `/responses/${idOf(await calls.created({ input }))}/input_items`;
  const first = await calls.get(path);
  assertEquals([idsIn(first).length, first.json.has_more], [20, true]);
  const second = await calls.get(`${path}?after=${String(idsIn(first).at(-1))}`);
  assertEquals([idsIn(second).length, second.json.has_more], [10, false]);
  const all = await calls.get(`${path}?limit=100`);
  assertEquals(idsIn(all), [...idsIn(first), ...idsIn(second)]);
  assertEquals((await calls.get(`${path}?limit=1&order=asc`)).json.has_more, true);
});

Deno.test("wrong paging parameters of input items are refused by name", async () => {
  const calls = stateful();
  const path = `/responses/${idOf(await calls.created({ input: "one" }))}/input_items`;
  for (const query of ["limit=0", "limit=101", "limit=ten", "order=up", "after=none", "after="]) {
    const [name = ""] = query.split("=");
    assertEquals(refusalOf(await calls.get(`${path}?${query}`)), [400, "invalid_value", name]);
  }
});

testOverStores("response IDs are compared exactly", async () => {
  const calls = stateful();
  const padded = [400, "invalid_value", "response_id"];
  for (const id of ["%20", "%20resp_1", "resp_1%20", "resp_1%0A"]) {
    assertEquals(refusalOf(await calls.get(`/responses/${id}`)), padded);
    assertEquals(refusalOf(await calls.delete(`/responses/${id}`)), padded);
    assertEquals(refusalOf(await calls.post(`/responses/${id}/cancel`)), padded);
    assertEquals(refusalOf(await calls.get(`/responses/${id}/input_items`)), padded);
  }
  const id = idOf(await calls.created({ input: "one" }));
  assertEquals((await calls.get(`/responses/${id.replace("resp_", "resp%5F")}`)).status, 200);
  assertEquals((await calls.get(`/responses/${id.replace("resp_", "resp%20_")}`)).status, 404);
});

Deno.test("responses are never cached, even for equal requests", async () => {
  const calls = stateful(`
caching: {enabled: true}
providers: {up: {type: compat, base_url: "http://up"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`);
  const first = await calls.created({ input: "one", store: false });
  const second = await calls.created({ input: "one", store: false });
  assert(first.id !== second.id);
  assertEquals(calls.requests.length, 2);
});

Deno.test(
  "metadata that cannot be stored is refused before a request is sent upstream",
  async () => {
    const calls = stateful();
    const body = { model: "m", input: "one", metadata: { a: 1 } };
    const expected = [400, "invalid_metadata", "metadata.a"];
    assertEquals(refusalOf(await calls.post("/responses", body)), expected);
    assertEquals(calls.requests.length, 0);
  },
);

testOverStores("the metrics report the number of stateful objects", async () => {
  const calls = stateful();
  await calls.created({ input: "one" });
  await calls.post("/conversations", {});
  const { text } = await calls.get("/../metrics");
  assertMatch(text, /^gateway_state_entries\{store="responses"\} 1$/m);
  assertMatch(text, /^gateway_state_entries\{store="response_bindings"\} 1$/m);
  assertMatch(text, /^gateway_state_entries\{store="conversations"\} 1$/m);
  assertMatch(text, /^gateway_state_bytes\{store="responses"\} [1-9]\d+$/m);
});

const BARE: readonly JsonObject[] = [
  { role: "developer", content: "d" },
  { role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }] },
  {
    role: "user",
    content: [{
      type: "input_file",
      filename: "f",
      file_data: "AA",
      file_id: null,
      file_url: null,
    }],
  },
  { role: "assistant", id: null, status: null, phase: null, content: "a" },
  { role: "assistant", content: [{ type: "output_text", text: "a" }] },
  { role: "assistant", content: [{ type: "output_text", text: "b", annotations: null }] },
  { type: "reasoning", content: null, encrypted_content: null },
  { type: "function_call", call_id: "c", name: "f", arguments: "{}", id: null, status: null },
  { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "x" }] },
];

testOverStores(
  "every item shape that clients send is listed completely, as input items and in a conversation",
  async () => {
    const calls = stateful();
    const conversation = idOf((await calls.post("/conversations")).json);
    const made = await calls.created({ input: [...BARE], conversation });
    const input = (await calls.get(`/responses/${idOf(made)}/input_items?order=asc`)).json;
    assertEquals(objectsAt(input, "data").length, BARE.length);
    assertValid("ResponseItemList", input);
    const kept = (await calls.get(`/conversations/${conversation}/items?order=asc`)).json;
    assertEquals(objectsAt(kept, "data").length, BARE.length + 1);
    assertValid("ConversationItemList", kept);
  },
);

testOverStores("numbers in input items are listed in their original text", async () => {
  const calls = stateful();
  const item = '{"role":"user","content":"one","n":12345678901234567890,"m":1.0}';
  const made = await calls.post("/responses", `{"model":"m","input":[${item}]}`);
  const { text } = await calls.get(`/responses/${idOf(made.json)}/input_items`);
  assertStringIncludes(text, '"n":12345678901234567890,"m":1.0');
});
