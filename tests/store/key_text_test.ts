import fc from "fast-check";
import { keyText } from "../../src/store/key_text.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { stored } from "../support/object_store.ts";
import { withFile } from "./sqlite/store.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

/** IDs with what SQLite changes in a text: NUL, and halves of characters. */
const id = fc.string({
  unit: fc.constantFrom("a", "\0", "\ud800", "\udc00", '"', "\\", "é"),
  maxLength: 5,
});

Deno.test("IDs that differ are stored under texts that differ, and SQLite changes none of them", async () => {
  fc.assert(fc.property(id, id, (one, other) => {
    assertEquals(keyText(one) === keyText(other), one === other);
    assert(keyText(one).isWellFormed() && !keyText(one).includes("\0"));
  }));
  assertEquals(keyText("resp_1"), "resp_1");
  await withFile(async ({ open }) => {
    const store = await open();
    const owners = store.objects.owners.conversation;
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(id, { maxLength: 5 }), async (ids) => {
        for (const one of ids) await stored(owners.bind(one, { ...OWNER, provider: one }));
        const found = await stored(owners.findBindings(ids));
        assertEquals([...found.keys()], ids);
        for (const [one, binding] of found) {
          assertEquals(binding, { kind: "bound", owner: { ...OWNER, provider: one } });
        }
      }),
      { numRuns: 30 },
    );
    await store.close();
  });
});
