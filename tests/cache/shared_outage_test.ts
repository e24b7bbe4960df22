import type { HttpResponse } from "../../src/core/stream/reply.ts";
import type { CachedResponses } from "../../src/store/cached_responses.ts";
import { assertEquals } from "../support/assert.ts";
import { chatRequest } from "../support/chat_call.ts";
import { cachedGateway, completion } from "./cached_gateway.ts";
import { newSharedStore, sharing } from "./shared_store.ts";

function replica(store: CachedResponses) {
  return cachedGateway(sharing(), completion, store);
}

Deno.test("a store that fails is a miss, and the call is served", async () => {
  const gateway = replica({
    get: () => Promise.reject(new Error("away")),
    set: () => Promise.reject(new Error("away")),
  });
  for (const _ of [1, 2]) {
    const { status, headers } = await gateway.ask(chatRequest());
    assertEquals([status, headers.get("x-gateway-cache-status")], [200, "MISS"]);
  }
});

Deno.test("a store that responds without a promise is used as one that responds later", async () => {
  const entries = new Map<string, HttpResponse>();
  const gateway = replica({
    get: (key) => entries.get(key) ?? null,
    set: (key, response) => void entries.set(key, response),
  });
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
});

Deno.test("a store that does not respond within 500 ms is a miss", async () => {
  const gateway = replica({
    get: () => new Promise(() => {}),
    set: () => new Promise(() => {}),
  });
  const running = gateway.statusOf(chatRequest());
  await gateway.world.advance(499);
  assertEquals(gateway.requests.length, 0);
  await gateway.world.advance(1);
  assertEquals(gateway.requests.length, 1);
  assertEquals(await running, "MISS");
  assertEquals(gateway.world.waiting, 0);
});

Deno.test("no client waits until a response is stored", async () => {
  const stored = newSharedStore();
  const late = Promise.withResolvers<void>();
  const gateway = replica({
    get: stored.get,
    async set(key, response, ttlMs) {
      await late.promise;
      await stored.set(key, response, ttlMs);
    },
  });
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  late.resolve();
  await gateway.world.advance(0);
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
});

Deno.test("a client that leaves while the store is queried ends the call, and no provider is called", async () => {
  const asked = Promise.withResolvers<void>();
  const gateway = replica({
    get() {
      asked.resolve();
      return new Promise(() => {});
    },
    set() {},
  });
  const leaving = new AbortController();
  const request = new Request(chatRequest(), { signal: leaving.signal });
  const running = gateway.ask(request);
  await asked.promise;
  leaving.abort();
  await running;
  assertEquals(gateway.requests.length, 0);
  assertEquals([gateway.reports[0]?.cache, gateway.world.waiting], [null, 0]);
  assertEquals(gateway.reports[0]?.failure?.kind, "client_cancelled");
});
