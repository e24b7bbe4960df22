import type { JsonObject } from "../../../src/core/json/json.ts";
import type { ConversationStore } from "../../../src/store/object_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { type Objects, type StoreUnderTest, testStore } from "./harness.ts";

const BOUNDS = {
  ttlMs: 30 * 60_000,
  ownerTtlMs: 30 * 60_000,
  maxObjects: 20,
  maxBytes: 4 * 1024 * 1024,
};
const MAX_ITEMS = 1_000;

function batch(of: number, size: number): readonly JsonObject[] {
  return Array.from({ length: size }, (_item, at) => ({ id: `${of}-${at}`, type: "x" }));
}

/** Registers the tests of conversations that several calls change at the same time. */
export function testConcurrentConversations(under: StoreUnderTest<Objects>): void {
  const test = (
    name: string,
    run: (store: (at: number) => ConversationStore) => Promise<void>,
  ) =>
    testStore(under, name, BOUNDS, async ({ pick }) => {
      const { conversations } = pick(false).objects;
      const metadata = { a: "b" };
      await stored(
        conversations.create({ id: "c", creator: null, createdAt: 0, metadata, items: [] }),
      );
      await run((at) => pick(at % 2 === 1).objects.conversations);
    });

  test("concurrent appends to one conversation are all stored, each batch in one piece", async (store) => {
    const appends = Array.from(
      { length: 40 },
      (_append, of) => outcomeOf(store(of).append("c", batch(of, 3))),
    );
    assertEquals(new Set(await Promise.all(appends)), new Set(["ok"]));
    const items = (await stored(store(0).find("c")))?.items ?? [];
    assertEquals(items.length, 120);
    const firsts = items.filter((_item, at) => at % 3 === 0).map(({ id }) => parseInt(String(id)));
    assertEquals(items, firsts.flatMap((of) => batch(of, 3)));
    assertEquals(new Set(firsts).size, 40);
    assertEquals((await stored(store(1).find("c")))?.items, items);
  });

  test("concurrent appends stop at exactly the maximum of items", async (store) => {
    const appends = Array.from(
      { length: 60 },
      (_append, of) => outcomeOf(store(of).append("c", batch(of, 20))),
    );
    const outcomes = await Promise.all(appends);
    assertEquals(outcomes.filter((outcome) => outcome === "ok").length, MAX_ITEMS / 20);
    const refused = outcomes.filter((outcome) => outcome === "conversation_item_limit_exceeded");
    assertEquals(refused.length, 60 - MAX_ITEMS / 20);
    assertEquals((await stored(store(1).find("c")))?.items.length, MAX_ITEMS);
  });

  test("of concurrent appends with the same item one is stored", async (store) => {
    const appends = Array.from(
      { length: 10 },
      (_append, of) =>
        outcomeOf(store(of).append("c", [...batch(of, 1), { id: "same", type: "x" }])),
    );
    const outcomes = await Promise.all(appends);
    assertEquals(outcomes.filter((outcome) => outcome === "ok").length, 1);
    assertEquals(outcomes.filter((outcome) => outcome === "duplicate_item_id").length, 9);
    assertEquals((await stored(store(0).find("c")))?.items.length, 2);
  });

  test("a change of the metadata and concurrent appends are both stored", async (store) => {
    const changes = Array.from({ length: 20 }, (_change, at) =>
      outcomeOf(
        at % 4 === 0
          ? store(at / 4).setMetadata("c", { at: `${at}` })
          : store(at).append("c", batch(at, 1)),
      ));
    assertEquals(new Set(await Promise.all(changes)), new Set(["ok"]));
    const found = await stored(store(0).find("c"));
    assertEquals(found?.items.length, 15);
    assertEquals(["0", "4", "8", "12", "16"].includes(found?.metadata.at ?? ""), true);
  });

  test("of concurrent removals of one item one succeeds", async (store) => {
    await stored(store(0).append("c", batch(0, 2)));
    const removals = Array.from(
      { length: 10 },
      (_removal, at) => outcomeOf(store(at).removeItem("c", "0-0")),
    );
    const outcomes = await Promise.all(removals);
    assertEquals(outcomes.filter((outcome) => outcome === "ok").length, 1);
    assertEquals(outcomes.filter((one) => one === "conversation_item_not_found").length, 9);
    assertEquals((await stored(store(1).find("c")))?.items, [{ id: "0-1", type: "x" }]);
  });

  test("of concurrent deletes of a conversation one returns true", async (store) => {
    const deletes = Array.from({ length: 10 }, (_delete, at) => stored(store(at).delete("c")));
    assertEquals((await Promise.all(deletes)).filter((isDeleted) => isDeleted).length, 1);
    assertEquals(await stored(store(0).find("c")), null);
    assertEquals(await outcomeOf(store(1).append("c", batch(0, 1))), "conversation_not_found");
  });
}
