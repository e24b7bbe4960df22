import type { JsonObject } from "../../../src/core/json/json.ts";
import type { Owner } from "../../../src/store/bindings.ts";
import type { ResponseStore } from "../../../src/store/object_store.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { outputOf } from "../../../src/store/snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import {
  sharedValkeyServer,
  until,
  type ValkeyServer,
  valkeyTest,
} from "../../support/valkey_server.ts";
import { SHARING } from "../conformance/harness.ts";
import { exercise } from "./exercise.ts";
import { newPrefix, openTestStore } from "./stores.ts";

const server = await sharedValkeyServer();

const OWNER: Owner = { provider: "p", account: "a", origin: null, creator: null };

/** Bytes that the server uses for its data. */
async function dataBytes(): Promise<number> {
  const memory = String(await server.command("INFO", "memory"));
  return Number(/used_memory_dataset:(\d+)/.exec(memory)?.[1]);
}

async function keysOf({ command }: ValkeyServer, pattern: string): Promise<readonly string[]> {
  const keys = await command("KEYS", pattern);
  return Array.isArray(keys) ? keys.map(String) : [];
}

async function storeTurn(responses: ResponseStore, name: string, turn: number): Promise<void> {
  const earlier = (await stored(responses.find(`${name} ${turn - 1}`)))?.snapshot ?? null;
  const history = earlier === null ? [] : [...earlier.input, ...outputOf(earlier)];
  const item = (at: number): JsonObject => ({
    id: `${name} ${turn}.${at}`,
    type: "message",
    text: `${turn} `.padEnd(1_000, "x"),
  });
  const id = `${name} ${turn}`;
  const snapshot = {
    resource: { id, output: [item(2), item(3)] },
    input: [...history, item(0), item(1)],
  };
  await stored(responses.store(id, { owner: OWNER, snapshot, isNative: false }, SHARING));
}

valkeyTest(
  "a dialogue of 100 turns takes less than 4 MB on the server, and nothing afterwards",
  async () => {
    const { store, close } = await openTestStore(server.url, { valkey: { prefix: newPrefix() } });
    const before = await dataBytes();
    for (let turn = 0; turn < 100; turn++) await storeTurn(store.objects.responses, "r", turn);
    const used = await dataBytes() - before;
    assert(used < 4_000_000, `${used} bytes`);
    const { bytes } = store.objects.stats().responses;
    assert(bytes > used / 2, `${bytes} bytes are counted of ${used}`);
    for (let turn = 0; turn < 100; turn++) {
      await stored(store.objects.responses.unbind(`r ${turn}`, "a", SHARING));
    }
    const { types } = await stored(store.stats());
    assertEquals(types, []);
    await close();
  },
);

valkeyTest(
  "however many responses are stored, the server uses a bounded amount of memory",
  async () => {
    const prefix = newPrefix();
    const retention = { ...DEFAULT_RETENTION, maxObjects: 50, maxBytes: 500_000 };
    const { store, close } = await openTestStore(server.url, { retention, valkey: { prefix } });
    const before = await dataBytes();
    for (let turn = 0; turn < 300; turn++) {
      await storeTurn(store.objects.responses, `dialogue ${Math.floor(turn / 10)}`, turn % 10);
    }
    assert(store.objects.stats().responses.bytes <= retention.maxBytes);
    assert(await dataBytes() - before < 3 * retention.maxBytes);
    assert((await keysOf(server, `{${prefix}}:2:response:b:*`)).length <= 50);
    await close();
  },
);

valkeyTest("every key expires, and after the lifetime nothing is left", async () => {
  const prefix = newPrefix();
  const long = await openTestStore(server.url, { valkey: { prefix } });
  await exercise(long.store);
  for (const key of await keysOf(server, `{${prefix}}:*`)) {
    assert(Number(await server.command("PTTL", key)) > 0, key);
  }
  await stored(long.store.purge());
  await long.close();

  const retention = { ...DEFAULT_RETENTION, ttlMs: 50 };
  const short = await openTestStore(server.url, { retention, valkey: { prefix } });
  await short.store.objects.owners.conversation.bind("x", OWNER);
  await storeTurn(short.store.objects.responses, "r", 0);
  const conversation = { id: "c", creator: null, createdAt: 0, metadata: {}, items: [{ id: "i" }] };
  await short.store.objects.conversations.create(conversation);
  await until(async () => (await keysOf(server, `{${prefix}}:*`)).length === 0);
  await short.close();
});

valkeyTest("the bytes of expired responses are counted back while others are stored", async () => {
  const prefix = newPrefix();
  const retention = { ...DEFAULT_RETENTION, ttlMs: 200 };
  const { store, close } = await openTestStore(server.url, { retention, valkey: { prefix } });
  const { responses, stats } = store.objects;
  for (let turn = 0; turn < 3; turn++) await storeTurn(responses, "old", turn);
  let turn = 0;
  // Each one stored keeps the indexes, so that they do not expire as a whole.
  await until(async () => {
    await storeTurn(responses, "new", turn++);
    return (await keysOf(server, `{${prefix}}:2:response:b:old*`)).length === 0;
  });
  // Keys also expire between the change and the search for them.
  await until(async () => {
    await storeTurn(responses, "last", 0);
    const { entries } = stats().responses;
    return entries === (await keysOf(server, `{${prefix}}:2:response:b:*`)).length;
  });
  await close();
});

valkeyTest("an item ID that many responses have is found in each of them", async () => {
  const { store, close } = await openTestStore(server.url, { valkey: { prefix: newPrefix() } });
  const { responses } = store.objects;
  for (let at = 0; at < 20; at++) {
    const snapshot = { resource: { id: `r${at}` }, input: [{ id: "same", text: `${at % 4}` }] };
    const response = { owner: OWNER, snapshot, isNative: false };
    await stored(responses.store(`r${at}`, response, SHARING));
  }
  const found = await stored(responses.findItems(new Set(["same"])));
  assertEquals(
    found.map(({ item }) => item.text),
    Array.from({ length: 20 }, (_item, at) => `${at % 4}`),
  );
  await close();
});

valkeyTest("a server that evicts live records is a warning at the start", async () => {
  const policy = "allkeys-lru";
  await server.command("CONFIG", "SET", "maxmemory-policy", policy);
  const { store, log, close } = await openTestStore(server.url, {
    valkey: { prefix: newPrefix() },
  });
  await server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
  assertEquals(log.lines.length, 1);
  assert(log.lines[0]?.startsWith(`warn: The state store has the maxmemory-policy ${policy}: `));
  assert(/^(Valkey|Redis) \d+\.\d+/.test((await stored(store.stats())).version));
  await close();
});
