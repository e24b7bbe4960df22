import type { JsonObject } from "../../src/core/json/json.ts";
import { newMemoryObjectStore } from "../../src/store/memory/object_store.ts";
import { newTurnWrite } from "../../src/store/turn_write.ts";
import { assertEquals } from "../support/assert.ts";
import { outcomeOf, stored } from "../support/object_store.ts";

/** A conversation with one item, and turns that get IDs by number. */
async function conversation() {
  const { conversations } = newMemoryObjectStore(() => 0);
  const items = [{ id: "a", text: "first" }];
  await stored(conversations.create({ id: "c", creator: null, createdAt: 0, metadata: {}, items }));
  let ids = 0;
  const withNewId = (item: JsonObject) => ({ ...item, id: `new${++ids}` });
  return {
    conversations,
    write: (...added: JsonObject[]) => newTurnWrite("c", { items: added, withNewId }),
    async ids() {
      return (await stored(conversations.find("c")))?.items.map(({ id }) => id);
    },
  };
}

Deno.test("items without an ID of their own get a new one when their turn is added", async () => {
  const { conversations, write, ids } = await conversation();
  const turn = write({ id: "a", text: "other" }, { text: "none" }, { id: "b" }, { id: "b" });
  assertEquals(await outcomeOf(turn(conversations)), "ok");
  assertEquals(await ids(), ["a", "new1", "new2", "b", "new3"]);
});

Deno.test("a turn that is added again is not added twice", async () => {
  const { conversations, write, ids } = await conversation();
  const turn = write({ id: "a", text: "other" }, { id: "b" });
  for (let times = 0; times < 3; times++) await stored(turn(conversations));
  assertEquals(await ids(), ["a", "new1", "b"]);
});

Deno.test("equal items of another turn do not count as those of this one", async () => {
  const { conversations, write, ids } = await conversation();
  await stored(write({ id: "b", text: "x" })(conversations));
  await stored(write({ id: "b", text: "x" })(conversations));
  assertEquals(await ids(), ["a", "b", "new1"]);
});
