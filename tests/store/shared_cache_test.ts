import { Cancellation } from "../../src/core/cancellation.ts";
import type { HttpResponse } from "../../src/core/stream/reply.ts";
import { newSharedCache } from "../../src/store/shared_cache.ts";
import { assertEquals } from "../support/assert.ts";
import { heldTurns } from "../support/held_turns.ts";
import { scriptedWorld } from "../support/world.ts";
import { withFile } from "./sqlite/store.ts";

const MIB = 1024 * 1024;

function responseOf(bytes: number): HttpResponse {
  return { status: 200, headers: {}, body: new Uint8Array(bytes) };
}

Deno.test("while 1,000 lookups have not ended, one of a further key is a miss without a request to the store", async () => {
  const world = scriptedWorld();
  const held: ((response: HttpResponse | null) => void)[] = [];
  const cache = newSharedCache({
    get: () => new Promise((resolve) => void held.push(resolve)),
    set() {},
  }, () => true);
  let keys = 0;
  const look = () => cache.get(`key ${keys++}`, { world, cancellation: new Cancellation() });
  const waiting = Array.from({ length: 1_000 }, look);
  assertEquals(await look(), null);
  assertEquals(held.length, 1_000);
  await world.advance(500);
  assertEquals(new Set(await Promise.all(waiting)), new Set([null]));
  // A lookup whose call went on without it counts until the store ends it.
  assertEquals(await look(), null);
  for (const release of held) release(null);
  await world.advance(0);
  const last = look();
  held.at(-1)?.(responseOf(1));
  assertEquals(await last, responseOf(1));
});

Deno.test("calls that look up one key at the same time share one request to the store", async () => {
  const world = scriptedWorld();
  const held: ((response: HttpResponse | null) => void)[] = [];
  const cache = newSharedCache({
    get: () => new Promise((resolve) => void held.push(resolve)),
    set() {},
  }, () => true);
  const cancellations = Array.from({ length: 60 }, () => new Cancellation());
  const waiting = cancellations.map((cancellation) => cache.get("key", { world, cancellation }));
  assertEquals(held.length, 1);
  cancellations[0]?.clientDisconnected();
  assertEquals(await waiting[0], null);
  held[0]?.(responseOf(1));
  assertEquals(await Promise.all(waiting.slice(1)), Array(59).fill(responseOf(1)));
  void cache.get("key", { world, cancellation: new Cancellation() });
  assertEquals(held.length, 2);
  held[1]?.(null);
  await world.advance(500);
});

Deno.test("calls that waited for the lookup of another one go on in turns of the event loop", async () => {
  const { promise, resolve } = Promise.withResolvers<HttpResponse>();
  const held = heldTurns("start");
  const cache = newSharedCache({ get: () => promise, set() {} }, () => true, held.turns);
  const world = scriptedWorld();
  const found: number[] = [];
  const looking = [0, 1, 2].map(async (at) => {
    await cache.get("key", { world, cancellation: new Cancellation() });
    found.push(at);
  });
  resolve(responseOf(1));
  await looking[0];
  await held.waits(2);
  assertEquals(found, [0]);
  held.begin();
  await looking[1];
  assertEquals(found, [0, 1]);
  held.begin();
  await looking[2];
});

Deno.test("a call that is cancelled while it waits for its turn after the lookup of another one has a miss at once", async () => {
  const { promise, resolve } = Promise.withResolvers<HttpResponse>();
  const held = heldTurns("start");
  const cache = newSharedCache({ get: () => promise, set() {} }, () => true, held.turns);
  const world = scriptedWorld();
  const cancellation = new Cancellation();
  const first = cache.get("key", { world, cancellation: new Cancellation() });
  const second = cache.get("key", { world, cancellation });
  resolve(responseOf(1));
  await first;
  await held.waits(1);
  cancellation.clientDisconnected();
  assertEquals(held.waiting(), 0);
  assertEquals(await second, null);
});

Deno.test("large responses are stored one after the other, and none while 64 MiB are on their way into the store", async () => {
  const keys: string[] = [];
  const held = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const cache = newSharedCache({
    get: () => null,
    set(key) {
      keys.push(key);
      return held[keys.length - 1]?.promise;
    },
  }, () => true);
  const rest = () => new Promise((resolve) => setTimeout(resolve, 0));
  for (const key of ["a", "b", "c"]) cache.set(key, responseOf(30 * MIB), 1_000);
  cache.set("small", responseOf(1), 1_000);
  await rest();
  assertEquals(keys, ["small", "a"]);
  held[1]?.reject(new Error("The store has failed."));
  await rest();
  assertEquals(keys, ["small", "a", "b"]);
  held[2]?.resolve();
  await rest();
  cache.set("d", responseOf(30 * MIB), 1_000);
  await rest();
  assertEquals(keys, ["small", "a", "b", "d"]);
});

Deno.test("a store that is known to be unavailable is neither read nor written", async () => {
  const world = scriptedWorld();
  const requests: string[] = [];
  const cache = newSharedCache({
    get(key) {
      requests.push(key);
      return responseOf(1);
    },
    set: (key) => void requests.push(key),
  }, () => false);
  assertEquals(await cache.get("a", { world, cancellation: new Cancellation() }), null);
  cache.set("b", responseOf(1), 1_000);
  assertEquals([requests, world.waiting], [[], 0]);
});

Deno.test("a large response in a store outside the process is decoded in a turn of the event loop", async () => {
  await withFile(async ({ open }) => {
    const { cachedResponses, close } = await open();
    await cachedResponses.set("large", responseOf(MIB), 60_000);
    await cachedResponses.set("small", responseOf(1), 60_000);
    const held = heldTurns("large");
    const cache = newSharedCache(cachedResponses, () => true, held.turns);
    const world = scriptedWorld();
    const look = (key: string) => cache.get(key, { world, cancellation: new Cancellation() });
    let bytes: number | null = null;
    const large = look("large").then((found) => void (bytes = found?.body.byteLength ?? 0));
    assertEquals(await look("small"), responseOf(1));
    await Promise.race([held.waits(1), large]);
    assertEquals(bytes, null);
    held.begin();
    await large;
    assertEquals(bytes, MIB);
    await close();
  });
});
