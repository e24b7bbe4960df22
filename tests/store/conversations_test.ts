import { hasRoom } from "../../src/store/conversations.ts";
import { newMemoryObjectStore } from "../../src/store/memory/object_store.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { stored } from "../support/object_store.ts";

Deno.test("a conversation has room for items up to the maximum bytes of its store", async () => {
  const maxBytes = 100_000;
  const { conversations } = newMemoryObjectStore(() => 0, {
    ttlMs: 1,
    ownerTtlMs: 1,
    maxObjects: 1,
    maxBytes,
  });
  assertEquals(conversations.maxBytes, maxBytes);
  const item = (id: string, bytes: number) => [{ id, type: "x", text: "x".repeat(bytes) }];
  const items = item("a", 90_000);
  await stored(conversations.create({ id: "c", creator: null, createdAt: 0, metadata: {}, items }));
  const found = await stored(conversations.find("c"));
  assert(found !== null);
  const [small, large] = [item("b", 8_000), item("b", 10_000)];
  assertEquals([small, large].map((added) => hasRoom(found, added, maxBytes)), [true, false]);
  assert((await conversations.append("c", large)).ok === false);
  assert((await conversations.append("c", small)).ok);
});
