import { newEncryptingCodec } from "../../../src/state/records/encrypting_codec.ts";
import { openSqliteStore } from "../../../src/state/sqlite/open.ts";
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
