import { Buffer } from "node:buffer";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { chatRequest } from "../support/chat_call.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { cachedGateway, caching, completion } from "./cached_gateway.ts";
import { newSharedStore, type SharedStore, sharing } from "./shared_store.ts";

function replica(store: SharedStore, config = sharing()) {
  return cachedGateway(config, completion, store);
}

const KEY = Buffer.alloc(32, 1).toString("base64");

Deno.test("two replicas with the same file share cached responses, also after different numbers of reloads", async () => {
  const store = newSharedStore();
  const [one, two] = [replica(store), replica(store)];
  for (const seed of [1, 2, 3]) two.reload(sharing("", `temperature: 0.${seed}`));
  two.reload(sharing());
  const first = await one.ask(chatRequest());
  assertEquals(first.headers.get("x-gateway-cache-status"), "MISS");
  const second = await two.ask(chatRequest());
  assertEquals(second.headers.get("x-gateway-cache-status"), "HIT");
  assertEquals(second.text, first.text);
  assertEquals(second.headers.get("content-type"), first.headers.get("content-type"));
  assertEquals([one.requests.length, two.requests.length], [1, 0]);
  assertEquals(two.reports[0]?.provider, "up");
});

Deno.test("replicas whose provider settings differ never share, whatever the setting", async () => {
  const settings = ["", "api_key: k1", "api_key: k2", "organization: o", "headers: {x-a: b}"];
  settings.push("headers: {x-a: c}", "temperature: 0.5", "timeout: 9s");
  for (const state of ["", `encryption_keys: ["${KEY}"]`]) {
    const store = newSharedStore();
    for (const setting of settings) {
      const gateway = replica(store, sharing("", setting, state));
      assertEquals(await gateway.statusOf(chatRequest()), "MISS", setting);
      assertEquals(await gateway.statusOf(chatRequest()), "HIT", setting);
    }
    assertEquals(store.entries.size, settings.length);
  }
});

Deno.test("replicas with different encryption keys never share", async () => {
  const store = newSharedStore();
  for (const key of [KEY, Buffer.alloc(32, 2).toString("base64")]) {
    const gateway = replica(store, sharing("", "", `encryption_keys: ["${key}"]`));
    assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  }
});

Deno.test("replicas share nothing once any setting of caching or of the isolation of clients differs", async () => {
  const store = newSharedStore();
  const files = ["", "ttl: 2h", "max_entry_bytes: 9999", "max_size: 3", "max_bytes: 99999999"]
    .map((settings) => sharing(settings));
  for (const settings of ["", ", isolate_clients: false", ", isolate_clients: true"]) {
    files.push(`${twoKeys(settings)}${sharing()}`);
  }
  const found: (string | null)[] = [];
  for (const file of files) {
    found.push(await replica(store, file).statusOf(chatRequest({ headers: keyOf("ada") })));
  }
  // The last file states the default.
  assertEquals(found, [...files.slice(1).map(() => "MISS"), "HIT"]);
});

Deno.test("a change of the cache settings empties the shared cache for the gateway that reloads", async () => {
  const gateway = replica(newSharedStore());
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  gateway.reload(sharing("ttl: 2h"));
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
});

Deno.test("with per_key two clients have their own shared responses, on each replica", async () => {
  const store = newSharedStore();
  const file = `${twoKeys()}${sharing("per_key: true")}`;
  const [one, two] = [replica(store, file), replica(store, file)];
  const status = (gateway: typeof one, name: string) =>
    gateway.statusOf(chatRequest({ headers: keyOf(name) }));
  assertEquals(await status(one, "ada"), "MISS");
  assertEquals(await status(one, "bob"), "MISS");
  assertEquals([await status(two, "ada"), await status(two, "bob")], ["HIT", "HIT"]);
});

Deno.test("a shared response has the lifetime of the settings, and nothing is stored in memory", async () => {
  const store = newSharedStore();
  const gateway = replica(store, sharing("ttl: 90s"));
  await gateway.ask(chatRequest());
  assertEquals([...store.entries.values()].map(({ ttlMs }) => ttlMs), [90_000]);
  assertEquals(gateway.kept(), [0, 0]);
});

Deno.test("a response above max_entry_bytes is not stored in a shared cache either", async () => {
  const measuring = cachedGateway();
  await measuring.ask(chatRequest());
  const [, bytes] = measuring.kept();
  for (const [limit, entries] of [[bytes, 1], [bytes - 1, 0]] as const) {
    const store = newSharedStore();
    const gateway = replica(store, sharing(`max_entry_bytes: ${limit}`));
    assertEquals(await gateway.statusOf(chatRequest()), "MISS");
    assertEquals(store.entries.size, entries);
  }
});

Deno.test("max_size bounds the cache in memory only", async () => {
  const gateway = replica(newSharedStore(), sharing("max_size: 1"));
  for (const seed of [1, 2]) {
    assertEquals(await gateway.statusOf(chatRequest({ body: { seed } })), "MISS");
  }
  assertEquals(await gateway.statusOf(chatRequest({ body: { seed: 1 } })), "HIT");
});

Deno.test("a store does not change a cache that is not shared", async () => {
  const store = newSharedStore();
  const gateway = replica(store, caching());
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
  assertEquals([store.entries.size, gateway.kept()[0]], [0, 1]);
});

Deno.test("a shared cache without a state store is the cache in memory", async () => {
  const gateway = cachedGateway(caching("shared: true"));
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
  assertEquals(gateway.kept()[0], 1);
});

Deno.test("lookups of a shared cache are counted as those of the cache in memory are", async () => {
  const gateway = replica(newSharedStore());
  for (const _ of [1, 2]) await gateway.ask(chatRequest());
  const metrics = await gateway.metrics();
  for (const result of ["hit", "miss"]) {
    assertMatch(metrics, new RegExp(`gateway_cache_lookups_total\\{[^}]*"${result}"[^}]*\\} 1\\n`));
  }
});

Deno.test("no key of the shared cache contains a provider key", async () => {
  const store = newSharedStore();
  await replica(store, sharing("", "api_key: forbidden")).ask(chatRequest());
  const [key = ""] = store.entries.keys();
  assert(/^[\da-f]{64}$/.test(key));
});
