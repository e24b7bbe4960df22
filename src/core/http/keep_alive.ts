import { libcPath } from "../libc.ts";
import { descriptorOf, SEARCH_SYMBOLS } from "./find_descriptor.ts";

/** Seconds of silence before the first probe of a TCP connection, and between two probes. */
const FIRST_PROBE_S = 30, PROBE_INTERVAL_S = 15;

/** A connection is dead when this many probes in a row had no answer. */
const MAX_PROBES = 4;

// The numbers of Linux, from <sys/socket.h> and <netinet/tcp.h>.
const SOL_SOCKET = 1, SO_KEEPALIVE = 9, IPPROTO_TCP = 6;
const TCP_NODELAY = 1, TCP_KEEPIDLE = 4, TCP_KEEPINTVL = 5, TCP_KEEPCNT = 6;

const OPTIONS = [
  [SOL_SOCKET, SO_KEEPALIVE, 1],
  [IPPROTO_TCP, TCP_NODELAY, 1],
  [IPPROTO_TCP, TCP_KEEPIDLE, FIRST_PROBE_S],
  [IPPROTO_TCP, TCP_KEEPINTVL, PROBE_INTERVAL_S],
  [IPPROTO_TCP, TCP_KEEPCNT, MAX_PROBES],
] as const;

const SYMBOLS = {
  ...SEARCH_SYMBOLS,
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
} as const;

/** TCP keep-alive of the connections of one client. */
export interface KeepAlive {
  /** Has the system probe this connection while it is silent, so that a vanished server is noticed. */
  turnOn(connection: Pick<Deno.Conn, "localAddr" | "remoteAddr">): void;
  /** Closes the C library, which stays open between connections: opening it takes a millisecond. */
  close(): void;
}

/** Returns a TCP keep-alive that works on Linux where FFI is allowed, and does nothing elsewhere. */
export function newKeepAlive(): KeepAlive {
  let libc: Deno.DynamicLibrary<typeof SYMBOLS> | null | undefined;

  return {
    turnOn(connection) {
      if (libc === undefined) libc = openLibc();
      const descriptor = libc === null ? null : descriptorOf(connection, libc.symbols);
      if (libc === null || descriptor === null) return;
      for (const [level, option, value] of OPTIONS) {
        const bytes = new Uint8Array(new Int32Array([value]).buffer);
        libc.symbols.setsockopt(descriptor, level, option, bytes, bytes.length);
      }
    },
    close() {
      libc?.close();
      libc = null;
    },
  };
}

function openLibc(): Deno.DynamicLibrary<typeof SYMBOLS> | null {
  const path = Deno.build.os === "linux" ? libcPath() : undefined;
  if (path === undefined) return null;
  try {
    return Deno.dlopen(path, SYMBOLS);
  } catch {
    // Without the permission a vanished server is noticed by the silence limit alone.
    return null;
  }
}
