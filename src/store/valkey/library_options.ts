import { isIP } from "node:net";
import type * as Library from "iovalkey";
import type { ClusterOptions, RedisOptions } from "iovalkey";
import type { ForceShutdown } from "../../runtime/force_shutdown.ts";
import type { ValkeySettings } from "../settings.ts";
import { parseServerAddress } from "./address.ts";
import { newConnector } from "./connector.ts";

/** First and longest delay before a connection is made again. */
const FIRST_RETRY_MS = 50, MAX_RETRY_MS = 1_000;

/** Shortest time for making a connection, in milliseconds. */
const MIN_CONNECT_MS = 500;

/** Interval in milliseconds in which the nodes of a cluster are queried for their slots. */
const SLOTS_INTERVAL_MS = 1_000;

const MAX_REDIRECTIONS = 4;

/** Settings that decide the options of a connection. */
export interface LinkSettings {
  readonly valkey: ValkeySettings;
  /** Milliseconds of silence, while replies are due, after which the connection is given up. */
  readonly silenceMs: number;
  /**
   * PEM certificates that the server's certificate is checked with; null for those of the system.
   */
  readonly ca: string | null;
  /** Ends a TLS handshake whose server is silent. */
  readonly forceShutdown: ForceShutdown;
  /** Returns a uniform random number in [0, 1). */
  random(): number;
}

/** The parts of the library that options refer to. */
export type ConnectorBase = Pick<typeof Library, "AbstractConnector">;

/** Returns the options of a connection to one server, or to the primary that sentinels name. */
export function serverOptions(settings: LinkSettings, library: ConnectorBase): RedisOptions {
  const { valkey: { sentinels, master, url }, ca } = settings;
  const address = parseServerAddress(url);
  if (sentinels.length === 0) {
    return {
      ...linkOptions(settings),
      ...connectorOptions(settings, library),
      host: address?.host ?? "",
      port: address?.port ?? 0,
    };
  }
  return {
    ...linkOptions(settings),
    role: "master",
    sentinels: sentinels.map(sentinelAddress),
    name: master ?? "",
    sentinelRetryStrategy: retryDelay(settings),
    // A sentinel that hangs would otherwise never be given up; `socketTimeout` is not passed on.
    sentinelCommandTimeout: Math.max(settings.silenceMs, MIN_CONNECT_MS),
    ...(address?.isEncrypted === true && {
      enableTLSForSentinelMode: true,
      // The host of the URL is the name in the certificates of the servers.
      tls: {
        ...(ca !== null && { ca }),
        ...(isIP(address.host) === 0 && { servername: address.host }),
      },
      sentinelTLS: ca === null ? {} : { ca },
    }),
  };
}

/** Returns the options of the connections to the nodes of a cluster. */
export function clusterOptions(settings: LinkSettings, library: ConnectorBase): ClusterOptions {
  const { retryStrategy: _, ...redisOptions } = linkOptions(settings);
  return {
    redisOptions: { ...redisOptions, ...connectorOptions(settings, library) },
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryDelay(settings),
    // A command that has failed may have been executed, so it must not be sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: Math.max(settings.silenceMs, MIN_CONNECT_MS),
    slotsRefreshInterval: SLOTS_INTERVAL_MS,
    // The name of a node is what its certificate is for.
    dnsLookup: (name, callback) => callback(null, name),
  };
}

function connectorOptions({ valkey, ca, forceShutdown }: LinkSettings, library: ConnectorBase) {
  const isEncrypted = parseServerAddress(valkey.url)?.isEncrypted === true;
  const options = { isEncrypted, ca, timeoutMs: connectTimeout(valkey), forceShutdown };
  return { Connector: newConnector(library, options) };
}

function connectTimeout({ timeout }: ValkeySettings): number {
  return Math.max(timeout, MIN_CONNECT_MS);
}

function linkOptions(settings: LinkSettings) {
  const { valkey: { url, username, password, cluster }, silenceMs } = settings;
  const address = parseServerAddress(url);
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    db: cluster ? 0 : address?.database ?? 0,
    lazyConnect: true,
    // Commands fail immediately while there is no connection, and no queue grows.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A command that has failed may have been executed, so it must not be sent again.
    autoResendUnfulfilledCommands: false,
    socketTimeout: silenceMs,
    connectTimeout: connectTimeout(settings.valkey),
    retryStrategy: retryDelay(settings),
    // A primary that became a replica keeps its connections.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
    // Also: without the check, a connection that fails early is never made again.
    enableReadyCheck: true,
    connectionName: "switchyard",
    // A connection that is closed before a server answers holds no timer.
    disconnectTimeout: 0,
  };
}

function retryDelay({ random }: LinkSettings): (attempts: number) => number {
  return (attempts) =>
    Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS) * (0.5 + random() / 2);
}

function sentinelAddress(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}
