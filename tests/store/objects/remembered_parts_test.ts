import { NO_TURNS } from "../../../src/traffic/loop_turns.ts";
import { newTextContent } from "../../../src/store/objects/content_codec.ts";
import { newObjects } from "../../../src/store/objects/new_objects.ts";
import { newMemoryRecords } from "../../../src/store/memory/records.ts";
import { recordBounds } from "../../../src/store/records/bounds.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import type { RecordStore } from "../../../src/store/records/record_store.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { scriptedWorld } from "../../support/world.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };
const CALLER = { name: null, isIsolated: false };

/** Returns the objects of two processes over one store, and the parts that their reads bring. */
function newProcesses() {
  const world = scriptedWorld();
  const bounds = recordBounds(DEFAULT_RETENTION);
  const records = newMemoryRecords<Uint8Array>(() => world.now(), bounds);
  const read: (readonly string[])[] = [];
  const counted: RecordStore = {
    ...records,
    async get(ids, options) {
      const found = await records.get(ids, options);
      if (found.ok) {
        const parts = found.value.flatMap((one) => one?.parts ?? []);
        read.push(parts.flatMap(({ key, body }) => body === null ? [] : [key]));
      }
      return found;
    },
  };
  const process = () =>
    newObjects(counted, newTextContent(newPlainCodec(), world), bounds, DEFAULT_RETENTION, NO_TURNS)
      .objects;
  return { own: process(), other: process(), read };
}

Deno.test("a response is read without the items that the process has stored itself", async () => {
  const { own, other, read } = newProcesses();
  const snapshot = { resource: { id: "r" }, input: [{ id: "i", type: "x" }, { id: "j" }] };
  await stored(own.responses.store("r", { owner: OWNER, snapshot, isNative: false }, CALLER));
  for (const [objects, parts] of [[own, 0], [other, 1]] as const) {
    const found = await stored(objects.responses.find("r"));
    assertEquals(found?.snapshot, snapshot);
    assertEquals(read.at(-1)?.length, parts);
  }
});

Deno.test("a conversation that another process has changed is read with its new items only", async () => {
  const { own, other, read } = newProcesses();
  const conversation = { id: "c", creator: null, createdAt: 1, metadata: {} };
  await stored(own.conversations.create({ ...conversation, items: [{ id: "i" }] }));
  await stored(other.conversations.append("c", [{ id: "j" }]));
  const found = await stored(own.conversations.find("c"));
  assertEquals(found?.items, [{ id: "i" }, { id: "j" }]);
  assertEquals(read.at(-1)?.length, 1);
});

Deno.test("a conversation without its items is found without a part", async () => {
  const { own, other, read } = newProcesses();
  const rest = { id: "c", creator: "ada", createdAt: 1, metadata: { a: "b" } };
  await stored(own.conversations.create({ ...rest, items: [{ id: "i" }] }));
  assertEquals(await stored(other.conversations.findRest("c")), rest);
  assertEquals(read.at(-1), []);
  assertEquals(await stored(other.conversations.findRest("none")), null);
});
