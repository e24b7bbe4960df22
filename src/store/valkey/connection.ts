import { Buffer } from "node:buffer";
import type { Redis } from "iovalkey";
import { parseServerAddress } from "./address.ts";
import { type ClusterClient, newClusterClient } from "./cluster_client.ts";
import { clusterOptions, type LinkSettings, serverOptions } from "./library_options.ts";
import type { LinkReport } from "./link_report.ts";
import {
  CLOSED,
  errorCode,
  isRefusedUser,
  isServerError,
  isWrongDatabase,
  isWrongType,
  reasonOf,
} from "./problems.ts";

/** An argument of a command. */
export type Argument = string | number | Uint8Array;

/**
 * Result of a command. `refused` is an error of the server with its first word. `away` means that
 * there is no reply: the command may have been executed nevertheless.
 */
export type Reply =
  | { readonly kind: "reply"; readonly value: unknown }
  | { readonly kind: "refused"; readonly code: string; readonly isWrongType: boolean }
  | { readonly kind: "away" };

/**
 * A connection to a server, or to the nodes of a cluster, that is made again whenever it breaks.
 */
export interface ValkeyConnection {
  /**
   * Makes the connection and waits for it, at most `waitMs`. Returns true if it can be used; if
   * not, further attempts follow.
   */
  open(waitMs: number): Promise<boolean>;
  /** Sends a command. Texts in its reply are bytes. Without a connection it fails immediately. */
  send(command: string, args: readonly Argument[]): Promise<Reply>;
  /**
   * Sends the server a request for a sign of life, which may be a write. `key` is any key of the
   * store.
   */
  ping(key: string, doesWrite: boolean): Promise<Reply>;
  /** Calls the listener whenever the connection has been made. */
  onReady(listener: () => void): void;
  /** Waits for the replies that are due, then closes the connection. */
  close(): Promise<void>;
}

/** Lifetime in milliseconds of the key that a ping writes. */
const PING_KEY_TTL_MS = "1000";

const AWAY: Reply = { kind: "away" };

/** Returns a connection that is not made yet. `name` identifies it in the report. */
export async function newValkeyConnection(
  name: string,
  settings: LinkSettings,
  report: LinkReport,
): Promise<ValkeyConnection> {
  const client = await newClient(settings);
  const listeners: (() => void)[] = [];
  let isUnusable = false;
  let isClosed = false;
  let reason: string | null = null;

  client.on("error", failedWith);
  client.on("node error", failedWith);
  client.on("connecting", () => void (reason = null));
  client.on("connect", () => void (isUnusable = false));
  client.on("ready", () => {
    if (isUnusable) return;
    reason = null;
    report.connected(name);
    for (const listener of listeners) listener();
  });
  client.on("close", () => {
    if (!isClosed) report.failed(name, reason ?? CLOSED);
  });

  function failedWith(error: unknown): void {
    const known = reasonOf(error);
    if (isClosed || known === null) return;
    reason = known;
    // The library would go on with database 0, or as the user of connections without a password.
    if (isWrongDatabase(error) || isRefusedUser(error)) isUnusable = true;
    if (client.status !== "ready" || isUnusable) report.failed(name, reason);
  }

  async function send(command: string, args: readonly Argument[]): Promise<Reply> {
    if (isUnusable || isClosed) return AWAY;
    try {
      return { kind: "reply", value: await client.callBuffer(command, args.map(toBuffer)) };
    } catch (error) {
      if (!isServerError(error)) return AWAY;
      const code = errorCode(error);
      if (code !== "NOSCRIPT") report.refused(reasonOf(error) ?? CLOSED);
      return { kind: "refused", code, isWrongType: isWrongType(error) };
    }
  }

  return {
    async open(waitMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const wait = new Promise<void>((resolve) => timer = setTimeout(resolve, waitMs));
      // The cause is known from the event `error`.
      const attempt = client.connect().catch(() => {});
      await Promise.race([attempt, wait]);
      clearTimeout(timer);
      return client.status === "ready" && !isUnusable;
    },
    send,
    ping(key, doesWrite) {
      if (doesWrite) return send("SET", [`${key}ping`, "", "PX", PING_KEY_TTL_MS]);
      // A node of a cluster answers for its own slots only, and a ping would go to any node.
      return settings.valkey.cluster ? send("EXISTS", [key]) : send("PING", []);
    },
    onReady: (listener) => void listeners.push(listener),
    async close() {
      isClosed = true;
      await closeClient(client);
    },
  };
}

async function newClient(settings: LinkSettings): Promise<Redis | ClusterClient> {
  const library = await import("./library.ts");
  const address = parseServerAddress(settings.valkey.url);
  return settings.valkey.cluster && address !== null
    ? newClusterClient(
      library,
      { host: address.host, port: address.port },
      clusterOptions(settings, library),
    )
    : new library.Redis(serverOptions(settings, library));
}

function toBuffer(argument: Argument): string | number | Buffer {
  if (!(argument instanceof Uint8Array)) return argument;
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
}

/** Statuses of a client without a connection that could end. */
const IDLE_STATUSES: readonly string[] = ["end", "reconnecting", "wait"];

async function closeClient(client: Redis | ClusterClient): Promise<void> {
  const { status } = client;
  const refreshed = "endRefreshes" in client ? client.endRefreshes() : undefined;
  const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
  if (status === "ready") await client.quit().catch(() => client.disconnect());
  else client.disconnect();
  if (!IDLE_STATUSES.includes(status)) await ended;
  await refreshed;
  // The library ends connections, also those that it no longer has, with timers of 0 ms.
  await new Promise((resolve) => setTimeout(resolve, 0));
}
