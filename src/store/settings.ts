/** Settings of the state store, named as in the configuration. Durations are in milliseconds. */
export interface StateSettings {
  readonly store: StoreName;
  /** Lifetime of responses, conversations and their owners. */
  readonly ttl: number;
  /** Lifetime of the owners of files, batches and uploads after their last use. */
  readonly owner_ttl: number;
  /** Maximum number of objects of each type. */
  readonly max_entries: number;
  /** Maximum bytes of all responses, and of all conversations. */
  readonly max_bytes: number;
  /** Maximum number of items of a stored response. */
  readonly max_items: number;
  /** Treatment of rate limits and budgets while the store is not available. */
  readonly on_outage: "serve" | "refuse";
  /** True if the gateway does not start, and is not ready, without its store. */
  readonly required: boolean;
  /** Number of days for which the usage of client keys is stored. */
  readonly usage_days: number;
  /** Keys of 32 bytes in base64; the first one encrypts, all of them decrypt. */
  readonly encryption_keys: readonly string[];
  readonly sqlite: SqliteSettings;
  readonly valkey: ValkeySettings;
}

/** Names of the state stores. */
export type StoreName = "none" | "memory" | "sqlite" | "valkey";

/** Settings of a store in a file. */
export interface SqliteSettings {
  /** Path of the database file. */
  readonly path: string;
  /** `normal`: a power failure may lose the changes of the last seconds. */
  readonly synchronous: "full" | "normal";
}

/** Settings of a store in a Valkey or Redis server. */
export interface ValkeySettings {
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Start of all keys; it is also their hash tag. */
  readonly prefix: string;
  /** Path of the certificates that the server's certificate is checked with. */
  readonly ca_file?: string | undefined;
  /** Addresses of the sentinels, `host:port`; empty without Sentinel. */
  readonly sentinels: readonly string[];
  /** Name of the primary at the sentinels. */
  readonly master?: string | undefined;
  readonly cluster: boolean;
  /** Maximum silence of the server while it owes a reply. */
  readonly timeout: number;
}
