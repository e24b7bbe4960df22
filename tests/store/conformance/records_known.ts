import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { testStore } from "./harness.ts";
import { bytes, change, commit, partOf, type RecordsUnderTest, testBounds } from "./records.ts";

/** Registers the test of reads by a caller that has some parts already. */
export function testKnownParts(under: RecordsUnderTest): void {
  testStore(
    under,
    "parts that the caller has are found without their content, and all others with it",
    testBounds(),
    async ({ pick }) => {
      const parts = [partOf("p", ["x"]), partOf("q", ["y"]), partOf("p", ["x"])];
      const body = { body: bytes("body"), bytes: 4 };
      assertEquals(await commit(pick(false), change("a", null, { body, parts })), "done");
      for (const content of ["all", ["p", "q"]] as const) {
        const [found] = await stored(
          pick(true).get([{ type: "response", id: "a" }], { content, known: ["p", "other"] }),
        );
        assertEquals(found?.head, "head of a");
        assertEquals(new Uint8Array(found?.body ?? []), body.body);
        const [p, q] = parts;
        const unread = { ...p, names: [], body: null };
        const read = found?.parts.map((part) =>
          part.body === null ? part : { ...part, body: new Uint8Array(part.body) }
        );
        assertEquals(read, [unread, q, unread]);
      }
    },
  );
}
