import { isObject, parseExact } from "../../../src/core/json/json.ts";
import { newEncryptingCodec } from "../../../src/store/records/encrypting_codec.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { settingsOf, withFile } from "./store.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };
const CALLER = { name: null, isIsolated: false };

function codec(key: number) {
  return newEncryptingCodec([new Uint8Array(32).fill(key)]);
}

Deno.test("records of another encryption key are unreadable, and their owners are known", async () => {
  await withFile(async ({ path, world, open }) => {
    const store = await open();
    const { responses, conversations, reasoning } = store.objects;
    const input = [{ id: "item", type: "x" }];
    const response = { owner: OWNER, snapshot: { resource: { id: "r" }, input }, isNative: false };
    const bound = await stored(responses.store("r", response, CALLER));
    const conversation = { id: "c", creator: null, createdAt: 0, metadata: {}, items: input };
    await stored(conversations.create(conversation));
    const key = { creator: null, calls: "calls", text: "text" };
    await stored(reasoning.store(key, { account: "a", blocks: [] }));
    const body = new Uint8Array([1]);
    await store.cachedResponses.set("k", { status: 200, headers: {}, body }, 60_000);
    await store.close();

    const log = { warn() {}, error() {} };
    const opened = await openSqliteStore(settingsOf(path), { world, codec: codec(2), log });
    assert(opened.ok);
    const { objects, cachedResponses } = opened.store;
    const reads = [
      outcomeOf(objects.responses.find("r")),
      outcomeOf(objects.responses.findItems(new Set(["item"]))),
      outcomeOf(objects.conversations.find("c")),
      outcomeOf(objects.conversations.findItems(new Set(["item"]))),
      outcomeOf(objects.reasoning.find([key])),
    ];
    assertEquals(new Set(await Promise.all(reads)), new Set(["state_unreadable"]));
    assertEquals(await cachedResponses.get("k"), null);
    assertEquals(await stored(objects.responses.findBinding("r")), bound);
    assertEquals(await stored(objects.responses.unbind("r", "a", CALLER)), true);
    assertEquals(await stored(objects.conversations.delete("c")), true);
    await opened.store.close();
  }, codec(1));
});

Deno.test("numbers and texts are read as they were received, after the file was opened again", async () => {
  await withFile(async ({ open }) => {
    const first = await open();
    const text =
      '{"id":"i\\ud800","n":[1.0,12345678901234567890,1e400],"__proto__":{"a":"\\u0000"},"é":"\\udc00"}';
    const item = parseExact(text);
    assert(isObject(item));
    const snapshot = {
      resource: { id: "r", output: [item], n: JSON.rawJSON("2.50") },
      input: [item],
    };
    const response = { owner: OWNER, snapshot, isNative: false };
    await stored(first.objects.responses.store("r", response, CALLER));
    const conversation = { id: "c", creator: null, createdAt: 0, metadata: {}, items: [item] };
    await stored(first.objects.conversations.create(conversation));
    await first.close();
    const store = await open();
    const found = await stored(store.objects.responses.find("r"));
    assertEquals(JSON.stringify(found?.snapshot), JSON.stringify(snapshot));
    const items = (await stored(store.objects.conversations.find("c")))?.items;
    assertEquals(JSON.stringify(items), `[${text}]`);
    const byId = await stored(store.objects.responses.findItems(new Set(["i\ud800"])));
    assertEquals(byId.map(({ id }) => id), ["i\ud800"]);
    await store.close();
  });
});
