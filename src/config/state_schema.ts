import * as z from "zod";
import { duration, flag, integer, section, text } from "./fields.ts";

/** The defaults of `state.max_entries` and `state.max_bytes`. */
const DEFAULT_MAX_ENTRIES = 1_000, DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** The default of `state.max_items`. */
const DEFAULT_MAX_ITEMS = 10_000;

/** The default and the maximum of `state.usage_days`. */
const DEFAULT_USAGE_DAYS = 35, MAX_USAGE_DAYS = 400;

/** Default of `state.sqlite.path`. */
export const DEFAULT_SQLITE_PATH = "switchyard.db";

const sqlite = section({
  path: text().default(DEFAULT_SQLITE_PATH)
    .describe("Path of the database file; its folder must exist."),
  synchronous: z.enum(["full", "normal"]).default("full")
    .describe("full: every change survives a power failure; normal: the last seconds may be lost."),
});

const valkey = section({
  url: text().default("valkey://127.0.0.1:6379/0")
    .describe("Address of the server: redis, rediss, valkey or valkeys; without credentials."),
  username: text().optional().describe("User name at the server."),
  password: z.string().optional().describe("Password at the server, normally ${NAME}."),
  prefix: z.string().regex(/^[A-Za-z0-9._:-]+$/, {
    error: "must be letters, digits and the characters . _ : -",
  }).default("switchyard").describe(
    "Start of all keys; two gateways with different prefixes share nothing.",
  ),
  ca_file: text().optional()
    .describe("Path of PEM certificates that the server's certificate is checked with."),
  cert_file: text().optional()
    .describe("Not supported: client certificates to the server are refused."),
  key_file: text().optional()
    .describe("Not supported: client certificates to the server are refused."),
  sentinels: z.array(z.string().regex(/^.+:\d{1,5}$/, { error: "must be host:port" }))
    .default([]).describe("Addresses of the sentinels, host:port; needs master."),
  master: text().optional().describe("Name of the primary at the sentinels."),
  cluster: flag().prefault(false).describe("The server is a cluster; url names one of its nodes."),
  timeout: duration(1).prefault("500ms")
    .describe("Maximum silence of the server while it owes a reply."),
});

/** Schema of `state`: where stored objects, quotas and shared cached responses are. */
export const stateSchema = section({
  store: z.enum(["none", "memory", "sqlite", "valkey"]).default("memory").describe(
    "none: stores nothing and refuses what needs it; memory: lost on restart; sqlite: a file; " +
      "valkey: a Valkey or Redis server.",
  ),
  ttl: duration(1_000).prefault("30m")
    .describe(
      "Lifetime of stored responses, conversations, reasoning and owners, but for those of " +
        "owner_ttl; at least 1s.",
    ),
  owner_ttl: duration(1_000).prefault("720h").describe(
    "Lifetime of the owners of files, batches and uploads after their last use, at least 1s.",
  ),
  max_entries: integer(1).prefault(DEFAULT_MAX_ENTRIES)
    .describe("Maximum number of stored objects of each type; the oldest are removed first."),
  max_bytes: integer(1).prefault(DEFAULT_MAX_BYTES)
    .describe("Maximum bytes of all stored responses, and of all stored conversations."),
  max_items: integer(1).prefault(DEFAULT_MAX_ITEMS)
    .describe("Maximum number of items of a stored response, with those before it."),
  on_outage: z.enum(["serve", "refuse"]).default("serve")
    .describe(
      "While the store is not available, rates and budgets are counted in this process (serve), " +
        "or calls that have them get 503 (refuse).",
    ),
  required: flag().prefault(false)
    .describe("Do not start without the store, and answer 503 on /ready while it is unavailable."),
  usage_days: integer(0, MAX_USAGE_DAYS).prefault(DEFAULT_USAGE_DAYS)
    .describe("Number of days for which the usage of client keys is stored; 0 stores none."),
  encryption_keys: z.array(z.string()).default([])
    .describe(
      "Keys of 32 bytes in base64 that encrypt stored content; the first encrypts, all decrypt.",
    ),
  sqlite: sqlite.prefault({}).describe("Settings of the store sqlite."),
  valkey: valkey.prefault({}).describe("Settings of the store valkey."),
});
