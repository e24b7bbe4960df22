import type { JsonObject } from "../../../src/core/json/json.ts";
import { hasRoom } from "../../../src/state/conversations.ts";
import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import type { ConversationStore } from "../../../src/state/object_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

async function put(store: ConversationStore, id: string, items: readonly JsonObject[] = []) {
  await stored(store.create({ id, creator: null, createdAt: 0, metadata: {}, items }));
}

/** The number of items in a conversation; null if there is none. */
async function countIn(store: ConversationStore, id: string): Promise<number | null> {
  return (await stored(store.find(id)))?.items.length ?? null;
}

function numbered(count: number, from = 0): readonly JsonObject[] {
  return Array.from({ length: count }, (_item, index) => ({ id: `i${from + index}`, type: "x" }));
}

Deno.test("a conversation is stored for 30 minutes from its last change, not from its last retrieval", async () => {
  let time = 0;
  const { conversations: store } = newMemoryObjectStore(() => time);
  await put(store, "changed");
  await put(store, "looked at");
  time = 20 * MINUTE_MS;
  await stored(store.append("changed", numbered(1)));
  assert(await countIn(store, "looked at") !== null);
  time = 30 * MINUTE_MS;
  assertEquals(await countIn(store, "looked at"), null);
  time = 50 * MINUTE_MS - 1;
  assert(await countIn(store, "changed") !== null);
  time = 50 * MINUTE_MS;
  assertEquals(await countIn(store, "changed"), null);
});

Deno.test("a conversation holds 1000 items; a batch that does not fit changes nothing", async () => {
  const objects = newMemoryObjectStore(() => 0);
  const store = objects.conversations;
  await put(store, "c", numbered(990));
  assertEquals(
    await outcomeOf(store.append("c", numbered(11, 990))),
    "conversation_item_limit_exceeded",
  );
  assertEquals(await countIn(store, "c"), 990);
  await stored(store.append("c", numbered(10, 990)));
  assertEquals(await countIn(store, "c"), 1000);
});

Deno.test("there are at most 1000 conversations; the one unchanged the longest makes room", async () => {
  const objects = newMemoryObjectStore(() => 0);
  const store = objects.conversations;
  for (let index = 0; index < 1000; index++) await put(store, `c${index}`);
  await stored(store.append("c0", numbered(1)));
  await put(store, "one more");
  assertEquals(objects.stats().conversations.entries, 1000);
  assert(await countIn(store, "c0") !== null);
  assertEquals(await countIn(store, "c1"), null);
});

Deno.test("conversations share 64 MiB; a growing one pushes others out and stops at the limit", async () => {
  const objects = newMemoryObjectStore(() => 0);
  const store = objects.conversations;
  const big = (id: string, mib: number) => [{ id, type: "x", text: "x".repeat(mib * MIB) }];
  await put(store, "old", big("a", 30));
  await put(store, "new", big("b", 30));
  await stored(store.append("new", big("c", 20)));
  assertEquals(await countIn(store, "old"), null);
  assertEquals(await outcomeOf(store.append("new", big("d", 20))), "state_too_large");
  assertEquals(await countIn(store, "new"), 2);
  assert(objects.stats().conversations.bytes <= 64 * MIB);
});

Deno.test("a response larger than 64 MiB is not stored and pushes nothing out", async () => {
  const objects = newMemoryObjectStore(() => 0);
  const caller = { name: null, isIsolated: false };
  const origin = { route: "", model: "m", requestedModel: null, protocol: "responses" } as const;
  const owner = {
    provider: "p",
    account: "a",
    origin: { ...origin, hasSnapshot: true },
    creator: null,
  };
  const store = (id: string, text: string, isNative: boolean) => {
    const snapshot = { resource: { id, text }, input: [] };
    return stored(objects.responses.store(id, { owner, snapshot, isNative }, caller));
  };
  const small = await store("small", "", false);
  assertEquals(small, { kind: "bound", owner });
  const text = "x".repeat(64 * MIB);
  assertEquals(await store("big", text, false), null);
  assertEquals(await stored(objects.responses.find("big")), null);
  // A native response has an owner in any case, whose provenance has no snapshot.
  const native = await store("big", text, true);
  const without = { ...owner, origin: { ...origin, hasSnapshot: false } };
  assertEquals(native, { kind: "bound", owner: without });
  assertEquals((await stored(objects.responses.find("big")))?.snapshot, null);
  assert((await stored(objects.responses.find("small")))?.snapshot !== null);
  assertEquals(objects.stats().responses.entries, 1);
});

Deno.test("a conversation has room for items up to 64 MiB in all", async () => {
  const { conversations: store } = newMemoryObjectStore(() => 0);
  await put(store, "c", [{ id: "a", type: "x", text: "x".repeat(63 * MIB) }]);
  const item = (bytes: number) => [{ id: "b", type: "x", text: "x".repeat(bytes) }];
  const found = await stored(store.find("c"));
  assert(found !== null);
  assertEquals([hasRoom(found, item(MIB / 2)), hasRoom(found, item(MIB))], [true, false]);
  await stored(store.append("c", item(MIB / 2)));
  const large = store.append("c", [{ id: "c", type: "x", text: "x".repeat(MIB) }]);
  assertEquals(await outcomeOf(large), "state_too_large");
});

Deno.test("items are found in conversations by their IDs, that of the oldest change first", async () => {
  const { conversations: store } = newMemoryObjectStore(() => 0);
  await put(store, "one", [{ id: "a", type: "x" }, { id: "b", type: "x" }]);
  await put(store, "two", [{ id: "a", type: "y" }]);
  await stored(store.append("one", [{ id: "c", type: "x" }]));
  const found = await stored(store.findItems(new Set(["a", "c", "unknown"])));
  assertEquals(found.map(({ id, item }) => [id, item.type]), [["a", "y"], ["a", "x"], ["c", "x"]]);
});
