import fc from "fast-check";
import type { HttpResponse } from "../../../src/core/stream/reply.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  expiringBounds,
  type StoreUnderTest,
  testLifetime,
  testStore,
  withReplicas,
} from "./harness.ts";

const TTL_MS = 60_000;
const KIB = 1024;
const BOUNDS = { ttlMs: 30 * 60_000, ownerTtlMs: 30 * 60_000, maxObjects: 10, maxBytes: 64 * KIB };

/** The part of a store that holds cached responses. */
export type Cached = Pick<StateStore, "cachedResponses">;

function responseOf(text: string): HttpResponse {
  const headers = { "content-type": "application/json" };
  return { status: 200, headers, body: new TextEncoder().encode(text) };
}

async function set({ cachedResponses }: Cached, key: string, text: string, ttlMs = TTL_MS) {
  await cachedResponses.set(key, responseOf(text), ttlMs);
}

async function get({ cachedResponses }: Cached, key: string): Promise<string | null> {
  const found = await cachedResponses.get(key);
  return found === null ? null : new TextDecoder().decode(found.body);
}

/** Registers the tests of cached responses. */
export function testCachedResponses(under: StoreUnderTest<Cached>): void {
  testStore(under, "a cached response is found under its key", BOUNDS, async ({ pick, reopen }) => {
    assertEquals(await get(pick(false), "k"), null);
    await set(pick(false), "k", "one");
    assertEquals(await get(pick(true), "k"), "one");
    assertEquals(await get(pick(true), "K"), null);
    await set(pick(true), "k", "two");
    assertEquals(await get(pick(false), "k"), "two");
    await reopen();
    assertEquals(await get(pick(false), "k"), "two");
  });

  testStore(
    under,
    "the youngest of more than max_entries cached responses are found, and the oldest are not",
    BOUNDS,
    async ({ pick }) => {
      const keys = Array.from({ length: BOUNDS.maxObjects + 2 }, (_key, at) => `k${at}`);
      for (const key of keys) await set(pick(false), key, key);
      for (const key of keys.slice(0, 2)) assertEquals(await get(pick(true), key), null);
      for (const key of keys.slice(2)) assertEquals(await get(pick(true), key), key);
    },
  );

  testStore(
    under,
    "cached responses take at most max_bytes, and one that is larger pushes nothing out",
    BOUNDS,
    async ({ pick }) => {
      const text = "x".repeat(20 * KIB);
      for (const key of ["a", "b", "c"]) await set(pick(false), key, text);
      await set(pick(false), "large", "x".repeat(65 * KIB));
      assertEquals(await get(pick(true), "large"), null);
      for (const key of ["a", "b", "c"]) assertEquals(await get(pick(true), key), text);
      await set(pick(false), "d", text);
      const found = await Promise.all(["a", "b", "c", "d"].map((key) => get(pick(true), key)));
      assertEquals(found, [null, text, text, text]);
    },
  );

  testLifetime(
    under,
    "each cached response has its lifetime, however often it is read",
    BOUNDS,
    async ({ pick, advance }) => {
      await set(pick(false), "long", "long", 2 * TTL_MS);
      await set(pick(false), "short", "short", TTL_MS);
      await advance(TTL_MS - 1);
      assertEquals(await get(pick(true), "short"), "short");
      await advance(1);
      assertEquals([await get(pick(true), "short"), await get(pick(true), "long")], [null, "long"]);
      await set(pick(true), "short", "again", TTL_MS);
      await advance(TTL_MS - 1);
      assertEquals(await get(pick(false), "short"), "again");
      await advance(1);
      assertEquals([await get(pick(true), "short"), await get(pick(true), "long")], [null, null]);
    },
  );

  const { ttlMs } = expiringBounds(under, { ...BOUNDS, ttlMs: TTL_MS });
  testStore(
    under,
    "a cached response is a miss after its lifetime",
    BOUNDS,
    async ({ pick, advance }) => {
      await set(pick(false), "k", "text", ttlMs);
      await advance(2 * ttlMs);
      assertEquals(await get(pick(true), "k"), null);
    },
  );

  Deno.test(`${under.name}: cached responses are returned exactly as they were stored`, async () => {
    const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes));
    const headers = fc.option(fc.constantFrom("application/json", "text/plain; charset=é")).map((
      type,
    ): Readonly<Record<string, string>> => type === null ? {} : { "content-type": type });
    const response = fc.record({ status: fc.integer({ min: 200, max: 599 }), headers, body });
    await withReplicas(under, { ...BOUNDS, maxObjects: 1_000 }, async ({ pick }) => {
      const property = fc.asyncProperty(fc.uuid(), response, async (key, given) => {
        await pick(false).cachedResponses.set(key, given, TTL_MS);
        const found = await pick(true).cachedResponses.get(key);
        assert(found !== null);
        assertEquals([found.status, { ...found.headers }], [given.status, { ...given.headers }]);
        assertEquals([...found.body], [...given.body]);
      });
      await fc.assert(property, { numRuns: under.numRuns });
    });
  });
}
