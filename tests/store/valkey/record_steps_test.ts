import { MAX_STEP_PARTS, type RecordStore } from "../../../src/store/records/record_store.ts";
import { newValkeyRecordStore } from "../../../src/store/valkey/record_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import {
  sharedValkeyServer,
  startValkeyServer,
  until,
  type ValkeyServer,
  valkeyTest,
} from "../../support/valkey_server.ts";
import {
  bytes,
  change,
  commit,
  partOf,
  present,
  read,
  testBounds,
  TTL_MS,
} from "../conformance/records.ts";
import { connect } from "./connections.ts";
import { newPrefix } from "./stores.ts";

const server = await sharedValkeyServer();

/**
 * Runs a test with an empty store; `keys` returns the keys of its responses that begin with a text.
 */
async function withRecords(
  bounds: Parameters<typeof testBounds>[0],
  run: (store: RecordStore, start: string) => Promise<void>,
  { url } = server,
): Promise<void> {
  const connection = await connect(url);
  const start = `{${newPrefix()}}:`;
  await run(newValkeyRecordStore(connection, start, testBounds(bounds).bounds), start);
  await connection.close();
}

async function keysOf(pattern: string, { command }: ValkeyServer = server) {
  const keys = await command("KEYS", pattern);
  return Array.isArray(keys) ? keys.map(String) : [];
}

const MANY = Array.from(
  { length: MAX_STEP_PARTS + 1 },
  (_part, at) => partOf(`p${at}`, [`n${at}`, "all"]),
);

valkeyTest(
  "every key of the records expires, and after the lifetime nothing is left",
  () =>
    withRecords({ relayed_owner: { entries: 9, bytes: 9_000, room: "largest_share" } }, async (
      store,
      start,
    ) => {
      const body = { body: bytes("body"), bytes: 4 };
      const next = { body, parts: [partOf("p", ["x"])] };
      await commit(store, change("a", null, next), change("b", null, {}, "relayed_owner"));
      await commit(store, change("gone", null, next));
      await commit(store, change("gone", "any", null), change("none", "any", null, "reasoning"));
      await commit(store, change("c", "no version", { parts: MANY }));
      const keys = await keysOf(`${start}*`);
      assert(keys.length > 15);
      for (const key of keys) assert(Number(await server.command("PTTL", key)) > 0, key);
      await server.command("DEL", ...keys);

      await commit(store, change("a", null, { ...next, lifeMs: 50 }));
      await commit(store, change("b", null, { lifeMs: 50 }, "relayed_owner"));
      await until(async () => (await keysOf(`${start}*`)).length === 0);
    }),
);

valkeyTest(
  "parts of a commit that is not made are not found, and are removed a minute later",
  () =>
    withRecords({}, async (store, start) => {
      assertEquals(await commit(store, change("a", "no version", { parts: MANY })), "changed");
      assertEquals(await stored(store.named("response", ["all"], 1_000)), []);
      const written = await keysOf(`${start}response:p:*`);
      assertEquals(written.length, MANY.length);
      for (const key of written) {
        const left = Number(await server.command("PTTL", key));
        assert(left > 0 && left <= 60_000, `${left} ms`);
      }
      // As if the minute were over.
      for (const { key } of MANY) await server.command("ZADD", `${start}response:w`, "1", key);
      await untilSwept(store, start);
      assertEquals(await keysOf(`${start}response:p:*`), []);
      const known = MANY.map((part) => ({ ...part, body: null }));
      assertEquals(await commit(store, change("a", null, { parts: known })), "missing");
    }),
);

/** Makes small commits until no part is to be removed. */
async function untilSwept(store: RecordStore, start: string): Promise<void> {
  await until(async () => {
    await commit(store, change("small", "any", {}));
    return await server.command("ZCARD", `${start}response:w`) === 0;
  });
}

valkeyTest(
  "the names of removed parts are removed by the commits that follow",
  () =>
    withRecords({}, async (store, start) => {
      const names = Array.from({ length: 3_000 }, (_name, at) => `n${at}`);
      const parts = [partOf("p", names), partOf("q", names)];
      await commit(store, change("a", null, { parts }));
      assertEquals(await server.command("ZCARD", `${start}response:n`), 6_000);
      await commit(store, change("a", "any", null));
      // A part that is stored again has its names, although they were to be removed.
      await commit(store, change("b", null, { parts: parts.slice(0, 1) }));
      await untilSwept(store, start);
      assertEquals(await server.command("ZCARD", `${start}response:n`), 3_000);
      assertEquals((await stored(store.named("response", ["n7"], 9))).map(({ id }) => id), ["b"]);
    }),
);

valkeyTest(
  "one record takes the room of more than one script removes",
  () =>
    withRecords({ response: { entries: 2_000, bytes: 100_000, room: "oldest" } }, async (store) => {
      const ids = Array.from({ length: 1_200 }, (_id, at) => `small ${at}`);
      for (let at = 0; at < ids.length; at += 100) {
        await Promise.all(ids.slice(at, at + 100).map((id) => commit(store, change(id, null, {}))));
      }
      const body = { body: bytes("x"), bytes: 99_000 };
      assertEquals(await commit(store, change("large", null, { body })), "done");
      assert(store.stats().response.bytes <= 100_000);
      const left = await present(store, [...ids, "large"]);
      assert(left.includes("large") && left.length < 50, `${left.length} records`);
    }),
);

valkeyTest(
  "content of several megabytes is written and read in several steps",
  () =>
    withRecords({}, async (store) => {
      const parts = Array.from({ length: 30 }, (_part, at) => ({
        ...partOf(`p${at}`, ["x"]),
        bytes: 100_000,
        body: bytes(`${at}`.repeat(50_000)),
      }));
      await commit(store, change("a", null, { parts }));
      const found = await read(store, "a");
      assertEquals(
        found?.parts.map(({ body }) => body?.length),
        parts.map(({ body }) => body.length),
      );
      const some = await read(store, "a", ["p29"]);
      assertEquals(some?.parts.filter(({ body }) => body !== null).map(({ key }) => key), ["p29"]);
      const uses = await stored(store.named("response", ["x"], 30));
      assertEquals(
        uses.map(({ key, body }) => [key, body.length]).toSorted(),
        parts.map(({ key, body }) => [key, body.length]).toSorted(),
      );
    }),
);

valkeyTest(
  "a part that the server has lost has no body, and is not found by its name",
  () =>
    withRecords({}, async (store, start) => {
      await commit(store, change("a", null, { parts: [partOf("p", ["x"]), partOf("q", ["x"])] }));
      await server.command("DEL", `${start}response:p:p`);
      assertEquals((await read(store, "a"))?.parts.map(({ body }) => body), [null, "content of q"]);
      const uses = await stored(store.named("response", ["x"], 9));
      assertEquals(uses.map(({ key }) => key), ["q"]);
      const known = { ...partOf("p"), body: null };
      const result = await stored(store.commit([change("b", null, { parts: [known] })]));
      assertEquals(result, { kind: "missing", keys: ["p"] });
    }),
);

valkeyTest(
  "a server that is full refuses a commit as a whole; lookups go on and renew nothing",
  async () => {
    const own = await startValkeyServer({ args: ["--maxmemory-policy", "noeviction"] });
    await withRecords({}, async (store) => {
      await commit(store, change("a", null, { parts: [partOf("p")] }));
      const before = await own.command("DEBUG", "DIGEST").catch(() => own.command("DBSIZE"));
      await own.command("CONFIG", "SET", "maxmemory", "1");
      const changes = [
        change("a", "any", { parts: MANY.slice(0, 3) }),
        change("b", null, { parts: MANY }),
      ];
      for (const one of changes) {
        assertEquals(await outcomeOf(store.commit([one])), "state_unavailable");
      }
      const renewed = store.get([{ type: "response", id: "a" }], {
        content: "all",
        renewMs: TTL_MS,
      });
      assertEquals((await stored(renewed))[0]?.head, "head of a");
      const after = await own.command("DEBUG", "DIGEST").catch(() => own.command("DBSIZE"));
      assertEquals(after, before);
      await own.command("CONFIG", "SET", "maxmemory", "0");
      assertEquals(await commit(store, ...changes), "done");
    }, own);
    await own.close();
  },
);
