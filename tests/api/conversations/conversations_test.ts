import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { CLOCKED_STORES, testOverStores } from "../../support/over_stores.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { objectsAt, refusalOf, stateCalls, textAt } from "../../support/state_call.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

const MINUTE_MS = 60_000;

function fixture(world: ScriptedWorld = scriptedWorld()) {
  return stateCalls(testGateway(oneProvider("http://up"), world).app);
}

/** The path of a new conversation with these items and metadata. */
async function created(calls: ReturnType<typeof fixture>, body: JsonObject = {}): Promise<string> {
  return `/conversations/${textAt((await calls.post("/conversations", body)).json, "id")}`;
}

function note(id: string): JsonObject {
  return { id, type: "note" };
}

testOverStores(
  "a conversation is created from nothing, from {} and with items and metadata",
  async () => {
    const calls = fixture();
    const items = [{ role: "user", content: "Hi" }];
    for (const body of ["", {}, { items: null, metadata: null }, { items, metadata: { a: "b" } }]) {
      const { status, json } = await calls.post("/conversations", body);
      assertEquals(status, 200);
      assertMatch(textAt(json, "id"), /^conv_[0-9a-f]{32}$/);
      const metadata = typeof body !== "string" && body.metadata ? { a: "b" } : {};
      const { id = null } = json;
      assertEquals(json, { id, object: "conversation", created_at: 1_700_000_000, metadata });
    }
  },
);

testOverStores("a conversation is retrieved, its metadata are replaced and removed", async () => {
  const calls = fixture();
  const path = await created(calls, { metadata: { a: "1", b: "2" } });
  assertEquals((await calls.get(path)).json.metadata, { a: "1", b: "2" });
  assertEquals((await calls.post(path, { metadata: { c: "3" } })).json.metadata, { c: "3" });
  assertEquals((await calls.get(path)).json.metadata, { c: "3" });
  assertEquals((await calls.post(path, { metadata: null })).json.metadata, {});
  const missing = refusalOf(await calls.post(path, {}));
  assertEquals(missing, [400, "missing_required_parameter", "metadata"]);
});

testOverStores("a deleted conversation is gone, and so is one never created", async () => {
  const calls = fixture();
  const path = await created(calls, { items: [note("n")] });
  const id = path.slice("/conversations/".length);
  const deleted = await calls.delete(path);
  assertEquals(deleted.status, 200);
  assertEquals(deleted.json, { id, object: "conversation.deleted", deleted: true });
  const expected = [404, "conversation_not_found", "conversation_id"];
  for (const gone of [path, "/conversations/conv_none"]) {
    assertEquals(refusalOf(await calls.get(gone)), expected);
    assertEquals(refusalOf(await calls.post(gone, { metadata: {} })), expected);
    assertEquals(refusalOf(await calls.delete(gone)), expected);
    assertEquals(refusalOf(await calls.get(`${gone}/items`)), expected);
    assertEquals(refusalOf(await calls.post(`${gone}/items`, { items: [note("x")] })), expected);
    assertEquals(refusalOf(await calls.get(`${gone}/items/n`)), expected);
    assertEquals(refusalOf(await calls.delete(`${gone}/items/n`)), expected);
  }
});

testOverStores("a conversation lives for 30 minutes from its last change", async () => {
  const world = scriptedWorld();
  const calls = fixture(world);
  const path = await created(calls);
  await world.advance(20 * MINUTE_MS);
  await calls.post(path, { metadata: { a: "1" } });
  await world.advance(30 * MINUTE_MS - 1);
  assertEquals((await calls.get(path)).status, 200);
  await world.advance(1);
  assertEquals((await calls.get(path)).status, 404);
}, CLOCKED_STORES);

testOverStores(
  "metadata have at most 16 pairs, keys of 64 and values of 512 characters",
  async () => {
    const calls = fixture();
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_pair, index) => [`k${index}`, "v"]));
    const fits = { ...pairs(14), ["😀".repeat(64)]: "x", long: "😀".repeat(512) };
    const path = await created(calls, { metadata: fits });
    assertEquals((await calls.get(path)).json.metadata, fits);
    const wrong: [JsonObject[string], string][] = [
      [pairs(17), "metadata"],
      [{ ["k".repeat(65)]: "v" }, "metadata"],
      [{ a: "v".repeat(513) }, "metadata.a"],
      [{ a: 1 }, "metadata.a"],
      [{ a: null }, "metadata.a"],
      ["text", "metadata"],
      [[], "metadata"],
    ];
    for (const [metadata, param] of wrong) {
      const expected = [400, "invalid_metadata", param];
      assertEquals(refusalOf(await calls.post("/conversations", { metadata })), expected);
      assertEquals(refusalOf(await calls.post(path, { metadata })), expected);
    }
    assertEquals((await calls.get(path)).json.metadata, fits);
  },
);

testOverStores(
  "added items are listed in the order of the request, one is shown bare and deleted",
  async () => {
    const calls = fixture();
    const path = await created(calls);
    const items = [note("a"), note("b"), note("c")];
    const added = await calls.post(`${path}/items`, { items });
    const list = { object: "list", data: items, first_id: "a", last_id: "c", has_more: false };
    assertEquals([added.status, added.json], [200, list]);
    assertEquals((await calls.get(`${path}/items/b`)).json, note("b"));
    const deleted = await calls.delete(`${path}/items/b`);
    assertEquals([deleted.status, deleted.json.object], [200, "conversation"]);
    const gone = [404, "conversation_item_not_found", "item_id"];
    assertEquals(refusalOf(await calls.get(`${path}/items/b`)), gone);
    assertEquals(refusalOf(await calls.delete(`${path}/items/b`)), gone);
    const left = objectsAt((await calls.get(`${path}/items`)).json, "data");
    assertEquals(left.map(({ id }) => id), ["c", "a"]);
  },
);

testOverStores(
  "items are paged by cursor in both orders, and last_id leads through all of them",
  async () => {
    const calls = fixture();
    const ids = Array.from({ length: 45 }, (_item, index) => `i${index}`);
    const path = await created(calls, { items: ids.slice(0, 15).map(note) });
    await calls.post(`${path}/items`, { items: ids.slice(15, 30).map(note) });
    await calls.post(`${path}/items`, { items: ids.slice(30).map(note) });
    for (const order of ["asc", "desc"]) {
      const seen: unknown[] = [];
      let query = `order=${order}`;
      for (let hasMore = true; hasMore;) {
        const { json } = await calls.get(`${path}/items?${query}`);
        const page = objectsAt(json, "data").map(({ id }) => id);
        assertEquals([json.first_id, json.last_id], [page[0], page.at(-1)]);
        seen.push(...page);
        hasMore = json.has_more === true;
        assertEquals(page.length, hasMore ? 20 : 5);
        query = `order=${order}&after=${textAt(json, "last_id")}`;
      }
      assertEquals(seen, order === "asc" ? ids : ids.toReversed());
    }
    const { json } = await calls.get(`${path}/items?limit=100`);
    assertEquals([objectsAt(json, "data").length, json.has_more], [45, false]);
  },
);

testOverStores("an empty list has no ids", async () => {
  const calls = fixture();
  const path = await created(calls);
  const empty = { object: "list", data: [], first_id: null, last_id: null, has_more: false };
  assertEquals((await calls.get(`${path}/items`)).json, empty);
});

Deno.test("wrong paging parameters are refused by name", async () => {
  const calls = fixture();
  const path = await created(calls, { items: [note("a b")] });
  const wrong = {
    limit: ["0", "101", "-1", "1.5", "x", ""],
    order: ["up", "ASC", ""],
    after: ["unknown", "", "%20a%20b", "a%20%20b"],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const answer = await calls.get(`${path}/items?${name}=${value}`);
      assertEquals(refusalOf(answer), [400, "invalid_value", name], `${name}=${value}`);
    }
  }
  assertEquals((await calls.get(`${path}/items?after=a%20b&limit=1`)).status, 200);
});

Deno.test("include is not supported for local items", async () => {
  const calls = fixture();
  const path = `${await created(calls, { items: [note("a")] })}/items`;
  for (const name of ["include", "include[]"]) {
    const query = `${encodeURIComponent(name)}=message.output_text.logprobs`;
    const expected = [400, "unsupported_feature", name];
    assertEquals(refusalOf(await calls.get(`${path}?${query}`)), expected);
    assertEquals(refusalOf(await calls.get(`${path}/a?${query}`)), expected);
    const body = { items: [note("b")] };
    assertEquals(refusalOf(await calls.post(`${path}?${query}`, body)), expected);
  }
});

testOverStores(
  "white space inside an ID is part of it; white space around an ID is refused",
  async () => {
    const calls = fixture();
    const path = await created(calls, { items: [note("a b/c"), note("a  b")] });
    assertEquals((await calls.get(`${path}/items/a%20b%2Fc`)).json, note("a b/c"));
    assertEquals((await calls.get(`${path}/items/a%20%20b`)).json, note("a  b"));
    const conversation = [400, "invalid_value", "conversation_id"];
    assertEquals(refusalOf(await calls.get(`${path}%20`)), conversation);
    assertEquals(refusalOf(await calls.get("/conversations/%20")), conversation);
    assertEquals(refusalOf(await calls.get("/conversations/%20/items")), conversation);
    assertEquals(refusalOf(await calls.get(`${path}/items/%20a`)), [
      400,
      "invalid_value",
      "item_id",
    ]);
  },
);

Deno.test(
  "a request that names a provider does not reach the gateway's own conversations",
  async () => {
    const calls = fixture();
    const path = await created(calls);
    const up = { "x-gateway-provider": "up" };
    const none = { "x-gateway-provider": "none" };
    const unsupported = [400, "unsupported_feature", "provider"];
    const unknown = [400, "provider_not_found", "provider"];
    assertEquals(refusalOf(await calls.post("/conversations", {}, up)), unsupported);
    assertEquals(refusalOf(await calls.post("/conversations", {}, none)), unknown);
    assertEquals(refusalOf(await calls.get(path, up)), unsupported);
    const model = { "x-gateway-model": "up/m" };
    assertEquals(refusalOf(await calls.post("/conversations", {}, model)), unsupported);
  },
);

Deno.test("only requests for items read the items of a conversation", async () => {
  const world = scriptedWorld();
  const gateway = testGateway(oneProvider("http://up"), world, {});
  const calls = stateCalls(gateway.app);
  const path = await created(calls, { items: [note("a"), note("b")] });
  const { conversations } = gateway.gateway.state.objects;
  let reads = 0;
  Object.assign(conversations, {
    find: ((find) => (id: string) => {
      reads++;
      return find(id);
    })(conversations.find),
  });
  const answers = [
    await calls.get(path),
    await calls.post(path, { metadata: { a: "b" } }),
    await calls.post(`${path}/items`, { items: [note("c")] }),
    await calls.delete(`${path}/items/a`),
  ];
  assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200]);
  assertEquals(reads, 0);
  assertEquals(objectsAt((await calls.get(`${path}/items`)).json, "data").length, 2);
  assertEquals(reads, 1);
  assertEquals((await calls.delete(path)).status, 200);
  assertEquals(reads, 1);
});
