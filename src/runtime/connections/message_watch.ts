// Until Deno's WebSocket reports a message that has begun, or bounds its size.

import { type FoundSocket, openDescriptor, type Sockets } from "../sockets.ts";
import type { World } from "../../core/world.ts";
import { hasMoreEmptyFrames } from "./empty_frames.ts";
import type { Connection } from "./connection.ts";
import { type Handshake, type OpenSocket, stateOf } from "./handshakes.ts";
import type { MessageWatch, UnfinishedMessage } from "../peer.ts";

/**
 * Interval between two checks; and the one within `FLOOD_MS` after a flood of frames. The runtime
 * serves several floods one after the other, each until it is ended or has no more frames, and
 * nothing else of what it can read.
 */
const CHECK_INTERVAL_MS = 50, FLOOD_INTERVAL_MS = 5, FLOOD_MS = 1_000;

/**
 * Maximum number of sockets that are checked in one turn of the event loop; further sockets are
 * checked in later turns.
 */
const MAX_CHECKS_PER_TURN = 256;

/**
 * Bytes of pings and pongs that a client may send between two messages: at once, in a second, and
 * in all. They look like a message that has begun.
 */
const MIN_CONTROL_BYTES = 1024, MAX_CONTROL_BYTES_PER_S = 32, MAX_CONTROL_BYTES = 64 * 1024;

/**
 * Bytes of pongs, besides those in a second, that a client may make the runtime send: a flood of
 * pings, of two or six bytes each, keeps it from reading anything else. With the second number
 * there is no time for a close frame.
 */
const MAX_PONG_BYTES = 1024, MAX_CLOSING_PONG_BYTES = 2048;

/**
 * Frames of a socket that bring nothing and may wait in the kernel, and the size of the smallest.
 * While the runtime serves one flood, each of the floods that wait for it will delay everything
 * else by milliseconds.
 */
const MAX_WAITING_FRAMES = 64, MIN_FRAME_BYTES = 2;

/**
 * Bytes that are searched for them in one turn of the event loop, which takes milliseconds; the
 * other sockets are the first that are checked in the next turn.
 */
const MAX_SEARCHED_BYTES = 1024 * 1024;

/**
 * Sockets that may have more, until the runtime has read some: a message of one and the same byte
 * looks like such frames with one mask in about 100.
 */
const MAX_FLOODING_SOCKETS = 2;

/** Bytes of the response to a handshake, which may be written after the watch begins. */
const MAX_UPGRADE_BYTES = 1024;

/**
 * Heads of frames are at most this part of a message that comes in fragments, unless they are tiny.
 */
const MAX_HEADS_PART = 1 / 64;

/**
 * Received bytes of a socket that may wait in the kernel: the most, and the least. Measured: with
 * the megabytes that it permits else, 320 sockets that send at once block the event loop for
 * seconds.
 */
const MAX_RECEIVE_BUFFER_BYTES = 64 * 1024, MIN_RECEIVE_BUFFER_BYTES = 4 * 1024;

/**
 * The same for all sockets with an unfinished message together, down to the least. The runtime
 * reads a message as long as there is more of it, before it reads anything of an upstream.
 * Measured: 320 sockets with the most delay the call of another client by seconds.
 */
const MAX_SUM_OF_BUFFERS_BYTES = 2 * 1024 * 1024;

/** Size of the head of a frame without a mask, for a payload of more than 65,535 bytes. */
const MAX_SENT_HEAD_BYTES = 10;

/** Size of the head of a frame with its mask, for a payload of more than 65,535 bytes. */
const MAX_FRAME_HEAD_BYTES = 14;

/** The handshake of a WebSocket, with the least size of its head. */
interface Answered extends Handshake {
  readonly headBytes: number;
}

interface Watched {
  readonly connection: Connection;
  readonly handshake: Answered;
  /** Its socket, from when that is known on; no other one is looked at. */
  at: OpenSocket | null;
  /** True if a search for it has begun. */
  isSought: boolean;
  /** True if it ends once it is known. */
  isAborted: boolean;
  readonly onCheck: (unfinished: UnfinishedMessage) => void;
  /** Received bytes of the connection at the end of the last message, or of the handshake. */
  baseBytes: number;
  /** Time of the end of the last message. */
  sinceMs: number;
  /** Time at which the watch began. */
  readonly beganMs: number;
  /** Bytes that were written before the handshake was answered, or soon after. */
  earlyBytes: number;
  /** Bytes that were written before any message or pong; null before the first check. */
  upgradeBytes: number | null;
  /** Bytes of the messages that were sent to it. */
  sentBytes: number;
  /** Bound that was set for the bytes that wait in the kernel; 0 for none. */
  bufferBytes: number;
  /** True if the last check has found an unfinished message. */
  isArriving: boolean;
  /** True if the last check has found many empty frames in the kernel, or a message like them. */
  isFlooding: boolean;
}

interface SocketTraffic extends OpenSocket {
  /** Bytes that wait in the kernel, and may belong to the next message. */
  readonly unreadBytes: number;
}

/**
 * Returns a watcher that measures the unfinished messages of WebSockets, whose fragments the
 * runtime joins before anything of them arrives here: by what their sockets have received. `find`
 * returns the socket of a WebSocket, null if it is not known; then `searchSoon` hurries the search
 * of all, and `searched` resolves after it.
 */
export function newMessageWatches(
  sockets: Pick<
    Sockets,
    "traffic" | "unreadBytes" | "peek" | "identity" | "setReceiveBuffer" | "abort"
  >,
  clock: Pick<World, "now" | "after">,
  { find, searchSoon, searched, abortSoon }: {
    find(connection: Connection, handshake: Handshake, isSearched: boolean): OpenSocket | null;
    searchSoon(): void;
    searched(): Promise<void>;
    abortSoon(connection: Connection, socket: FoundSocket): void;
  },
) {
  /** Sockets in the order of their next check. */
  const watches = new Set<Watched>();
  /** Number of sockets with an unfinished message. */
  let arriving = 0;
  /** Number of sockets with many empty frames in the kernel. */
  let flooding = 0;
  /** Bytes without many empty frames that were searched in this turn of the event loop. */
  let searchedBytes = 0;
  /** Time of the last flood. */
  let floodMs = -Infinity;
  let cancel: (() => void) | null = null;

  function look() {
    cancel = null;
    let looks = Math.min(watches.size, MAX_CHECKS_PER_TURN);
    searchedBytes = 0;
    for (const watched of watches) {
      if (looks-- === 0 || searchedBytes >= MAX_SEARCHED_BYTES) break;
      if (watched.connection.isGone) {
        forget(watched);
        continue;
      }
      watches.delete(watched);
      watches.add(watched);
      check(watched);
    }
    const isFlood = clock.now() - floodMs < FLOOD_MS;
    const intervalMs = isFlood ? FLOOD_INTERVAL_MS : CHECK_INTERVAL_MS;
    if (watches.size > 0) cancel ??= clock.after(intervalMs, look);
  }

  function check(watched: Watched) {
    if (!bound(watched)) {
      if (!watched.isSought) void search(watched);
      return;
    }
    const traffic = trafficOf(watched);
    if (traffic === null) return;
    const { readBytes, writtenBytes } = traffic;
    const pongBytes = excessPongBytes(watched, writtenBytes);
    setFlooding(watched, hasManyEmptyFrames(traffic));
    const isWaiting = watched.isFlooding && flooding > MAX_FLOODING_SOCKETS;
    const isFlood = isWaiting || pongBytes > MAX_PONG_BYTES;
    // A client may have come back from the port of a connection that was closed: then all of it
    // counts.
    if (readBytes < watched.baseBytes) watched.baseBytes = 0;
    const bytes = readBytes - watched.baseBytes;
    const isMessage = bytes > controlBytes(watched);
    setArriving(watched, isMessage);
    watched.onCheck({ bytes, isMessage, ...isFlood && { isFlood } });
    if (isFlood || watched.isFlooding) floodMs = clock.now();
    if (isWaiting || pongBytes > MAX_CLOSING_PONG_BYTES) abort(watched);
  }

  /** True if more empty frames wait in the kernel than may. */
  function hasManyEmptyFrames({ descriptor, unreadBytes }: SocketTraffic): boolean {
    if (unreadBytes <= MAX_WAITING_FRAMES * MIN_FRAME_BYTES) return false;
    const bytes = sockets.peek(descriptor);
    const isMany = hasMoreEmptyFrames(bytes, MAX_WAITING_FRAMES);
    if (!isMany) searchedBytes += bytes.length;
    return isMany;
  }

  /** Ends a connection at once, and with it what it has sent: the runtime would read all of it. */
  function abort(watched: Watched) {
    const descriptor = watched.at === null ? null : openDescriptor(sockets, watched.at);
    if (descriptor === null) return;
    sockets.abort(descriptor);
    forget(watched);
  }

  /** Looks at all sockets, and gives up the WebSocket if it is not known then which one it has. */
  async function search(watched: Watched) {
    watched.isSought = true;
    await searched();
    if (!watches.has(watched) || bound(watched, true)) return;
    forget(watched);
    watched.onCheck({ bytes: 0, isMessage: false, isUnknown: true });
  }

  /** Keeps the socket of a WebSocket, whose bytes are no heads of requests from now on. */
  function bind(watched: Watched, at: OpenSocket) {
    const { connection, handshake: { known, requests, headBytes } } = watched;
    const before = known.get(at.socket);
    watched.at = at;
    // On the first request of a connection some of the message may have been read before.
    const startBytes = requests === 1 ? headBytes : before?.readBytes ?? headBytes;
    // Whole messages may have arrived since.
    watched.baseBytes += startBytes - headBytes;
    watched.earlyBytes = before?.writtenBytes ?? at.writtenBytes;
    connection.webSockets++;
    const state = stateOf(connection, at.socket);
    if (state !== null) state.isWatched = true;
    if (watched.isAborted) abortSoon(connection, at);
  }

  /** Lets the bytes of a socket count again that arrive from now on. */
  function unbind(watched: Watched) {
    const { connection, at } = watched;
    if (at === null) return;
    watched.at = null;
    connection.webSockets--;
    const state = stateOf(connection, at.socket);
    const descriptor = openDescriptor(sockets, at);
    if (state === null || descriptor === null) return;
    state.isWatched = false;
    state.countedBytes = sockets.traffic(descriptor)?.receivedBytes ?? 0;
  }

  function forget(watched: Watched) {
    watches.delete(watched);
    setArriving(watched, false);
    setFlooding(watched, false);
  }

  /** Returns what was written besides the messages sent to a client and a few pongs. */
  function excessPongBytes(watched: Watched, writtenBytes: number): number {
    const { earlyBytes } = watched;
    watched.upgradeBytes ??= Math.min(writtenBytes, earlyBytes + MAX_UPGRADE_BYTES);
    const seconds = (clock.now() - watched.beganMs) / 1_000;
    const pongBytes = writtenBytes - watched.upgradeBytes - watched.sentBytes;
    return pongBytes - seconds * MAX_CONTROL_BYTES_PER_S;
  }

  function setArriving(watched: Watched, isArriving: boolean) {
    if (watched.isArriving !== isArriving) arriving += isArriving ? 1 : -1;
    watched.isArriving = isArriving;
  }

  function setFlooding(watched: Watched, isFlooding: boolean) {
    if (watched.isFlooding !== isFlooding) flooding += isFlooding ? 1 : -1;
    watched.isFlooding = isFlooding;
  }

  /** Bounds the bytes that wait in the kernel. Returns false while the socket is not known. */
  function bound(watched: Watched, isSearched = false): boolean {
    if (watched.at === null) {
      const found = find(watched.connection, watched.handshake, isSearched);
      if (found === null) return false;
      bind(watched, found);
    }
    const bufferBytes = receiveBufferBytes(arriving);
    const descriptor = watched.at === null || bufferBytes === watched.bufferBytes
      ? null
      : openDescriptor(sockets, watched.at);
    if (descriptor !== null) sockets.setReceiveBuffer(descriptor, bufferBytes);
    watched.bufferBytes = bufferBytes;
    return true;
  }

  /** Returns what the socket of a WebSocket has read and written; null if it is not open. */
  function trafficOf({ at }: Watched): SocketTraffic | null {
    const descriptor = at === null ? null : openDescriptor(sockets, at);
    const traffic = descriptor === null ? null : sockets.traffic(descriptor);
    if (at === null || descriptor === null || traffic === null) return null;
    const { receivedBytes, writtenBytes } = traffic;
    const unreadBytes = sockets.unreadBytes(descriptor);
    return { ...at, writtenBytes, unreadBytes, readBytes: receivedBytes - unreadBytes };
  }

  /** Returns how many bytes since the last message may be pings and pongs. */
  function controlBytes({ sinceMs }: Watched): number {
    const seconds = (clock.now() - sinceMs) / 1_000;
    return Math.min(
      MAX_CONTROL_BYTES,
      MIN_CONTROL_BYTES + Math.floor(seconds * MAX_CONTROL_BYTES_PER_S),
    );
  }

  /**
   * Returns the received bytes at the end of a message: the runtime may have read more than that.
   */
  function endOf(watched: Watched, messageBytes: number): number {
    const endBytes = watched.baseBytes + messageBytes;
    const heads = MAX_FRAME_HEAD_BYTES + Math.ceil(messageBytes * MAX_HEADS_PART);
    const readBytes = trafficOf(watched)?.readBytes ?? endBytes;
    return Math.min(readBytes, endBytes + heads + controlBytes(watched));
  }

  return {
    /**
     * Watches a connection that has just been upgraded, and calls `onCheck` with its unfinished
     * message at each check.
     */
    add(
      connection: Connection,
      handshake: Answered,
      onCheck: (unfinished: UnfinishedMessage) => void,
    ): MessageWatch {
      const watched: Watched = {
        connection,
        handshake,
        at: null,
        isSought: false,
        isAborted: false,
        onCheck,
        baseBytes: handshake.headBytes,
        sinceMs: clock.now(),
        beganMs: clock.now(),
        earlyBytes: 0,
        upgradeBytes: null,
        sentBytes: 0,
        bufferBytes: 0,
        isArriving: false,
        isFlooding: false,
      };
      watches.add(watched);
      if (!bound(watched)) searchSoon();
      cancel ??= clock.after(CHECK_INTERVAL_MS, look);
      return {
        arrived(messageBytes) {
          watched.baseBytes = endOf(watched, messageBytes);
          watched.sinceMs = clock.now();
          setArriving(watched, false);
        },
        sent(messageBytes) {
          watched.sentBytes += messageBytes + MAX_SENT_HEAD_BYTES;
        },
        abort() {
          watched.isAborted = true;
          if (watched.at !== null) abortSoon(connection, watched.at);
        },
        end() {
          forget(watched);
          unbind(watched);
        },
      };
    },
    close(): void {
      cancel?.();
      watches.clear();
    },
  };
}

/**
 * Returns the bytes of one socket that may wait in the kernel: halved until those of all fit, so
 * that it rarely changes.
 */
function receiveBufferBytes(arriving: number): number {
  let bytes = MAX_RECEIVE_BUFFER_BYTES;
  while (bytes > MIN_RECEIVE_BUFFER_BYTES && bytes * arriving > MAX_SUM_OF_BUFFERS_BYTES) {
    bytes /= 2;
  }
  return bytes;
}
