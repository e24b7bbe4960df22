import fc from "fast-check";
import { type JsonObject, parseExact } from "../../../src/core/json/json.ts";
import type { ConversationStore } from "../../../src/store/object_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { testConcurrentConversations } from "./conversations_concurrent.ts";
import { testConversationModel } from "./conversations_model.ts";
import {
  type Objects,
  type StoreUnderTest,
  testExpiry,
  testLifetime,
  testStore,
  withReplicas,
} from "./harness.ts";
import { exactObject } from "./json_texts.ts";

const TTL_MS = 30 * 60_000;
const KIB = 1024;
const BOUNDS = { ttlMs: TTL_MS, ownerTtlMs: TTL_MS, maxObjects: 20, maxBytes: 1024 * KIB };

async function put(store: ConversationStore, id: string, items: readonly JsonObject[] = []) {
  await stored(store.create({ id, creator: null, createdAt: 0, metadata: {}, items }));
}

/** The number of items in a conversation. */
async function countIn(store: ConversationStore, id: string): Promise<number | null> {
  return (await stored(store.find(id)))?.items.length ?? null;
}

function numbered(count: number, from = 0): readonly JsonObject[] {
  return Array.from({ length: count }, (_item, index) => ({ id: `i${from + index}`, type: "x" }));
}

function large(id: string, kib: number): readonly JsonObject[] {
  return [{ id, type: "x", text: id.padEnd(kib * KIB, "x") }];
}

/** Registers the tests of conversations. */
export function testConversations(under: StoreUnderTest<Objects>): void {
  testConversationModel(under);
  testConcurrentConversations(under);

  testExpiry(
    under,
    "a conversation ends after its lifetime, however often it is retrieved",
    BOUNDS,
    ({ objects }) => put(objects.conversations, "c", numbered(2)),
    async ({ objects }) => await countIn(objects.conversations, "c") !== null,
  );

  testExpiry(
    under,
    "the items of an expired conversation are not found",
    BOUNDS,
    ({ objects }) => put(objects.conversations, "c", numbered(2)),
    async ({ objects }) =>
      (await stored(objects.conversations.findItems(new Set(["i0"])))).length > 0,
  );

  testLifetime(
    under,
    "the lifetime of a conversation begins again with each change and with no refused one",
    BOUNDS,
    async ({ pick, advance }) => {
      const store = pick(false).objects.conversations;
      for (const id of ["appended", "renamed", "removed", "refused", "read"]) {
        await put(store, id, numbered(1));
      }
      await advance(TTL_MS - 1);
      await stored(store.append("appended", numbered(1, 1)));
      await stored(store.setMetadata("renamed", { a: "b" }));
      await stored(store.removeItem("removed", "i0"));
      assertEquals(await outcomeOf(store.append("refused", numbered(1))), "duplicate_item_id");
      const other = pick(true).objects.conversations;
      assertEquals(await countIn(other, "read"), 1);
      await advance(1);
      for (const id of ["refused", "read"]) assertEquals(await countIn(other, id), null);
      await advance(TTL_MS - 2);
      const counts = ["appended", "renamed", "removed"].map((id) => countIn(store, id));
      assertEquals(await Promise.all(counts), [2, 1, 0]);
      await advance(1);
      for (const id of ["appended", "renamed", "removed"]) {
        assertEquals(await countIn(store, id), null);
      }
    },
  );

  testStore(
    under,
    "a conversation holds 1000 items; a batch that does not fit changes nothing",
    BOUNDS,
    async ({ pick }) => {
      const [first, second] = [pick(false).objects.conversations, pick(true).objects.conversations];
      await put(first, "c", numbered(990));
      assertEquals(
        await outcomeOf(second.append("c", numbered(11, 990))),
        "conversation_item_limit_exceeded",
      );
      assertEquals(await countIn(first, "c"), 990);
      await stored(second.append("c", numbered(10, 990)));
      const found = await stored(first.find("c"));
      assertEquals(found?.items, [...numbered(1000)]);
      assertEquals(
        await outcomeOf(first.append("c", numbered(1, 1000))),
        "conversation_item_limit_exceeded",
      );
      const items = numbered(1001);
      const made = first.create({ id: "d", creator: null, createdAt: 0, metadata: {}, items });
      assertEquals(await outcomeOf(made), "conversation_item_limit_exceeded");
      assertEquals(await countIn(second, "d"), null);
    },
  );

  testStore(
    under,
    "there are at most max_entries conversations; that unchanged the longest makes room",
    BOUNDS,
    async ({ pick }) => {
      const store = pick(false).objects.conversations;
      for (let at = 0; at < BOUNDS.maxObjects; at++) await put(store, `c${at}`, numbered(1, at));
      await stored(pick(true).objects.conversations.append("c0", numbered(1, 100)));
      await put(store, "one more");
      assertEquals(await countIn(store, "c0"), 2);
      assertEquals(await countIn(store, "c1"), null);
      assertEquals(await countIn(store, "c2"), 1);
      assertEquals(await stored(store.findItems(new Set(["i1"]))), []);
      assert(pick(false).objects.stats().conversations.entries <= BOUNDS.maxObjects);
    },
  );

  testStore(
    under,
    "conversations share max_bytes; a growing one pushes others out and stops at the limit",
    { ...BOUNDS, maxBytes: 64 * KIB },
    async ({ pick }) => {
      const { objects } = pick(false);
      const store = objects.conversations;
      await put(store, "old", large("a", 29));
      await put(store, "new", large("b", 29));
      assertEquals(await countIn(store, "old"), 1);
      await stored(store.append("new", large("c", 20)));
      assertEquals(await countIn(store, "old"), null);
      assertEquals(await outcomeOf(store.append("new", large("d", 20))), "state_too_large");
      assertEquals(await countIn(store, "new"), 2);
      assert(objects.stats().conversations.bytes <= 64 * KIB);
      await stored(store.removeItem("new", "b"));
      await stored(store.append("new", large("d", 20)));
      const metadata = { text: "x".repeat(30 * KIB) };
      assertEquals(await outcomeOf(store.setMetadata("new", metadata)), "state_too_large");
      assertEquals((await stored(store.find("new")))?.metadata, {});
    },
  );

  testStore(
    under,
    "a conversation larger than max_bytes is refused and pushes nothing out",
    { ...BOUNDS, maxBytes: 64 * KIB },
    async ({ pick }) => {
      const store = pick(false).objects.conversations;
      await put(store, "small", numbered(1));
      const items = large("a", 65);
      const made = store.create({ id: "c", creator: null, createdAt: 0, metadata: {}, items });
      assertEquals(await outcomeOf(made), "state_too_large");
      const found = [await countIn(store, "c"), await countIn(store, "small")];
      assertEquals(found, [null, 1]);
    },
  );

  testStore(
    under,
    "items are found in conversations by their IDs, that of the oldest change first",
    BOUNDS,
    async ({ pick }) => {
      const store = pick(false).objects.conversations;
      await put(store, "one", [{ id: "a", type: "x" }, { id: "b", type: "x" }]);
      await put(store, "two", [{ id: "a", type: "y" }]);
      await stored(store.append("one", [{ id: "c", type: "x" }]));
      const wanted = new Set(["a", "c", "unknown"]);
      const found = await stored(pick(true).objects.conversations.findItems(wanted));
      const types = found.map(({ id, item, creator }) => [id, item.type, creator]);
      assertEquals(types, [["a", "y", null], ["a", "x", null], ["c", "x", null]]);
      assertEquals(await stored(store.findItems(new Set())), []);
    },
  );

  testStore(
    under,
    "of an ID in very many conversations, a lookup of many IDs finds the items that were added last",
    BOUNDS,
    async ({ pick }) => {
      const store = pick(false).objects.conversations;
      for (const id of ["one", "two", "three"]) await put(store, id, [{ id: "a", type: id }]);
      const wanted = new Set(["a", ...Array.from({ length: 9_999 }, (_id, at) => `unknown ${at}`)]);
      const found = await stored(store.findItems(wanted));
      assertEquals(found.map(({ item }) => item.type), ["two", "three"]);
    },
  );

  Deno.test(`${under.name}: conversations return items and metadata exactly as they were stored`, async () => {
    const metadata = fc.dictionary(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "grapheme" }),
    );
    await withReplicas(under, { ...BOUNDS, maxObjects: 1000 }, async ({ pick }) => {
      const property = fc.asyncProperty(
        fc.uuid(),
        metadata,
        fc.array(exactObject, { maxLength: 4 }),
        async (id, metadata, texts) => {
          const items = texts.map((text, at) => exactItem(`i${at}`, text));
          const first = pick(false).objects.conversations;
          await stored(first.create({ id, creator: "ada", createdAt: 1, metadata, items }));
          const found = await stored(pick(true).objects.conversations.find(id));
          assertEquals(JSON.stringify(found?.items), JSON.stringify(items));
          assertEquals(
            new Map(Object.entries(found?.metadata ?? {})),
            new Map(Object.entries(metadata)),
          );
        },
      );
      await fc.assert(property, { numRuns: under.numRuns });
    });
  });
}

function exactItem(id: string, text: string): JsonObject {
  return { id, value: parseExact(text) };
}
