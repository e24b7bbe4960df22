import { tokenSecurity } from "../support/token_issuer.ts";
import { Buffer } from "node:buffer";
import { assertEquals } from "../support/assert.ts";
import { warningsOf, withSection } from "./parse.ts";

/** Returns the warnings about these lines without their positions. */
function plainWarnings(...lines: readonly string[]): string[] {
  const warnings = warningsOf(withSection(...lines));
  return warnings.map((line) => line.replace(/ \(line \d+, column \d+\)$/, ""));
}

const KEY = Buffer.alloc(32, 1).toString("base64");

Deno.test("settings without effect on the store in memory are named", () => {
  const text = "has no effect while state.store is memory";
  const line = `state: {encryption_keys: ["${KEY}"], required: true, on_outage: refuse}`;
  assertEquals(plainWarnings(line), [
    `state.encryption_keys: ${text}`,
    `state.required: ${text}`,
    `state.on_outage: ${text}`,
  ]);
  assertEquals(plainWarnings("state: {required: false, on_outage: serve, ttl: 30m}"), []);
});

Deno.test("a lifetime above 30m is a warning in memory only", () => {
  assertEquals(plainWarnings("state: {ttl: 31m}"), [
    "state.ttl: is longer than 30m while state.store is memory: max_entries and max_bytes remove " +
    "stored objects earlier, and a restart removes all",
  ]);
  assertEquals(plainWarnings("state: {store: sqlite, ttl: 31m}"), []);
});

Deno.test("settings of stored objects are named while state.store is none", () => {
  const text = "has no effect while state.store is none";
  const settings = {
    ttl: "30m",
    max_entries: "1000",
    max_bytes: "67108864",
    max_items: "10000",
    on_outage: "serve",
    required: "false",
    encryption_keys: `["${KEY}"]`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${value}`);
  assertEquals(
    plainWarnings(`state: {store: none, ${lines.join(", ")}}`),
    Object.keys(settings).map((name) => `state.${name}: ${text}`),
  );
  assertEquals(plainWarnings("state: {store: none, usage_days: 3}"), []);
  assertEquals(plainWarnings("state: {store: none, sqlite: {path: a.db}}"), [
    `state.sqlite.path: ${text}`,
  ]);
});

Deno.test("capabilities whose requests are refused are named while state.store is none", () => {
  const refused = [
    "chat_completions_lifecycle",
    "responses_lifecycle",
    "conversations",
    "background_responses",
    "response_cancellation",
  ];
  const served = ["response_compaction", "response_input_tokens", "embeddings_base64"];
  const config = (store: string, relay: string) => `
state: {store: ${store}}
providers:
  up:
    type: compat
    base_url: "http://up"
    capabilities: {${[...refused, ...served].map((name) => `${name}: true`)}, relay: [${relay}]}
routing: {routes: [{name: all, targets: [{provider: up}]}]}
`;
  const plain = (text: string) =>
    warningsOf(text).map((line) => line.replace(/ \(line \d+, column \d+\)$/, ""));
  const warned = (names: readonly string[]) =>
    names.map((name) =>
      `providers.up.capabilities.${name}: has requests that are refused while state.store is none`
    );
  assertEquals(plain(config("none", "images")), warned(refused));
  assertEquals(plain(config("none", "images, files")), warned([...refused, "relay"]));
  assertEquals(plain(config("none", "batches")), warned([...refused, "relay"]));
  assertEquals(plain(config("memory", "files, batches")), []);
});

Deno.test("budgets are named while state.store is none, because a restart begins them again", () => {
  const budget = "max_concurrent: 2, budgets: [{usd: 1, per: day}]";
  const security = `security:
  enabled: true
  api_key: {keys: [{name: ada, value: key-of-ada, ${budget}}, {name: bob, value: key-of-bob}]}
  groups: [{name: all, keys: [ada], budgets: [{usd: 2, per: day}]}]`;
  const text = "is counted in this process only, and a restart begins it again, because " +
    "state.store is none";
  const none = plainWarnings("state: {store: none}", security);
  assertEquals(none.filter((line) => line.includes("store is none")), [
    `security.api_key.keys[0].budgets: ${text}`,
    `security.groups[0].budgets: ${text}`,
  ]);
  assertEquals(plainWarnings(security).filter((line) => line.includes("store is")), []);
});

Deno.test("budgets of templates are named, if tokens or end users have them", () => {
  const templates = ["admin", "developer"].map((name) => ({
    name,
    budgets: [{ per: "day", usd: 1 }],
  }));
  const named = (security: string) =>
    plainWarnings("state: {store: none}", security).filter((line) => line.includes("a restart"))
      .map((line) => line.replace(/: .*/, ""));
  assertEquals(named(tokenSecurity({}, { templates })), [
    "security.templates[0].budgets",
    "security.templates[1].budgets",
  ]);
  const front = { name: "front", value: "key-of-front" };
  const keys = [{ ...front, end_users: { header: "X-User", template: "admin" } }];
  const security = { enabled: true, api_key: { keys }, templates };
  assertEquals(named(`security: ${JSON.stringify(security)}`), ["security.templates[0].budgets"]);
});

Deno.test("each setting of a store that is not chosen is named", () => {
  const sqlite = "state: {store: sqlite, sqlite: {path: a.db}, valkey: {username: a, prefix: b}}";
  assertEquals(plainWarnings(sqlite), [
    "state.valkey.username: has no effect while state.store is sqlite",
    "state.valkey.prefix: has no effect while state.store is sqlite",
  ]);
  assertEquals(plainWarnings("state: {sqlite: {path: a.db}}"), [
    "state.sqlite.path: has no effect while state.store is memory",
  ]);
});

Deno.test("a server on another machine without TLS is a warning, one on this machine is none", () => {
  const open = "state.valkey.url: is not encrypted, and the host is another machine: " +
    "the password and all state can be read; use rediss:// or valkeys://";
  const cases: Record<string, readonly string[]> = {
    "url: redis://cache.example.com": [open],
    "url: valkey://10.0.0.1/0": [open],
    "url: rediss://cache.example.com": [],
    "url: valkeys://10.0.0.1": [],
    "url: valkey://127.0.0.1": [],
    'url: "redis://[::1]:6379"': [],
    "url: valkey://localhost": [],
    'sentinels: ["127.0.0.1:1", "cache:1"], master: main': [open],
    'sentinels: ["127.0.0.1:1", "[::1]:1"], master: main': [],
  };
  for (const [settings, warnings] of Object.entries(cases)) {
    assertEquals(
      plainWarnings(`state: {store: valkey, valkey: {${settings}}}`),
      warnings,
      settings,
    );
  }
});

Deno.test("a shared cache without a cache or without a shared store is a warning", () => {
  assertEquals(plainWarnings("caching: {shared: true}", "state: {store: sqlite}"), [
    "caching.shared: has no effect while caching.enabled is false",
  ]);
  assertEquals(plainWarnings("caching: {enabled: true, shared: true}"), [
    "caching.shared: has no effect while state.store is memory",
  ]);
});

Deno.test("bounds of the cache in memory are named as without effect on a shared cache", () => {
  const text = "has no effect while caching.shared is true: the state store bounds what it stores";
  const settings = "enabled: true, shared: true, max_size: 10, max_bytes: 100000000";
  assertEquals(plainWarnings(`caching: {${settings}}`, "state: {store: sqlite}"), [
    `caching.max_size: ${text}`,
    `caching.max_bytes: ${text}`,
  ]);
  const bounded = "caching: {enabled: true, shared: true, max_entry_bytes: 10}";
  assertEquals(plainWarnings(bounded, "state: {store: sqlite}"), []);
});
