import { lookup } from "node:dns/promises";
import { Cancellation } from "../core/cancellation.ts";
import { ConnectionError } from "../core/failure/connection_error.ts";
import type { TlsSettings } from "../core/transport.ts";
import type { ForceShutdown } from "../runtime/force_shutdown.ts";
import { findCause } from "./runtime_errors.ts";
import { connectWithIdentity, startTls } from "./tls.ts";

/** Origin of a server: host, port and scheme. */
export interface Origin {
  /** Host name, or IP address without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Resolves a host name to IP addresses, preferred ones first. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** Delay in milliseconds before the next address is tried in parallel (RFC 8305). */
const CONNECTION_ATTEMPT_DELAY_MS = 300;

/**
 * Time in milliseconds for an attempt to end after it was given up: between the first and the
 * second time that Linux repeats a request for a connection, after 1 s and 3 s.
 */
const ABORT_DELAY_MS = 2_000;

/** Options of a connection; absent ones have their defaults. */
export interface DialOptions {
  readonly tls?: TlsSettings | null;
  readonly find?: Lookup;
  /** Runs a task after some milliseconds; returns a function that cancels it. */
  readonly after?: After;
}

type After = (ms: number, task: () => void) => () => void;

/**
 * Connects to any address of an origin. Rejects with a `ConnectionError` before anything was sent.
 * No connection stays open after cancellation; one to a silent host is aborted after some time.
 */
export async function dial(
  { hostname, port, isSecure }: Origin,
  cancellation: Cancellation,
  forceShutdown: ForceShutdown,
  { tls = null, find = lookUpAddresses, after = afterOnClock }: DialOptions = {},
): Promise<Deno.Conn> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const unsubscribe = cancellation.onCancel(() =>
    reject(new ConnectionError("aborted", "the connection was given up"))
  );
  try {
    const addresses = await Promise.race([aborted, resolveHost(hostname, find)]);
    const identity = isSecure ? tls?.identity ?? null : null;
    if (identity !== null && tls !== null) {
      const secure = { ...tls, identity };
      const open = (address: string) =>
        connectWithIdentity(address, port, tls.serverName ?? hostname, secure);
      const connection = await connectToFirst(addresses, open, aborted);
      return await completeHandshake(
        connection,
        () => Promise.resolve(connection),
        aborted,
        forceShutdown,
      );
    }
    const losers = new Cancellation();
    const open = (address: string) => connectUntil(losers, address, port, after);
    const tcp = await connectToFirst(addresses, open, aborted).finally(() => losers.cancel(null));
    // Disables Nagle's algorithm: a small request must not wait for an acknowledgement.
    tcp.setNoDelay(true);
    if (!isSecure) return tcp;
    return await completeHandshake(
      tcp,
      () => startTls(tcp, tls?.serverName ?? hostname, tls),
      aborted,
      forceShutdown,
    );
  } finally {
    unsubscribe();
  }
}

/**
 * Opens a TCP connection that is given up some time after the cancellation. Deno 2.7 loses a
 * connection that is made at the moment of its abort: it stays open, and no code can close it. So
 * an attempt may end by itself, and its connection is closed then; only one to a silent host is
 * aborted.
 */
async function connectUntil(
  losers: Cancellation,
  hostname: string,
  port: number,
  after: After,
): Promise<Deno.TcpConn> {
  const aborting = new AbortController();
  let cancelAbort = () => {};
  const unsubscribe = losers.onCancel(() => {
    cancelAbort = after(ABORT_DELAY_MS, () => aborting.abort());
  });
  try {
    return await Deno.connect({ hostname, port, signal: aborting.signal });
  } finally {
    unsubscribe();
    cancelAbort();
  }
}

function afterOnClock(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
}

/** Returns the connection after its TLS handshake; closes it on failure or cancellation. */
async function completeHandshake(
  raw: Deno.Conn,
  start: () => Promise<Deno.TlsConn>,
  aborted: Promise<never>,
  forceShutdown: ForceShutdown,
): Promise<Deno.TlsConn> {
  let connection: Deno.Conn = raw;
  try {
    const tls = await start();
    connection = tls;
    await Promise.race([tls.handshake(), aborted]);
    return tls;
  } catch (error) {
    // A TLS handshake that waits for the server continues after its connection is closed.
    if (error instanceof ConnectionError && error.kind === "aborted") forceShutdown(raw);
    closeQuietly(connection);
    throw error instanceof ConnectionError
      ? error
      : new ConnectionError(findCause(error), "no secure connection could be made");
  }
}

function closeQuietly(connection: Deno.Conn) {
  try {
    connection.close();
  } catch {
    // The TCP connection was consumed by a TLS connection that failed.
  }
}

async function resolveHost(hostname: string, find: Lookup): Promise<readonly string[]> {
  if (hostname.includes(":") || /^[\d.]+$/.test(hostname)) return [hostname];
  const addresses = await find(hostname).catch(() => []);
  if (addresses.length > 0) return addresses;
  throw new ConnectionError("dns", "the host name could not be resolved");
}

async function lookUpAddresses(hostname: string): Promise<readonly string[]> {
  const all = await lookup(hostname, { all: true });
  return all.map(({ address }) => address);
}

/**
 * Returns the first connection that succeeds. If an address does not respond, the next one is tried
 * in parallel (RFC 8305).
 */
async function connectToFirst<Connection extends Deno.Conn>(
  addresses: readonly string[],
  open: (address: string) => Promise<Connection>,
  aborted: Promise<never>,
): Promise<Connection> {
  const attempts: Promise<Connection>[] = [];
  let first: Connection | null = null;
  try {
    for (const address of addresses) {
      const attempt = open(address);
      attempts.push(attempt);
      const isLast = attempts.length === addresses.length;
      if (!isLast && await Promise.race([isEarly(attempts), aborted])) break;
    }
    first = await Promise.race([Promise.any(attempts), aborted]);
    return first;
  } catch (error) {
    if (error instanceof ConnectionError) throw error;
    throw new ConnectionError(causeOfAll(error), "no address of the host could be connected to");
  } finally {
    for (const attempt of attempts) void closeUnless(first, attempt);
  }
}

/** Returns the cause for the first address, which is the preferred one. */
function causeOfAll(error: unknown) {
  return findCause(error instanceof AggregateError ? error.errors[0] : error);
}

/**
 * True if a connection is open before the next address may be tried, which is after a failure or
 * the delay.
 */
async function isEarly(attempts: readonly Promise<Deno.Conn>[]): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CONNECTION_ATTEMPT_DELAY_MS);
  });
  const any = Promise.any(attempts).then(() => true, () => false);
  const last = attempts.at(-1)?.then(() => true, () => false) ?? late;
  const isEarly = await Promise.race([any, last, late]);
  clearTimeout(timer);
  return isEarly;
}

async function closeUnless(first: Deno.Conn | null, attempt: Promise<Deno.Conn>): Promise<void> {
  try {
    const connection = await attempt;
    if (connection !== first) connection.close();
  } catch {
    // The connection attempt failed: there is nothing to close.
  }
}
