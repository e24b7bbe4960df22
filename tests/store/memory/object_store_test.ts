import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { newMemoryObjectStore } from "../../../src/store/memory/object_store.ts";
import type { ObjectStore } from "../../../src/store/object_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { SHARING } from "../conformance/harness.ts";

const MIB = 1024 * 1024;
const OWNER = { provider: "p", account: "a", origin: null, creator: null };

/** Stores one object of each type under a name. */
async function storeAll({ responses, conversations, owners, reasoning }: ObjectStore, id: string) {
  const snapshot = { resource: { id }, input: [] };
  await stored(responses.store(id, { owner: OWNER, snapshot, isNative: false }, SHARING));
  await stored(
    conversations.create({ id, creator: null, createdAt: 0, metadata: {}, items: [] }),
  );
  await stored(owners.chat_completion.bind(id, OWNER));
  await stored(owners.conversation.bind(id, OWNER));
  await stored(owners.relayed_object.bind(id, OWNER));
  const key = { creator: null, calls: id, text: "" };
  await stored(reasoning.store(key, { account: "a", blocks: [] }));
}

function entriesOf(objects: ObjectStore): readonly number[] {
  return Object.values(objects.stats()).map(({ entries }) => entries);
}

Deno.test("without settings objects are stored in memory for 30 minutes, 1,000 of each type", async () => {
  let time = 0;
  const objects = newMemoryObjectStore(() => time);
  for (let at = 0; at < 1_005; at++) await storeAll(objects, `x${at}`);
  const { reasoning, relayed_object_bindings, ...others } = objects.stats();
  assertEquals([reasoning.entries, relayed_object_bindings.entries], [1_005, 1_005]);
  for (const { entries } of Object.values(others)) assertEquals(entries, 1_000);
  time = 30 * 60_000 - 1;
  assertEquals(Math.min(...entriesOf(objects)), 1_000);
  time = 30 * 60_000;
  assertEquals(entriesOf(objects), [0, 0, 0, 0, 0, 0, 1_005]);
  time = 30 * 24 * 60 * 60_000;
  assertEquals(Object.values(objects.stats()), Array(7).fill({ entries: 0, bytes: 0 }));
});

Deno.test("without settings a conversation in memory may have 64 MiB, and the refusal names them", async () => {
  const { conversations } = newMemoryObjectStore(() => 0);
  const items = [{ id: "i", text: "x".repeat(63 * MIB) }];
  await stored(conversations.create({ id: "c", creator: null, createdAt: 0, metadata: {}, items }));
  const more = conversations.append("c", [{ id: "j", text: "x".repeat(MIB) }]);
  assertEquals(await outcomeOf(more), "state_too_large");
  const result = await more;
  assert(!result.ok && messageOf(result.failure).includes("larger than 64 MiB"));
});

Deno.test("the refusal of a large conversation names the configured size", async () => {
  const retention = { ttlMs: 1, ownerTtlMs: 1, maxObjects: 1, maxBytes: 3 * MIB };
  for (const [maxBytes, text] of [[3 * MIB, "3 MiB;"], [1_000, "1000 bytes;"]] as const) {
    const { conversations } = newMemoryObjectStore(() => 0, { ...retention, maxBytes });
    const items = [{ id: "i", text: "x".repeat(3 * MIB) }];
    const given = { id: "c", creator: null, createdAt: 0, metadata: {}, items };
    const result = await conversations.create(given);
    assert(!result.ok && messageOf(result.failure).includes(`larger than ${text}`));
  }
});
