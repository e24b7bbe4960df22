// Until Deno gives the options and the kernel's statistics of accepted connections.

import { MAX_SOCKADDR_BYTES, parseSocketAddress } from "./address.ts";
import { http2Filter, INSTRUCTION_BYTES } from "./http2_filter.ts";

/** Kernel statistics of one TCP connection. */
export interface Traffic {
  /** Bytes received since the connection was opened, read or not. */
  readonly receivedBytes: number;
  /** Milliseconds since data was received, or since the connection was opened if there was none. */
  readonly silentMs: number;
  /** True if the peer has acknowledged all written data. */
  readonly isDelivered: boolean;
  /** Bytes that the other side has acknowledged since the connection was opened. */
  readonly acknowledgedBytes: number;
  /**
   * Bytes that were written since the connection was opened, whether or not the other side has
   * received them. Before Linux 4.19 those that it has not acknowledged are missing.
   */
  readonly writtenBytes: number;
  /**
   * Written bytes that wait in the kernel, because the other side has no room or the network is
   * slow.
   */
  readonly unsentBytes: number;
}

/**
 * A value that no other socket has, also if a client comes back from the same port. Before Linux
 * 4.12 it is the remote address, which another one may get.
 */
export type SocketIdentity = number | string;

/** A socket with the descriptor that it had when it was found; null if it was not. */
export interface FoundSocket {
  readonly descriptor: number | null;
  readonly socket: SocketIdentity | null;
}

/** Returns the descriptor of a socket; null if it is not known, or has another socket by now. */
export function openDescriptor(
  sockets: Pick<Sockets, "identity">,
  { descriptor, socket }: FoundSocket,
): number | null {
  return descriptor !== null && sockets.identity(descriptor) === socket ? descriptor : null;
}

/** Most of the unread bytes that `peek` returns. */
export const MAX_PEEKED_BYTES = 64 * 1024;

/** TCP sockets of this process by file descriptor. */
export interface Sockets {
  /** Returns a number above every open descriptor. */
  bound(): number;
  /** Returns the resident memory of this process in bytes; 0 if it is not known. */
  residentBytes(): number;
  /**
   * Returns the local address of a socket as `ADDRESS PORT`; null if the descriptor is not a TCP or
   * UDP socket.
   */
  local(descriptor: number): string | null;
  /** Returns the identity of a socket; null if the descriptor is not one. */
  identity(descriptor: number): SocketIdentity | null;
  /** Returns the remote address of a socket as `ADDRESS PORT`; null if it is not connected. */
  remote(descriptor: number): string | null;
  /** True if the descriptor is a socket that accepts connections. */
  isListening(descriptor: number): boolean;
  /** Returns the kernel statistics; null if the descriptor is not a TCP socket. */
  traffic(descriptor: number): Traffic | null;
  /** Returns the number of received bytes that are still unread. */
  unreadBytes(descriptor: number): number;
  /** Returns the first unread bytes, up to 64 KiB, which stay unread; valid until the next call. */
  peek(descriptor: number): Uint8Array;
  /**
   * Shuts the connection down in both directions; data that was written before is still delivered.
   */
  shutDown(descriptor: number): void;
  /**
   * Shuts the connection down and makes `close` reset it, so that a blocked sender does not wait
   * for buffer space. Unread bytes are discarded: the runtime would read them even so.
   */
  abort(descriptor: number): void;
  /** Sets how many connections may wait until a listener accepts them, up to `somaxconn`. */
  setBacklog(descriptor: number, connections: number): void;
  /** Disables Nagle's algorithm; accepted connections inherit the option from their listener. */
  setNoDelay(descriptor: number): void;
  /**
   * Drops what clients of HTTP/2 send, if the descriptor is a listener: connections that it accepts
   * from now on inherit it. False if the kernel refuses this.
   */
  dropHttp2(descriptor: number): boolean;
  /** Ends this for a connection. */
  acceptAll(descriptor: number): void;
  /**
   * Bounds the received bytes that wait in the kernel to about this number, which the kernel would
   * adjust else.
   */
  setReceiveBuffer(descriptor: number, bytes: number): void;
  /**
   * Enables TCP keep-alive: first probe after `firstS` seconds of silence. The kernel ends the
   * connection after `maxProbes` probes without a response.
   */
  setKeepAlive(descriptor: number, firstS: number, intervalS: number, maxProbes: number): void;
  /** Returns the lowest free descriptor; null if none is left. */
  lowestFree(): number | null;
  /** Unloads the C library unless other sockets of the process are open. */
  close(): void;
}

/** The sockets of this process, or the reason why they are unavailable. */
export type OpenedSockets =
  | { readonly kind: "open"; readonly sockets: Sockets }
  | { readonly kind: "unavailable"; readonly reason: string };

// Constants of Linux from <sys/socket.h>, <netinet/tcp.h>, <asm/ioctls.h> and <fcntl.h>.
const SOL_SOCKET = 1, SO_RCVBUF = 8, SO_KEEPALIVE = 9, SO_OOBINLINE = 10, SO_LINGER = 13;
const SO_ATTACH_FILTER = 26, SO_DETACH_FILTER = 27, SO_ACCEPTCONN = 30, SO_COOKIE = 57;
const IPPROTO_TCP = 6, TCP_NODELAY = 1, TCP_INFO = 11;
const TCP_KEEPIDLE = 4, TCP_KEEPINTVL = 5, TCP_KEEPCNT = 6;
/** Flags of `recv`: the bytes stay unread, and it does not wait for any. */
const PEEK_CODE = 0x02 | 0x40;
/** The same for bytes that are read, and not copied. */
const DISCARD_CODE = 0x20 | 0x40, MAX_DISCARDED_BYTES = 0x7fff_ffff;
const FIONREAD = 0x541b, SHUT_RDWR = 2, O_RDONLY_CLOEXEC = 0x80000;

/** The file with the size of the descriptor table and of memory. Deno itself may not read it. */
const STATUS_PATH = "/proc/self/status\0";

/** Fields of `struct tcp_info` (linux/tcp.h) since Linux 4.6, and the last two since 4.19. */
const UNACKED_SEGMENTS_OFFSET = 24, LAST_RECEIVED_MS_OFFSET = 52;
const ACKNOWLEDGED_BYTES_OFFSET = 120, RECEIVED_BYTES_OFFSET = 128, UNSENT_BYTES_OFFSET = 144;
const SENT_BYTES_OFFSET = 200, RETRANSMITTED_BYTES_OFFSET = 208;
const MIN_TCP_INFO_BYTES = 148, FULL_TCP_INFO_BYTES = 216;

const SYMBOLS = {
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  ioctl: { parameters: ["i32", "u64", "buffer"], result: "i32" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  pread: { parameters: ["i32", "buffer", "usize", "i64"], result: "isize" },
  dup: { parameters: ["i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  memcpy: { parameters: ["buffer", "buffer", "usize"], result: "u64" },
} as const;

/** The sockets of this process while somebody has opened them. */
let loaded: { readonly sockets: Sockets; holders: number } | null = null;

/**
 * Loads the C library to reach the sockets of this process, for which Deno has no API. Works on
 * Linux with the permissions for foreign functions and for reading. Takes some milliseconds, unless
 * other sockets of the process are open.
 */
export function openSockets(): OpenedSockets {
  if (Deno.build.os !== "linux") return unavailable("this is not Linux");
  if (loaded !== null) return { kind: "open", sockets: held(loaded) };
  try {
    const path = libcPath();
    if (path === undefined) return unavailable("libc was not found");
    const libc = Deno.dlopen(path, SYMBOLS);
    const status = libc.symbols.open(new TextEncoder().encode(STATUS_PATH), O_RDONLY_CLOEXEC);
    if (status < 0) {
      libc.close();
      return unavailable("/proc cannot be read");
    }
    loaded = { sockets: newSockets(libc, status), holders: 0 };
    return { kind: "open", sockets: held(loaded) };
  } catch (error) {
    return unavailable(error instanceof Error ? error.name : "unknown error");
  }
}

/** Returns sockets that the last of their holders closes. */
function held(shared: NonNullable<typeof loaded>): Sockets {
  let isOpen = true;
  shared.holders++;
  return {
    ...shared.sockets,
    close() {
      if (!isOpen) return;
      isOpen = false;
      if (--shared.holders > 0) return;
      loaded = null;
      shared.sockets.close();
    },
  };
}

/** Returns the sockets of this process; null if they are unavailable. */
export function loadSockets(): Sockets | null {
  const opened = openSockets();
  return opened.kind === "open" ? opened.sockets : null;
}

function unavailable(reason: string): OpenedSockets {
  return { kind: "unavailable", reason };
}

/**
 * Returns the sockets of this process. The descriptor `status` stays open, because it is needed
 * most when no descriptor is free to open it again.
 */
function newSockets(libc: Deno.DynamicLibrary<typeof SYMBOLS>, status: number): Sockets {
  const { getsockname, getpeername, getsockopt, setsockopt, ioctl, shutdown } = libc.symbols;
  const address = new Uint8Array(MAX_SOCKADDR_BYTES);
  const info = new Uint8Array(256);
  const fields = new DataView(info.buffer);
  const size = new Uint32Array(1);
  const unread = new Int32Array(1);
  const peeked = new Uint8Array(MAX_PEEKED_BYTES);
  /** Both fields of `struct linger`: closing resets the connection. */
  const noLinger = new Int32Array([1, 0]);
  const option = new Int32Array(1);
  const cookie = new Uint32Array(2);
  const filter = http2Filter();
  /** `struct sock_fprog`: the number of instructions of the filter, and its address. */
  const filterHead = new DataView(new ArrayBuffer(16));
  filterHead.setUint16(0, filter.length / INSTRUCTION_BYTES, true);
  const text = new Uint8Array(4096);
  const decoder = new TextDecoder();

  /** Returns the number of this pattern in the status of the process; 0 if there is none. */
  function statusNumber(pattern: RegExp): number {
    const length = libc.symbols.pread(status, text, BigInt(text.length), 0n);
    return Number(pattern.exec(decoder.decode(text.subarray(0, Number(length))))?.[1] ?? 0);
  }

  function addressBy(ask: typeof getsockname, descriptor: number): string | null {
    size[0] = address.length;
    return ask(descriptor, address, size) === 0 ? parseSocketAddress(address) : null;
  }

  /** Returns the sent bytes that `info` has, each once; null if the kernel does not count them. */
  function sentBytes(): number | null {
    if ((size[0] ?? 0) < FULL_TCP_INFO_BYTES) return null;
    return countAt(SENT_BYTES_OFFSET) - countAt(RETRANSMITTED_BYTES_OFFSET);
  }

  /** Returns a number of 64 bits in `info`; a `BigInt` would take longer than the call. */
  function countAt(offset: number): number {
    return fields.getUint32(offset + 4, true) * 2 ** 32 + fields.getUint32(offset, true);
  }

  function set(descriptor: number, level: number, name: number, value: number): void {
    option[0] = value;
    setsockopt(descriptor, level, name, option, option.byteLength);
  }

  return {
    // The size of the kernel's descriptor table is at most about twice the number that was needed.
    // Listing the descriptors takes milliseconds when there are thousands.
    bound: () => statusNumber(/^FDSize:\s*(\d+)$/m),
    residentBytes: () => statusNumber(/^VmRSS:\s*(\d+) kB$/m) * 1024,
    local: (descriptor) => addressBy(getsockname, descriptor),
    identity(descriptor) {
      size[0] = cookie.byteLength;
      const isRead = getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, cookie, size) === 0;
      if (!isRead) return addressBy(getpeername, descriptor);
      return (cookie[1] ?? 0) * 2 ** 32 + (cookie[0] ?? 0);
    },
    remote: (descriptor) => addressBy(getpeername, descriptor),
    isListening(descriptor) {
      size[0] = option.byteLength;
      const isRead = getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, option, size) === 0;
      return isRead && option[0] === 1;
    },
    traffic(descriptor) {
      size[0] = info.length;
      const isRead = getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, size) === 0;
      if (!isRead || (size[0] ?? 0) < MIN_TCP_INFO_BYTES) return null;
      const unsentBytes = fields.getUint32(UNSENT_BYTES_OFFSET, true);
      const acknowledgedBytes = countAt(ACKNOWLEDGED_BYTES_OFFSET);
      return {
        receivedBytes: countAt(RECEIVED_BYTES_OFFSET),
        silentMs: fields.getUint32(LAST_RECEIVED_MS_OFFSET, true),
        isDelivered: fields.getUint32(UNACKED_SEGMENTS_OFFSET, true) === 0 && unsentBytes === 0,
        acknowledgedBytes,
        writtenBytes: (sentBytes() ?? acknowledgedBytes) + unsentBytes,
        unsentBytes,
      };
    },
    unreadBytes: (descriptor) =>
      ioctl(descriptor, BigInt(FIONREAD), unread) === 0 ? unread[0] ?? 0 : 0,
    peek(descriptor) {
      const read = libc.symbols.recv(descriptor, peeked, BigInt(peeked.length), PEEK_CODE);
      return peeked.subarray(0, Math.max(0, Number(read)));
    },
    shutDown: (descriptor) => void shutdown(descriptor, SHUT_RDWR),
    abort(descriptor) {
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, noLinger, noLinger.byteLength);
      shutdown(descriptor, SHUT_RDWR);
      libc.symbols.recv(descriptor, peeked, BigInt(MAX_DISCARDED_BYTES), DISCARD_CODE);
    },
    setBacklog: (descriptor, connections) => void libc.symbols.listen(descriptor, connections),
    setNoDelay: (descriptor) => set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1),
    dropHttp2(descriptor) {
      // Deno's own function for an address needs the permission to call every library.
      filterHead.setBigUint64(8, libc.symbols.memcpy(filter, filter, 0n), true);
      const size = filterHead.byteLength;
      // Else the kernel takes an urgent byte out of the stream, behind which the preface begins.
      set(descriptor, SOL_SOCKET, SO_OOBINLINE, 1);
      return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, filterHead, size) === 0;
    },
    acceptAll: (descriptor) => set(descriptor, SOL_SOCKET, SO_DETACH_FILTER, 0),
    setReceiveBuffer: (descriptor, bytes) => set(descriptor, SOL_SOCKET, SO_RCVBUF, bytes),
    setKeepAlive(descriptor, firstS, intervalS, maxProbes) {
      set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
      set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, firstS);
      set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, intervalS);
      set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, maxProbes);
    },
    lowestFree() {
      // The descriptor `status` is open as long as the sockets are.
      const free = libc.symbols.dup(status);
      if (free >= 0) libc.symbols.close(free);
      return free >= 0 ? free : null;
    },
    close() {
      libc.symbols.close(status);
      libc.close();
    },
  };
}

/** Paths of libc on the Linux systems that Deno supports. */
const LIBRARIES = [
  "/lib/x86_64-linux-gnu/libc.so.6",
  "/lib/aarch64-linux-gnu/libc.so.6",
  "/lib64/libc.so.6",
  "/usr/lib/libc.so.6",
];

/** Returns the path of the C library; undefined if it is not found. */
export function libcPath(): string | undefined {
  return LIBRARIES.find(exists);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
