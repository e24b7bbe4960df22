import { lookup } from "node:dns/promises";
import type { CutOff } from "./cut_off.ts";

/** Where a connection goes. */
export interface Origin {
  /** A name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Finds the addresses of a name, best first. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** An address that has not answered after this many milliseconds no longer keeps the next one waiting. */
const HEAD_START = 300;

/**
 * Connects to an origin, by any of its addresses. What is thrown says which step failed, and no
 * address. Once the signal fires nothing of it stays open.
 */
export async function dial(
  { hostname, port, isSecure }: Origin,
  signal: AbortSignal,
  cutOff: CutOff,
  find: Lookup = addressesOf,
): Promise<Deno.Conn> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new Error("given up"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    const addresses = await Promise.race([aborted, found(hostname, find)]);
    const tcp = await anyOf(addresses, port, signal);
    // Small requests must not wait for what the other side has yet to acknowledge.
    tcp.setNoDelay(true);
    if (!isSecure) return tcp;
    return await secured(tcp, hostname, aborted, () => {
      // A handshake that waits for the other side outlives the closing of its connection.
      if (signal.aborted) cutOff(tcp);
    });
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function secured(
  tcp: Deno.TcpConn,
  hostname: string,
  aborted: Promise<never>,
  end: () => void,
): Promise<Deno.TlsConn> {
  let tls: Deno.TlsConn | null = null;
  try {
    tls = await Deno.startTls(tcp, { hostname, alpnProtocols: ["http/1.1"] });
    await Promise.race([tls.handshake(), aborted]);
    return tls;
  } catch {
    end();
    closed(tls ?? tcp);
    throw new Error("tls error (Connect)");
  }
}

function closed(connection: Deno.Conn) {
  try {
    connection.close();
  } catch {
    // It went over to a TLS connection that never came to be.
  }
}

async function found(hostname: string, find: Lookup): Promise<readonly string[]> {
  if (hostname.includes(":") || /^[\d.]+$/.test(hostname)) return [hostname];
  try {
    return await find(hostname);
  } catch {
    throw new Error("dns error");
  }
}

async function addressesOf(hostname: string): Promise<readonly string[]> {
  const all = await lookup(hostname, { all: true });
  return all.map(({ address }) => address);
}

/** The first that answers. Where one is silent the next is tried beside it (RFC 8305). */
async function anyOf(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  const losers = new AbortController();
  const lose = () => losers.abort();
  signal.addEventListener("abort", lose, { once: true });
  if (signal.aborted) lose();
  const attempts: Promise<Deno.TcpConn>[] = [];
  try {
    for (const hostname of addresses) {
      const attempt = Deno.connect({ hostname, port, signal: losers.signal });
      attempts.push(attempt);
      if (attempts.length < addresses.length && await isEarly(attempts)) break;
    }
    const first = await Promise.any(attempts);
    for (const attempt of attempts) void closeUnless(first, attempt);
    if (!signal.aborted) return first;
    first.close();
  } catch {
    // None of them stands.
  } finally {
    signal.removeEventListener("abort", lose);
    lose();
  }
  throw new Error("tcp connect error");
}

/** Whether any stands before the next address may be tried: when the last one has failed, or is late. */
async function isEarly(attempts: readonly Promise<Deno.TcpConn>[]): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), HEAD_START);
  });
  const any = Promise.any(attempts).then(() => true, () => false);
  const last = attempts.at(-1)?.then(() => true, () => false) ?? late;
  const isEarly = await Promise.race([any, last, late]);
  clearTimeout(timer);
  return isEarly;
}

async function closeUnless(first: Deno.TcpConn, attempt: Promise<Deno.TcpConn>): Promise<void> {
  try {
    const connection = await attempt;
    if (connection !== first) connection.close();
  } catch {
    // It never stood.
  }
}
