import { isObject, type JsonObject } from "../core/json/json.ts";
import { CLIENT_KEYS_PATH } from "./client_key_rules.ts";
import { type Problem, problem } from "./problems.ts";
import type { Config } from "./schema.ts";
import { identifiesClients } from "./security_rules.ts";
import { isLoopbackName } from "../core/authority.ts";

/** Lifetime up to which the bounds of the store in memory are rarely reached. */
const USUAL_MEMORY_TTL_MS = 30 * 60 * 1000;

/** Bounds of `caching` that only apply to the cache in memory. */
const LOCAL_BOUNDS = ["max_size", "max_bytes"] as const;

/**
 * Returns a warning for each valid setting of `state` and `caching.shared` that has no effect or is
 * likely a mistake. `written` is the file before defaults.
 */
export function stateWarnings(written: unknown, config: Config): Problem[] {
  const file = isObject(written) ? written : {};
  return [
    ...memoryWarnings(config),
    ...noStoreWarnings(file, config),
    ...otherStoreWarnings(file.state, config),
    ...transportWarnings(config),
    ...sharedCacheWarnings(file.caching, config),
  ];
}

function memoryWarnings({ state, record }: Config): Problem[] {
  if (state.store !== "memory") return [];
  const unused = [
    ...state.encryption_keys.length > 0 && !record.enabled ? ["encryption_keys"] : [],
    ...state.required ? ["required"] : [],
    ...state.on_outage !== "serve" ? ["on_outage"] : [],
  ];
  const long = "is longer than 30m while state.store is memory: max_entries and max_bytes remove " +
    "stored objects earlier, and a restart removes all";
  return [
    ...unused.map((key) =>
      problem(["state", key], "has no effect while state.store is memory", "key")
    ),
    ...state.ttl > USUAL_MEMORY_TTL_MS ? [problem(["state", "ttl"], long)] : [],
  ];
}

/** Settings of stored objects, and of a store that can be unavailable. */
const STORAGE_KEYS = [
  "ttl",
  "max_entries",
  "max_bytes",
  "max_items",
  "on_outage",
  "required",
  "encryption_keys",
] as const;

/** Capabilities that are only for objects whose owners the gateway stores. */
const OWNED_CAPABILITIES = [
  "chat_completions_lifecycle",
  "responses_lifecycle",
  "conversations",
  "background_responses",
  "response_cancellation",
] as const;

/** Families of relayed endpoints whose owners the gateway stores. */
const OWNED_FAMILIES: readonly unknown[] = ["files", "batches"];

function noStoreWarnings(file: JsonObject, config: Config): Problem[] {
  if (config.state.store !== "none") return [];
  const state = isObject(file.state) ? file.state : {};
  return [
    ...STORAGE_KEYS.filter((key) =>
      state[key] !== undefined && !(key === "encryption_keys" && config.record.enabled)
    ).map((key) => problem(["state", key], "has no effect while state.store is none", "key")),
    ...Object.entries(config.providers).flatMap(([id, { capabilities }]) => {
      const path = ["providers", id, "capabilities"];
      return [
        ...OWNED_CAPABILITIES.filter((name) => capabilities[name]).map((name) => [...path, name]),
        ...relaysOwned(file.providers, id) ? [[...path, "relay"]] : [],
      ].map((at) => problem(at, "has requests that are refused while state.store is none", "key"));
    }),
    ...budgetWarnings(config),
  ];
}

/** True if the file itself lists a family of endpoints whose owners would have to be stored. */
function relaysOwned(providers: unknown, id: string): boolean {
  const provider = isObject(providers) ? providers[id] : null;
  const capabilities = isObject(provider) ? provider.capabilities : null;
  const relay = isObject(capabilities) ? capabilities.relay : null;
  return Array.isArray(relay) && relay.some((family) => OWNED_FAMILIES.includes(family));
}

function budgetWarnings({ security }: Config): Problem[] {
  const { api_key: { keys }, groups, templates, jwt: { issuers } } = security;
  if (!identifiesClients(security)) return [];
  // A key has the budgets of its template itself; a caller with a token has no other place.
  const ofTokens = security.provider !== "jwt"
    ? new Set()
    : new Set(issuers.flatMap(({ rules }) => rules.map(({ template }) => template)));
  const named = new Set(keys.map(({ end_users: users }) => users?.template));
  const text = "is counted in this process only, and a restart begins it again, because " +
    "state.store is none";
  const paths = [
    ...keys.flatMap(({ budgets }, index) =>
      budgets.length > 0 ? [[...CLIENT_KEYS_PATH, index]] : []
    ),
    ...groups.flatMap(({ budgets }, index) =>
      budgets.length > 0 ? [["security", "groups", index]] : []
    ),
    ...templates.flatMap(({ name, budgets }, index) =>
      budgets.length > 0 && (ofTokens.has(name) || named.has(name))
        ? [["security", "templates", index]]
        : []
    ),
  ];
  return paths.map((path) => problem([...path, "budgets"], text));
}

/** Returns a warning for each setting of a store that is not chosen. */
function otherStoreWarnings(written: unknown, { state: { store } }: Config): Problem[] {
  if (!isObject(written)) return [];
  return (["sqlite", "valkey"] as const).flatMap((name) => {
    const settings = written[name];
    if (name === store || !isObject(settings)) return [];
    return Object.keys(settings).map((key) =>
      problem(["state", name, key], `has no effect while state.store is ${store}`, "key")
    );
  });
}

function transportWarnings({ state }: Config): Problem[] {
  const { url, sentinels, ca_file } = state.valkey;
  const parsed = URL.parse(url);
  const isEncrypted = parsed?.protocol === "rediss:" || parsed?.protocol === "valkeys:";
  if (state.store !== "valkey" || parsed === null || isEncrypted) return [];
  const hosts = sentinels.length === 0
    ? [parsed.hostname]
    : sentinels.map((address) => address.replace(/:\d+$/, ""));
  const open = "is not encrypted, and the host is another machine: the password and all state " +
    "can be read; use rediss:// or valkeys://";
  return [
    ...hosts.every(isLoopbackName) ? [] : [problem(["state", "valkey", "url"], open)],
    ...ca_file === undefined ? [] : [
      problem(["state", "valkey", "ca_file"], "has no effect on a url without TLS", "key"),
    ],
  ];
}

function sharedCacheWarnings(written: unknown, { caching, state }: Config): Problem[] {
  if (!caching.shared) return [];
  const path = ["caching", "shared"];
  if (!caching.enabled) {
    return [problem(path, "has no effect while caching.enabled is false")];
  }
  if (state.store === "memory") {
    return [problem(path, "has no effect while state.store is memory")];
  }
  return LOCAL_BOUNDS.filter((key) => isObject(written) && written[key] !== undefined)
    .map((key) => {
      const text = "has no effect while caching.shared is true: the state store bounds what it " +
        "stores";
      return problem(["caching", key], text, "key");
    });
}
