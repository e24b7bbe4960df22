import type { ValkeySettings } from "../settings.ts";

/** Address of a server, or of the first known node of a cluster. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Number of the database. */
  readonly database: number;
  readonly isEncrypted: boolean;
}

const DEFAULT_PORT = 6379;

/**
 * Returns the address in a URL such as `valkeys://cache.example.com:6379/1`; null if it is not the
 * URL of a server.
 */
export function parseServerAddress(url: string): ServerAddress | null {
  const parsed = URL.parse(url);
  // `rediss` and `valkeys` are the schemes of encrypted connections.
  const scheme = /^(?:redis|valkey)(s?):$/.exec(parsed?.protocol ?? "");
  if (parsed === null || scheme === null || parsed.hostname === "") return null;
  const database = /^\/?(\d*)$/.exec(parsed.pathname)?.[1];
  if (database === undefined) return null;
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: parsed.port === "" ? DEFAULT_PORT : Number(parsed.port),
    database: Number(database),
    isEncrypted: scheme[1] === "s",
  };
}

/** Returns the servers as they are named in messages: host and port, never credentials. */
export function serverName({ sentinels, master, url }: ValkeySettings): string {
  if (sentinels.length > 0) return `the primary ${master ?? ""} of ${sentinels.join(", ")}`;
  const address = parseServerAddress(url);
  return address === null ? "the server" : `${address.host}:${address.port}`;
}
