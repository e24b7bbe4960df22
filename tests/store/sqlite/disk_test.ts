import { newEncryptingCodec } from "../../../src/store/records/encrypting_codec.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { outputOf } from "../../../src/store/snapshots.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { damageOf, query } from "./inspect.ts";
import { type TestFile, withFile } from "./store.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };
const CALLER = { name: null, isIsolated: false };
const KIB = 1024;
const PAGE_BYTES = 4096;

/** Seconds in which a sweep begins and runs in as many parts as it takes. */
const SWEEP_S = 80;

function put(
  { objects }: StateStore,
  id: string,
  input: readonly JsonObject[],
  output?: JsonObject[],
) {
  const resource = output === undefined ? { id } : { id, object: "response", output };
  const response = { owner: OWNER, snapshot: { resource, input }, isNative: false };
  return objects.responses.store(id, response, CALLER);
}

async function inputOf({ objects }: StateStore, id: string) {
  return (await stored(objects.responses.find(id)))?.snapshot?.input;
}

/** Returns the bytes of all files of a database. */
function bytesOnDisk({ folder }: TestFile): number {
  const files = [...Deno.readDirSync(folder)];
  return files.reduce((sum, { name }) => sum + Deno.statSync(`${folder}/${name}`).size, 0);
}

/** True if one of the files of a database contains a text. */
function isOnDisk({ folder }: TestFile, text: string): boolean {
  const decoder = new TextDecoder("latin1");
  return [...Deno.readDirSync(folder)].some(({ name }) =>
    decoder.decode(Deno.readFileSync(`${folder}/${name}`)).includes(text)
  );
}

/** Lets the time of a sweep pass; the thread of the database replies in between. */
async function sweep({ world }: TestFile, store: StateStore): Promise<void> {
  for (let second = 0; second < SWEEP_S; second++) {
    await world.advance(1_000);
    await stored(store.ping());
    await stored(store.ping());
  }
}

/** Stores a dialogue of 100 turns with 4 items of 1 kB each, as the gateway does. */
async function storeDialogue(store: StateStore): Promise<void> {
  const item = (id: string): JsonObject => ({ id, type: "message", text: id.padEnd(1_000, "x") });
  for (let turn = 0; turn < 100; turn++) {
    const earlier = await stored(store.objects.responses.find(`r${turn - 1}`));
    const history = earlier?.snapshot === undefined || earlier.snapshot === null
      ? []
      : [...earlier.snapshot.input, ...outputOf(earlier.snapshot)];
    const input = [...history, item(`${turn}.0`), item(`${turn}.1`)];
    await stored(put(store, `r${turn}`, input, [item(`${turn}.2`), item(`${turn}.3`)]));
  }
}

Deno.test("a dialogue of 100 turns with four items of 1 kB takes less than 5 MB of disk", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    await storeDialogue(store);
    assertEquals((await inputOf(store, "r99"))?.length, 398);
    assert(bytesOnDisk(file) < 5_000_000, `${bytesOnDisk(file)} bytes with the log`);
    await store.close();
    const bytes = bytesOnDisk(file);
    assert(bytes < 2_000_000, `${bytes} bytes`);
    // One for each turn, and some that took the place of several.
    const [parts] = query(file.path, "select count(*) as number from part");
    assert(Number(parts?.number) <= 120, `${parts?.number} parts`);
    assertEquals(damageOf(file.path), []);
  });
});

Deno.test("items that came out of the store go into it again without their content", async () => {
  let encoded = 0;
  let decoded = 0;
  const codec = newEncryptingCodec([new Uint8Array(32).fill(1)]);
  const counting = {
    ...codec,
    digest(text: string) {
      encoded++;
      return codec.digest(text);
    },
    decode(...record: Parameters<typeof codec.decode>) {
      if (record[0] === "item") decoded++;
      return codec.decode(...record);
    },
  };
  await withFile(async ({ open }) => {
    const store = await open();
    const items = Array.from({ length: 50 }, (_item, at) => ({ id: `i${at}`, type: "x" }));
    await stored(put(store, "first", items));
    assertEquals(encoded, 1);
    const again = await inputOf(store, "first") ?? [];
    await stored(put(store, "second", [...again, { id: "new", type: "x" }]));
    assertEquals(encoded, 2);
    assertEquals((await inputOf(store, "second"))?.length, 51);
    // Items that were removed since are stored with their content.
    await stored(store.objects.responses.unbind("first", "a", CALLER));
    await stored(store.objects.responses.unbind("second", "a", CALLER));
    await stored(put(store, "third", again));
    assertEquals(await inputOf(store, "third"), items);
    assertEquals([encoded, decoded], [2, 0]);
    await store.close();
    // Another process decodes the pack once.
    const next = await open();
    for (let read = 0; read < 2; read++) assertEquals(await inputOf(next, "third"), items);
    assertEquals([encoded, decoded], [2, 1]);
    await next.close();
  }, counting);
});

Deno.test("with encryption keys no content of a client is readable in the files", async () => {
  const codec = newEncryptingCodec([new Uint8Array(32).fill(1)]);
  await withFile(async (file) => {
    const secret = "the secret of the client";
    const store = await file.open();
    const items = [{ id: "item", type: "message", text: secret }];
    await stored(put(store, "r", items, [{ id: "output", type: "message", text: secret }]));
    const conversation = { id: "c", creator: null, createdAt: 0, metadata: { secret }, items };
    await stored(store.objects.conversations.create(conversation));
    const blocks = [{ value: { type: "thinking", thinking: secret }, callsBefore: 0 }];
    const key = { creator: null, calls: "calls", text: "text" };
    await stored(store.objects.reasoning.store(key, { account: "a", blocks }));
    const body = new TextEncoder().encode(secret);
    await store.cachedResponses.set("k", { status: 200, headers: {}, body }, 1_000);
    assert(!isOnDisk(file, "secret"));
    await store.close();
    assert(!isOnDisk(file, "secret"));
  }, codec);
});

Deno.test("what a client deletes is no longer in the files after the next sweep", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    await stored(put(store, "r", [{ id: "item", type: "message", text: "the secret" }]));
    const { conversations, responses } = store.objects;
    const items = [{ id: "other", type: "message", text: "the secret" }];
    const conversation = { id: "c", creator: null, createdAt: 0, metadata: {}, items };
    await stored(conversations.create(conversation));
    assert(isOnDisk(file, "the secret"));
    assertEquals(await stored(responses.unbind("r", "a", CALLER)), true);
    assertEquals(await stored(conversations.delete("c")), true);
    await sweep(file, store);
    assert(!isOnDisk(file, "the secret"));
    await store.close();
  });
});

Deno.test("expired records are removed within a minute, and their space is given back", async () => {
  await withFile(async (file) => {
    const ttlMs = 90_000;
    const store = await file.open({}, {
      ttlMs,
      ownerTtlMs: ttlMs,
      maxObjects: 1_000,
      maxBytes: 64 * KIB * KIB,
    });
    const empty = bytesOnDisk(file);
    for (let at = 0; at < 120; at++) {
      await stored(put(store, `r${at}`, [{ id: `i${at}`, text: `${at}`.repeat(10 * KIB) }]));
    }
    const { reasoning, owners, stats } = store.objects;
    await stored(owners.chat_completion.bind("x", OWNER));
    const key = { creator: null, calls: "calls", text: "text" };
    await stored(reasoning.store(key, { account: "a", blocks: [] }));
    assert(bytesOnDisk(file) > empty + 1_000_000);
    assertEquals(stats().responses.entries, 120);
    await file.world.advance(ttlMs);
    await sweep(file, store);
    for (const { entries, bytes } of Object.values(stats())) assertEquals([entries, bytes], [0, 0]);
    assert(bytesOnDisk(file) < empty + 50 * PAGE_BYTES, `${bytesOnDisk(file)} bytes`);
    await store.close();
    assertEquals(damageOf(file.path), []);
  });
});

Deno.test("on a full disk writes fail, reads go on, and writes work again once there is room", async () => {
  await withFile(async (file) => {
    const maxPages = 400;
    const store = await file.open({ maxPages });
    const text = "x".repeat(100 * KIB);
    const names: string[] = [];
    let outcome = "ok";
    for (let at = 0; outcome === "ok" && at < 100; at++) {
      outcome = await outcomeOf(put(store, `r${at}`, [{ id: `i${at}`, text: `${at} ${text}` }]));
      if (outcome === "ok") names.push(`r${at}`);
    }
    assertEquals(outcome, "state_unavailable");
    assert(names.length > 5);
    for (const name of names) assertEquals((await inputOf(store, name))?.length, 1);
    assertEquals(await inputOf(store, `r${names.length}`), undefined);
    // Two small writes and a large one at the same time: only the large one fails.
    const outcomes = await Promise.all([
      outcomeOf(store.objects.owners.conversation.bind("small", OWNER)),
      outcomeOf(put(store, "large", [{ id: "large", text: `large ${text}` }])),
      outcomeOf(store.objects.owners.conversation.bind("small too", OWNER)),
    ]);
    assertEquals(outcomes, ["ok", "state_unavailable", "ok"]);
    const full = `The database "${file.path}" (state.sqlite.path) cannot be written, because the ` +
      "disk is full; free some space.";
    assertEquals(file.log[0], full);
    for (const name of names.slice(0, 3)) {
      assertEquals(await stored(store.objects.responses.unbind(name, "a", CALLER)), true);
    }
    assertEquals(await outcomeOf(put(store, "again", [{ id: "again", text }])), "ok");
    assertEquals((await inputOf(store, "again"))?.length, 1);
    assert(file.log.at(-1)?.endsWith("works again."));
    await store.close();
    assertEquals(damageOf(file.path), []);
  });
});

Deno.test("reasoning and owners are found on a full disk, although their lifetime cannot begin again", async () => {
  await withFile(async (file) => {
    const first = await file.open();
    const key = { creator: null, calls: "calls", text: "text" };
    const blocks = [{ value: { type: "thinking" }, callsBefore: 1 }];
    await stored(first.objects.reasoning.store(key, { account: "a", blocks }));
    await stored(first.objects.owners.relayed_object.bind("file/f", OWNER));
    await first.close();
    const store = await file.open({ maxPages: 1 });
    const binding = await stored(store.objects.owners.relayed_object.findBinding("file/f"));
    assertEquals(binding, { kind: "bound", owner: OWNER });
    const found = await stored(store.objects.reasoning.find([key, { ...key, text: null }]));
    assertEquals(found, [{ account: "a", blocks }, { account: "a", blocks }]);
    await store.close();
  });
});

Deno.test("the info of a store has the number, size and age of its records; purge removes them all", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    const info = await stored(store.stats());
    assert(/^SQLite 3\.\d+\.\d+$/.test(info.version));
    assertEquals([info.types, info.oldestMs, info.newestMs], [[], null, null]);
    const text = "x".repeat(KIB);
    for (let at = 0; at < 120; at++) await stored(put(store, `r${at}`, [{ id: `i${at}`, text }]));
    await file.world.advance(1_500);
    await stored(store.objects.owners.conversation.bind("c", OWNER));
    await file.world.advance(500);
    const filled = await stored(store.stats());
    const counts = filled.types.map(({ type, entries }) => [type, entries]);
    assertEquals(counts, [["responses", 120], ["owners", 121]]);
    assert(filled.types.every(({ bytes }) => bytes > 0));
    assertEquals([filled.oldestMs, filled.newestMs], [2_000, 500]);
    const before = bytesOnDisk(file);
    assertEquals(await stored(store.purge()), 241);
    assertEquals((await stored(store.stats())).types, []);
    assertEquals(await inputOf(store, "r1"), undefined);
    assert(bytesOnDisk(file) < before);
    await store.close();
    assertEquals(damageOf(file.path), []);
  });
});
