import type { Sockets, Traffic } from "../../src/runtime/sockets.ts";

/** The traffic of a connection without any byte. */
export const SILENT: Traffic = {
  receivedBytes: 0,
  silentMs: 0,
  isDelivered: true,
  acknowledgedBytes: 0,
  writtenBytes: 0,
  unsentBytes: 0,
};

/** A socket that exists only in a test. */
export interface ScriptedSocket {
  readonly identity: number;
  readonly local: string;
  readonly remote: string | null;
  receivedBytes: number;
  /** When data was received last, or the connection was opened. */
  receivedMs: number;
  isDelivered: boolean;
  acknowledgedBytes: number;
  writtenBytes: number;
  unsentBytes: number;
  unreadBytes: number;
  /** Beginning of what is unread. */
  unread: Uint8Array;
  /** Bound that was set for the bytes that wait in the kernel; null for none. */
  receiveBufferBytes: number | null;
  isShutDown: boolean;
}

/** Descriptors that exist only in a test. */
export interface ScriptedSockets extends Sockets {
  /** Open sockets by number. */
  readonly open: Map<number, ScriptedSocket>;
  /** Numbers whose remote end was looked at since the count was set to 0. */
  looks: number;
  /** Numbers whose identity was looked at since then. */
  identityLooks: number;
  /** Resident memory in bytes; 0 if it is not known. */
  resident: number;
  /** Descriptors that `acceptAll` was called with. */
  readonly accepting: number[];
  isClosed: boolean;
}

let sockets = 0;

/** Returns a socket that is opened at this time. */
export function scriptedSocket(
  local: string,
  remote: string | null,
  receivedMs = 0,
): ScriptedSocket {
  return {
    identity: ++sockets,
    local,
    remote,
    receivedBytes: 0,
    receivedMs,
    isDelivered: true,
    acknowledgedBytes: 0,
    writtenBytes: 0,
    unsentBytes: 0,
    unreadBytes: 0,
    unread: new Uint8Array(),
    receiveBufferBytes: null,
    isShutDown: false,
  };
}

/** Returns descriptors below `bound`, of which none is open yet. */
export function scriptedSockets(bound: number, now = () => 0): ScriptedSockets {
  const open = new Map<number, ScriptedSocket>();
  return {
    open,
    looks: 0,
    identityLooks: 0,
    resident: 0,
    accepting: [],
    isClosed: false,
    bound: () => bound,
    residentBytes() {
      return this.resident;
    },
    local: (descriptor) => open.get(descriptor)?.local ?? null,
    identity(descriptor) {
      this.identityLooks++;
      return open.get(descriptor)?.identity ?? null;
    },
    remote(descriptor) {
      this.looks++;
      return open.get(descriptor)?.remote ?? null;
    },
    isListening: (descriptor) => open.get(descriptor)?.remote === null,
    traffic(descriptor) {
      const socket = open.get(descriptor);
      if (socket === undefined) return null;
      return { ...socket, silentMs: now() - socket.receivedMs };
    },
    unreadBytes: (descriptor) => open.get(descriptor)?.unreadBytes ?? 0,
    peek: (descriptor) => open.get(descriptor)?.unread ?? new Uint8Array(),
    shutDown(descriptor) {
      const socket = open.get(descriptor);
      if (socket !== undefined) socket.isShutDown = true;
    },
    abort(descriptor) {
      const socket = open.get(descriptor);
      if (socket !== undefined) Object.assign(socket, { isShutDown: true, unreadBytes: 0 });
    },
    setBacklog() {},
    setNoDelay() {},
    dropHttp2: () => true,
    acceptAll(descriptor) {
      this.accepting.push(descriptor);
    },
    setReceiveBuffer(descriptor, bytes) {
      const socket = open.get(descriptor);
      if (socket !== undefined) socket.receiveBufferBytes = bytes;
    },
    setKeepAlive() {},
    lowestFree: () => null,
    close() {
      this.isClosed = true;
    },
  };
}
