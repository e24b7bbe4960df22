import { isIP } from "node:net";
import type { ClusterOptions, RedisOptions } from "iovalkey";
import type { ValkeySettings } from "../settings.ts";
import { parseServerAddress } from "./address.ts";

/** First and longest delay before a connection is made again. */
const FIRST_RETRY_MS = 50, MAX_RETRY_MS = 1_000;

/** Shortest time for making a connection, in milliseconds. */
const MIN_CONNECT_MS = 500;

/** Interval in milliseconds in which the nodes of a cluster are asked for their slots. */
const SLOTS_INTERVAL_MS = 1_000;

const MAX_REDIRECTIONS = 4;

/** What the options of a connection depend on. */
export interface LinkSettings {
  readonly valkey: ValkeySettings;
  /** Milliseconds of silence, while replies are due, after which the connection is given up. */
  readonly silenceMs: number;
  /** Returns a uniform random number in [0, 1). */
  random(): number;
}

/** Returns the options of a connection to one server, or to the primary that sentinels name. */
export function serverOptions(settings: LinkSettings, ca: string | null): RedisOptions {
  const { valkey: { sentinels, master, url } } = settings;
  const address = parseServerAddress(url);
  if (sentinels.length === 0) {
    return { ...linkOptions(settings, ca), host: address?.host ?? "", port: address?.port ?? 0 };
  }
  return {
    ...linkOptions(settings, ca),
    sentinels: sentinels.map(sentinelAddress),
    name: master ?? "",
    sentinelRetryStrategy: retryDelay(settings),
    // A sentinel that hangs would otherwise never be given up; `socketTimeout` is not passed on.
    sentinelCommandTimeout: Math.max(settings.silenceMs, MIN_CONNECT_MS),
    ...(address?.isEncrypted === true && {
      enableTLSForSentinelMode: true,
      sentinelTLS: ca === null ? {} : { ca },
    }),
  };
}

/** Returns the options of the connections to the nodes of a cluster. */
export function clusterOptions(settings: LinkSettings, ca: string | null): ClusterOptions {
  const { retryStrategy: _, ...redisOptions } = linkOptions(settings, ca);
  return {
    redisOptions,
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

function linkOptions(settings: LinkSettings, ca: string | null) {
  const { valkey: { url, username, password, cluster, sentinels }, silenceMs } = settings;
  const address = parseServerAddress(url);
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    db: cluster ? 0 : address?.database ?? 0,
    ...(address?.isEncrypted === true && {
      tls: {
        ...(ca !== null && { ca }),
        // Each node of a cluster has another name; an address is not a server name (RFC 6066, 3).
        ...(!cluster && isIP(address.host) === 0 && { servername: address.host }),
      },
    }),
    lazyConnect: true,
    // Commands fail immediately while there is no connection, and no queue grows.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A command that has failed may have been executed, so it must not be sent again.
    autoResendUnfulfilledCommands: false,
    socketTimeout: silenceMs,
    connectTimeout: Math.max(settings.valkey.timeout, MIN_CONNECT_MS),
    retryStrategy: retryDelay(settings),
    // A primary that became a replica keeps its connections.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
    // Also: without the check, a connection that fails early is never made again.
    enableReadyCheck: true,
    connectionName: "switchyard",
    // A connection that is closed before a server answers holds no timer.
    disconnectTimeout: 0,
    ...(sentinels.length > 0 && { role: "master" as const }),
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
