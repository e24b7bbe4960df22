import type { Bounds, RecordBounds } from "../../../src/store/records/bounds.ts";
import {
  type Change,
  MAX_NAMED_PARTS,
  MAX_STEP_PARTS,
  type NextRecord,
  type Part,
  RECORD_TYPES,
  type RecordStore,
  type RecordType,
} from "../../../src/store/records/record_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type StoreUnderTest, testExpiry, testLifetime, testStore } from "./harness.ts";
import { testKnownParts } from "./records_known.ts";
import { testRecordRoom } from "./records_room.ts";
import { testRecordModel } from "./records_model.ts";

/** Bounds with which a record store is opened, and the lifetime of the records of the tests. */
export interface RecordTestBounds {
  readonly ttlMs: number;
  readonly bounds: RecordBounds;
}

/** A record store under test. */
export type RecordsUnderTest = StoreUnderTest<RecordStore, RecordTestBounds>;

const WIDE: Bounds = { entries: 2_000, bytes: 64 * 1024 * 1024, room: "oldest" };

/** Lifetime of the records of the tests, in milliseconds. */
export const TTL_MS = 30 * 60_000;

/** Returns wide bounds for all types but those that are given. */
export function testBounds(bounds: Partial<Record<RecordType, Bounds>> = {}): RecordTestBounds {
  const all = {
    response: WIDE,
    conversation: WIDE,
    reasoning: WIDE,
    completion_owner: WIDE,
    conversation_owner: WIDE,
    relayed_owner: WIDE,
    cached_response: WIDE,
    privacy_values: WIDE,
  };
  return { ttlMs: TTL_MS, bounds: { ...all, ...bounds } };
}

/** Returns the bytes of a text. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns the part with a key, which has its text and 10 bytes that count. */
export function partOf(key: string, names: readonly string[] = []): Part {
  return { key, names, bytes: 10, body: bytes(`content of ${key}`) };
}

/** Returns a change of a record. */
export function change(
  id: string,
  expected: Change["expected"],
  next: Partial<NextRecord> | null,
  type: RecordType = "response",
): Change {
  const whole = { head: `head of ${id}`, share: "ada", lifeMs: TTL_MS };
  return { id: { type, id }, expected, next: next === null ? null : { ...whole, ...next } };
}

/** Returns the kind of the result of a commit. */
export async function commit(store: RecordStore, ...changes: readonly Change[]): Promise<string> {
  const { kind } = await stored(store.commit(changes));
  return kind;
}

/** Returns what a lookup of one record finds. */
export async function read(
  store: RecordStore,
  id: string,
  content: "head" | "body" | "all" | readonly string[] = "all",
  type: RecordType = "response",
) {
  const [found] = await stored(store.get([{ type, id }], { content }));
  if (found === null || found === undefined) return null;
  const { version, head, body, parts } = found;
  assert(version !== "");
  const text = (one: Uint8Array | null) => one === null ? null : new TextDecoder().decode(one);
  return {
    head,
    body: text(body),
    parts: parts.map((part) => ({ ...part, body: text(part.body) })),
  };
}

/** Returns the version of a record. */
export async function versionOf(store: RecordStore, id: string, type: RecordType = "response") {
  const [found] = await stored(store.get([{ type, id }], { content: "head" }));
  return found?.version ?? null;
}

/** Returns the IDs of those of the records that exist. */
export async function present(
  store: RecordStore,
  ids: readonly string[],
  type: RecordType = "response",
): Promise<readonly string[]> {
  const found = await stored(
    store.get(ids.map((id) => ({ type, id })), { content: "head" }),
  );
  return ids.filter((_id, at) => found[at] !== null);
}

/** Registers the tests of what an engine of records promises. */
export function testRecords(under: RecordsUnderTest): void {
  testRecordRoom(under);
  testRecordModel(under);
  testReads(under);
  testKnownParts(under);
  testCommits(under);
  testParts(under);
  testNamed(under);
  testLifetimes(under);
}

function testReads(under: RecordsUnderTest): void {
  testStore(
    under,
    "a record is read as far as requested, by every replica and after the store is opened again",
    testBounds(),
    async ({ pick, reopen }) => {
      const parts = [partOf("p", ["x", "y"]), partOf("q"), partOf("p", ["x", "y"])];
      const body = { body: bytes("body"), bytes: 4 };
      assertEquals(await commit(pick(false), change("a", null, { body, parts })), "done");
      const texts = parts.map((part) => ({ ...part, body: `content of ${part.key}` }));
      await reopen();
      for (const store of [pick(false), pick(true)]) {
        const head = "head of a";
        assertEquals(await read(store, "a", "head"), { head, body: null, parts: [] });
        assertEquals(await read(store, "a", "body"), { head, body: "body", parts: [] });
        assertEquals(await read(store, "a", "all"), { head, body: "body", parts: texts });
        const some = texts.map((part) => part.key === "q" ? part : { ...part, body: null });
        assertEquals(await read(store, "a", ["q"]), { head, body: "body", parts: some });
      }
    },
  );

  testStore(
    under,
    "records are found in the order of their IDs, each by its type and exact ID",
    testBounds(),
    async ({ pick }) => {
      const ids = ["b", "a", "A", "", "ü 😀", '"quoted"', "a b", "x".repeat(5_000)];
      for (const id of ids) assertEquals(await commit(pick(false), change(id, null, {})), "done");
      const lookups = [...ids, "c", "b"].map((id) => ({ type: "response", id }) as const);
      const found = await stored(pick(true).get(lookups, { content: "head" }));
      assertEquals(found.map((one) => one?.head ?? null), [
        ...ids.map((id) => `head of ${id}`),
        null,
        "head of b",
      ]);
      for (const type of RECORD_TYPES) {
        if (type !== "response") assertEquals(await versionOf(pick(false), "a", type), null);
      }
      assertEquals(await stored(pick(false).get([], { content: "all" })), []);
    },
  );

  testStore(
    under,
    "the sizes count heads, bodies, and each part once",
    testBounds(),
    async ({ pick }) => {
      const store = pick(false);
      await commit(store, change("aé", null, { head: "h", parts: [partOf("p"), partOf("p")] }));
      const body = { body: bytes("body"), bytes: 100 };
      await commit(store, change("b", null, { head: "hh", body, parts: [partOf("p")] }));
      assertEquals(store.stats().response, { entries: 2, bodies: 1, headBytes: 7, bytes: 117 });
      await commit(store, change("aé", "any", null));
      assertEquals(store.stats().response, { entries: 1, bodies: 1, headBytes: 3, bytes: 113 });
      await commit(store, change("b", "any", { head: "", body: null, parts: [] }));
      assertEquals(store.stats().response, { entries: 1, bodies: 0, headBytes: 1, bytes: 1 });
      await commit(store, change("b", "any", null));
      for (const type of RECORD_TYPES) {
        const none = { entries: 0, bodies: 0, headBytes: 0, bytes: 0 };
        assertEquals(store.stats()[type], none);
      }
    },
  );
}

function testCommits(under: RecordsUnderTest): void {
  testStore(under, "all changes of a commit are made or none", testBounds(), async ({ pick }) => {
    const store = pick(false);
    await commit(store, change("a", null, {}));
    const changes = [
      change("a", "any", { head: "new" }),
      change("b", null, {}, "conversation"),
      change("c", "no version", {}),
    ];
    assertEquals(await commit(store, ...changes), "changed");
    assertEquals((await read(pick(true), "a"))?.head, "head of a");
    assertEquals(await read(pick(true), "b", "head", "conversation"), null);
    assertEquals(await commit(store, ...changes.slice(0, 2), change("c", null, {})), "done");
    assertEquals((await read(pick(true), "a"))?.head, "new");
    assertEquals((await read(pick(true), "b", "head", "conversation"))?.head, "head of b");
    assertEquals((await read(pick(true), "c"))?.head, "head of c");
    assertEquals(await commit(store), "done");
  });

  testStore(
    under,
    "a change is made only to the expected version, which no later state has",
    testBounds(),
    async ({ pick }) => {
      const [store, other] = [pick(false), pick(true)];
      assertEquals(await commit(store, change("a", "1", {})), "changed");
      assertEquals(await commit(store, change("a", null, {})), "done");
      assertEquals(await commit(other, change("a", null, {})), "changed");
      const seen = [await versionOf(store, "a")];
      for (const lifeMs of [TTL_MS, null]) {
        const expected = await versionOf(other, "a");
        assertEquals(await commit(other, change("a", expected, { lifeMs })), "done");
        assertEquals(await commit(store, change("a", expected, {})), "changed");
        seen.push(await versionOf(store, "a"));
      }
      assertEquals(await commit(other, change("a", seen.at(-1) ?? null, null)), "done");
      assertEquals(await commit(other, change("a", seen.at(-1) ?? null, {})), "changed");
      assertEquals(await commit(other, change("a", "any", null)), "done");
      assertEquals(await commit(store, change("a", "any", {})), "done");
      seen.push(await versionOf(other, "a"));
      assertEquals(new Set(seen).size, 4);
    },
  );

  testStore(under, "of concurrent changes one is made", testBounds(), async ({ pick }) => {
    const commits = (expected: string | null) =>
      Promise.all(
        Array.from({ length: 10 }, (_commit, at) =>
          commit(
            pick(at % 2 === 1),
            change("a", expected, { head: `${at}`, parts: [partOf(`of-${at}`)] }),
          )),
      );
    for (let round = 0; round < 3; round++) {
      const kinds = await commits(await versionOf(pick(false), "a"));
      assertEquals(kinds.filter((kind) => kind === "done").length, 1);
      assertEquals(kinds[Number((await read(pick(true), "a"))?.head)], "done");
      assertEquals((await read(pick(true), "a"))?.parts.length, 1);
      assertEquals(pick(true).stats().response.entries <= 1, true);
    }
  });

  testStore(
    under,
    "what a change does not name stays: body, parts and creator",
    testBounds(),
    async ({ pick }) => {
      const store = pick(false);
      const body = { body: bytes("body"), bytes: 4 };
      await commit(store, change("a", null, { body, parts: [partOf("p", ["x"])] }));
      const before = store.stats().response.bytes;
      await commit(pick(true), change("a", "any", { head: "new head" }));
      const found = await read(store, "a");
      const names = found?.parts.map(({ key, body }) => [key, body]);
      assertEquals([found?.head, found?.body, names], ["new head", "body", [[
        "p",
        "content of p",
      ]]]);
      await commit(store, change("a", "any", { body: { body: bytes("other"), bytes: 5 } }));
      assertEquals((await read(store, "a"))?.parts.length, 1);
      await commit(store, change("a", "any", { parts: [] }));
      assertEquals(await read(pick(true), "a"), { head: "head of a", body: "other", parts: [] });
      await commit(store, change("a", "any", { body: null }));
      assertEquals((await read(store, "a"))?.body, null);
      assertEquals(store.stats().response.bytes, before - 14);
      assertEquals(await stored(store.named("response", ["x"], 9)), []);
    },
  );

  testStore(
    under,
    "a commit of very many parts is found whole, and its bytes are free when it is removed",
    testBounds(),
    async ({ pick }) => {
      const count = 3 * MAX_STEP_PARTS + 7;
      const parts = Array.from({ length: count }, (_part, at) => partOf(`p${at}`, [`n${at}`]));
      const body = { body: bytes("body"), bytes: 4 };
      const [store, other] = [pick(false), pick(true)];
      assertEquals(await commit(store, change("a", null, { body, parts })), "done");
      assertEquals(await commit(other, change("b", null, { body, parts })), "done");
      for (const id of ["a", "b"]) {
        const found = await read(other, id);
        assertEquals(
          found?.parts.map((part) => part.body),
          parts.map(({ key }) => `content of ${key}`),
        );
      }
      const names = parts.map(({ names: [name] }) => name ?? "");
      assertEquals((await stored(other.named("response", names, 1))).length, count);
      const stale = await versionOf(store, "a");
      assertEquals(await commit(store, change("a", stale, { parts: parts.toReversed() })), "done");
      const others = parts.map(({ key }) => partOf(`${key}-other`));
      assertEquals(await commit(store, change("a", stale, { parts: others })), "changed");
      assertEquals((await read(other, "a"))?.parts[0]?.body, `content of p${count - 1}`);
      await commit(other, change("a", "any", null));
      assertEquals((await read(store, "b"))?.parts.length, count);
      await commit(other, change("b", "any", null));
      assertEquals(await stored(store.named("response", names, 1)), []);
      await commit(store, change("c", null, { head: "" }));
      assertEquals(store.stats().response.bytes, 1);
    },
  );
}

function testParts(under: RecordsUnderTest): void {
  testStore(
    under,
    "a part without a body must be stored; the keys of those that are not are returned",
    testBounds(),
    async ({ pick }) => {
      const [store, other] = [pick(false), pick(true)];
      await commit(store, change("a", null, { parts: [partOf("p")] }));
      const known = { ...partOf("p"), body: null };
      const unknown = { ...partOf("q"), body: null };
      const parts = [known, unknown, unknown];
      const refused = await stored(other.commit([change("b", null, { parts })]));
      assertEquals(refused, { kind: "missing", keys: ["q"] });
      assertEquals(await commit(other, change("a", null, { parts })), "changed");
      assertEquals(await versionOf(store, "b"), null);
      assertEquals(await commit(other, change("b", null, { parts: [partOf("q"), known] })), "done");
      assertEquals((await read(store, "b"))?.parts.map(({ body }) => body), [
        "content of q",
        "content of p",
      ]);
      // The parts of one type are unknown to another one.
      const elsewhere = change("b", null, { parts: [known] }, "conversation");
      assertEquals(await commit(other, elsewhere), "missing");
    },
  );

  testStore(
    under,
    "a part lasts as long as a record has it",
    testBounds(),
    async ({ pick }) => {
      const [store, other] = [pick(false), pick(true)];
      const known = { ...partOf("p"), body: null };
      await commit(store, change("a", null, { parts: [partOf("p"), partOf("p")] }));
      await commit(store, change("b", null, { parts: [known] }));
      await commit(other, change("a", "any", { parts: [partOf("q")] }));
      assertEquals((await read(store, "b"))?.parts[0]?.body, "content of p");
      await commit(other, change("b", "any", { parts: [known, partOf("r")] }));
      assertEquals((await read(store, "b"))?.parts[0]?.body, "content of p");
      await commit(other, change("b", "any", null));
      assertEquals(await commit(store, change("c", null, { parts: [known] })), "missing");
    },
  );
}

function testNamed(under: RecordsUnderTest): void {
  testStore(
    under,
    "parts are found by their names: uses of the youngest records, of the youngest parts first",
    testBounds(),
    async ({ pick }) => {
      const [store, other] = [pick(false), pick(true)];
      const [old, young] = [partOf("old", ["x", "y"]), partOf("young", ["x"])];
      await commit(store, change("a", null, { parts: [partOf("z"), old, old] }));
      await commit(store, change("b", null, { head: "hb", parts: [old] }));
      await commit(store, change("c", null, { parts: [young] }));
      const found = await stored(other.named("response", ["x", "?"], 9));
      assertEquals(found.map(({ name, key, id, position }) => [name, key, id, position]), [
        ["x", "young", "c", 0],
        ["x", "old", "b", 0],
        ["x", "old", "a", 2],
      ]);
      const [, second] = found;
      assertEquals([second?.head, new TextDecoder().decode(second?.body)], [
        "hb",
        "content of old",
      ]);
      const orders = found.map(({ order }) => order);
      assertEquals(orders, orders.toSorted((one, next) => next - one));
      assertEquals(new Set(orders).size, 3);
      const most = await stored(other.named("response", ["x", "y"], 2));
      assertEquals(most.map(({ name, id }) => [name, id]).toSorted(), [
        ["x", "b"],
        ["x", "c"],
        ["y", "a"],
        ["y", "b"],
      ]);
      // A change that keeps the age of a record does not make it younger.
      await commit(store, change("a", "any", { lifeMs: null, parts: [old] }));
      const ids = await stored(other.named("response", ["y"], 9));
      assertEquals(ids.map(({ id }) => id), ["b", "a"]);
      assertEquals(await stored(other.named("conversation", ["x"], 9)), []);
      assertEquals(await stored(other.named("response", [], 9)), []);
    },
  );

  testStore(
    under,
    `of one name at most ${MAX_NAMED_PARTS} parts are examined, the youngest ones`,
    testBounds(),
    async ({ pick }) => {
      const count = MAX_NAMED_PARTS + 20;
      for (let at = 0; at < count; at++) {
        await commit(pick(false), change(`r${at}`, null, { parts: [partOf(`p${at}`, ["x"])] }));
      }
      const found = await stored(pick(true).named("response", ["x"], 1_000));
      assertEquals(found.map(({ id }) => id), [
        ...Array.from({ length: MAX_NAMED_PARTS }, (_id, at) => `r${count - 1 - at}`),
      ]);
    },
  );
}

function testLifetimes(under: RecordsUnderTest): void {
  const of = (store: RecordStore, ttl: number) =>
    commit(store, change("a", null, { lifeMs: ttl, parts: [partOf("p", ["x"])] }));
  const ttlMs = under.clock === "own" ? 300 : TTL_MS;

  testExpiry(
    under,
    "a record ends after its lifetime, however often it is read",
    testBounds(),
    async (store) => void await of(store, ttlMs),
    async (store) => await read(store, "a") !== null,
  );

  testExpiry(
    under,
    "the parts of a record that has expired are not found by their names",
    testBounds(),
    async (store) => void await of(store, ttlMs),
    async (store) => (await stored(store.named("response", ["x"], 9))).length > 0,
  );

  testExpiry(
    under,
    "a record that has expired is no obstacle, and its parts are no longer stored",
    testBounds(),
    async (store) => void await of(store, ttlMs),
    async (store) => {
      const part = { ...partOf("p"), body: null };
      const kinds = [
        await commit(store, change("a", null, { parts: [part] })),
        await commit(store, change("b", null, { parts: [{ ...partOf("none"), body: null }] })),
      ];
      return kinds[0] === "changed" && kinds[1] === "missing";
    },
  );

  testLifetime(
    under,
    "a lifetime begins with a change or a lookup that renews it, and not with others",
    testBounds(),
    async ({ pick, advance }) => {
      const [store, other] = [pick(false), pick(true)];
      for (const id of ["changed", "kept", "renewed", "read"]) {
        await commit(store, change(id, null, {}));
      }
      await advance(TTL_MS - 1);
      await commit(other, change("changed", "any", {}));
      await commit(other, change("kept", "any", { head: "new", lifeMs: null }));
      const renewed = [{ type: "response", id: "renewed" }] as const;
      await stored(other.get(renewed, { content: "head", renewMs: TTL_MS }));
      assertEquals((await read(store, "kept"))?.head, "new");
      await advance(1);
      const all = ["changed", "kept", "renewed", "read"];
      assertEquals(await present(store, all), ["changed", "renewed"]);
      await advance(TTL_MS - 2);
      assertEquals(await present(store, all), ["changed", "renewed"]);
      await advance(1);
      assertEquals(await present(store, all), []);
      assertEquals(await commit(store, change("kept", null, {})), "done");
    },
  );

  testLifetime(
    under,
    "records with different lifetimes end each at its time",
    testBounds(),
    async ({ pick, advance }) => {
      const store = pick(false);
      for (const [id, lifeMs] of [["long", 3_000], ["short", 1_000]] as const) {
        await commit(store, change(id, null, { lifeMs }, "cached_response"));
      }
      await advance(1_000);
      assertEquals(await present(store, ["long", "short"], "cached_response"), ["long"]);
      await advance(2_000);
      assertEquals(await present(store, ["long", "short"], "cached_response"), []);
    },
  );
}
