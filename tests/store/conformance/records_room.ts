import type { Bounds } from "../../../src/store/records/bounds.ts";
import type { NextRecord } from "../../../src/store/records/record_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { testStore } from "./harness.ts";
import {
  bytes,
  change,
  commit,
  partOf,
  present,
  type RecordsUnderTest,
  testBounds,
  TTL_MS,
} from "./records.ts";

const WIDE: Bounds = { entries: 100, bytes: 100_000, room: "oldest" };

/** Returns a body that counts with this many bytes. */
function sized(size: number): Partial<NextRecord> {
  return { head: "", body: { body: bytes("x"), bytes: size } };
}

/** Registers the tests of the bounds of a record store. */
export function testRecordRoom(under: RecordsUnderTest): void {
  testStore(
    under,
    "the oldest record makes room; a lookup that renews makes a record the youngest",
    testBounds({ response: { ...WIDE, entries: 3 } }),
    async ({ pick }) => {
      const [store, other] = [pick(false), pick(true)];
      for (const id of ["a", "b", "c"]) await commit(store, change(id, null, {}));
      const lookup = [{ type: "response", id: "a" }] as const;
      await stored(other.get(lookup, { content: "head", renewMs: TTL_MS }));
      await commit(store, change("b", "any", { lifeMs: null, head: "new" }));
      await commit(other, change("d", null, {}));
      const all = ["a", "b", "c", "d"];
      assertEquals(await present(store, all), ["a", "c", "d"]);
      await commit(other, change("c", "any", {}));
      await commit(other, change("e", null, {}));
      assertEquals(await present(store, [...all, "e"]), ["c", "d", "e"]);
      assertEquals(other.stats().response.entries, 3);
    },
  );

  testStore(
    under,
    "records are removed until the bytes fit; parts that others have count on",
    testBounds({ response: { ...WIDE, bytes: 100 } }),
    async ({ pick }) => {
      const store = pick(false);
      const parts = [{ ...partOf("p"), bytes: 40 }];
      await commit(store, change("a", null, { ...sized(19), parts }));
      await commit(store, change("b", null, { ...sized(19), parts }));
      await commit(store, change("c", null, sized(19)));
      assertEquals(store.stats().response.bytes, 100);
      await commit(store, change("d", null, sized(19)));
      assertEquals(await present(store, ["a", "b", "c", "d"]), ["b", "c", "d"]);
      await commit(store, change("e", null, sized(19)));
      assertEquals(await present(store, ["b", "c", "d", "e"]), ["c", "d", "e"]);
      assertEquals(store.stats().response.bytes, 60);
      // A record that grows makes other records go, never itself.
      await commit(store, change("c", "any", { ...sized(99), lifeMs: null }));
      assertEquals(await present(store, ["c", "d", "e"]), ["c"]);
    },
  );

  testStore(
    under,
    "records are removed until the bytes of their IDs and heads fit, whatever their bodies have",
    testBounds({ response: { ...WIDE, headBytes: 10 } }),
    async ({ pick }) => {
      const store = pick(false);
      for (const id of ["a", "b"]) {
        await commit(store, change(id, null, { ...sized(500), head: "1234" }));
      }
      assertEquals(await present(store, ["a", "b"]), ["a", "b"]);
      await commit(store, change("c", null, { ...sized(1), head: "" }));
      assertEquals(await present(store, ["a", "b", "c"]), ["b", "c"]);
      assertEquals(store.stats().response.headBytes, 6);
    },
  );

  testStore(
    under,
    "a creator above its share loses its own oldest records only",
    testBounds({
      reasoning: { ...WIDE, entries: 6, shareEntries: 3, shareBytes: 90 },
    }),
    async ({ pick }) => {
      const store = pick(false);
      const put = (id: string, share: string, size = 9) =>
        commit(store, change(id, null, { ...sized(size), share }, "reasoning"));
      await put("x1", "bob");
      for (const id of ["a1", "a2", "a3", "a4"]) await put(id, "ada");
      const all = ["x1", "a1", "a2", "a3", "a4", "a5"];
      assertEquals(await present(store, all, "reasoning"), ["x1", "a2", "a3", "a4"]);
      await put("a5", "ada", 78);
      assertEquals(await present(store, all, "reasoning"), ["x1", "a5"]);
      // Above the bounds of all, the oldest of all goes.
      for (const id of ["1", "2", "3"]) await put(id, "eve");
      for (const id of ["4", "5"]) await put(id, "joe");
      assertEquals(await present(store, ["x1", "a5", "1"], "reasoning"), ["a5", "1"]);
      // A record that is replaced stays with its creator.
      await commit(store, change("4", "any", { share: "eve" }, "reasoning"));
      assertEquals(await present(store, ["1", "2", "3", "4", "5"], "reasoning"), [
        "1",
        "2",
        "3",
        "4",
        "5",
      ]);
    },
  );

  testStore(
    under,
    "too many records: the oldest of the creator with most records makes room, never another's",
    testBounds({ relayed_owner: { ...WIDE, entries: 6, room: "largest_share" } }),
    async ({ pick }) => {
      const store = pick(false);
      const put = (id: string, share: string) =>
        commit(store, change(id, null, { share }, "relayed_owner"));
      const is = (ids: readonly string[]) => present(store, ids, "relayed_owner");
      for (const id of ["a1", "a2"]) await put(id, "ada");
      for (let at = 1; at <= 20; at++) await put(`b${at}`, "bob");
      assertEquals(await is(["a1", "a2", "b15", "b16", "b17", "b18", "b19", "b20"]), [
        "a1",
        "a2",
        "b17",
        "b18",
        "b19",
        "b20",
      ]);
      await put("a3", "ada");
      assertEquals(await is(["a1", "a2", "a3", "b17"]), ["a1", "a2", "a3"]);
      // Both have three: the one that needs the room gives it.
      await put("b21", "bob");
      assertEquals(await is(["a1", "b18", "b19"]), ["a1", "b19"]);
      await put("a4", "ada");
      assertEquals(await is(["a1", "a2", "b19"]), ["a2", "b19"]);
      for (const share of ["c", "d", "e", "f"]) await put(share, share);
      assertEquals((await is(["c", "d", "e", "f"])).length, 4);
      await put("g", "g");
      assert((await is(["g"])).length === 1, "the record that needs the room stays");
      assertEquals(store.stats().relayed_owner.entries, 6);
    },
  );

  for (const [own, other] of [["ada", "bob"], ["bob", "ada"]] as const) {
    testStore(
      under,
      `of two creators with most records, that of the record that needs the room has it, after ${other}`,
      testBounds({ relayed_owner: { ...WIDE, entries: 6, room: "largest_share" } }),
      async ({ pick }) => {
        const store = pick(false);
        const put = (id: string, share: string) =>
          commit(store, change(id, null, { share }, "relayed_owner"));
        for (const id of ["1", "2", "3"]) await put(id, other);
        for (const id of ["4", "5"]) await put(id, own);
        await put("6", "eve");
        await put("7", own);
        const all = ["1", "2", "3", "4", "5", "6", "7"];
        assertEquals(await present(store, all, "relayed_owner"), ["1", "2", "3", "5", "6", "7"]);
      },
    );
  }

  testStore(
    under,
    "too many bytes: the oldest of the creator with most bytes makes room",
    testBounds({ response: { ...WIDE, bytes: 1_000, room: "largest_share" } }),
    async ({ pick }) => {
      const store = pick(false);
      const put = (id: string, share: string, size: number) =>
        commit(store, change(id, null, { ...sized(size), share }));
      for (const id of ["a1", "a2", "a3"]) await put(id, "ada", 100);
      for (const id of ["b1", "b2"]) await put(id, "bob", 300);
      const all = ["a1", "a2", "a3", "b1", "b2", "b3", "c1"];
      await put("b3", "bob", 300);
      assertEquals(await present(store, all), ["a1", "a2", "a3", "b2", "b3"]);
      await put("c1", "eve", 900);
      const left = await present(store, all);
      assert(left.includes("c1"), "the record that needs the room stays");
      assert(store.stats().response.bytes <= 1_000);
    },
  );
}
