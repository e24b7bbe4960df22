// Until `Deno.serve` has timeouts for idle and slow clients.

import { openDescriptor, type SocketIdentity, type Sockets } from "../sockets.ts";
import { MAX_STEPS_PER_TURN, walk } from "../walk.ts";
import type { World } from "../../core/world.ts";
import {
  type Connection,
  isTooSlow,
  NOTHING_WAITS,
  type OtherSocket,
  parseKey,
  socketState,
  writeStateAt,
} from "./connection.ts";
import { newDeliveries } from "./deliveries.ts";
import { newEndings } from "./endings.ts";
import { listenerFields } from "../listener_request.ts";
import type { Peer } from "../peer.ts";
import { newSearch } from "./search.ts";
import { newMessageWatches } from "./message_watch.ts";
import { newUnfinishedHeads } from "./unfinished_heads.ts";
import { headSince, type IdleLimits, isOverdue, isTaking, newIdleState } from "./idle_rules.ts";

/** The client connections of one listener. */
export interface Connections {
  /** Returns the peer of a request, which is in flight until `info.completed` settles. */
  enter(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Peer;
  /** Stops the supervision; the connections stay open. */
  close(): void;
}

/** Interval between two sweeps over all descriptors; shorter for shorter timeouts. */
const MAX_SWEEP_INTERVAL_MS = 5_000, MIN_SWEEP_INTERVAL_MS = 50;

/**
 * Interval between two looks at the process. A sweep follows at once if its resident memory has
 * grown by more than this since the last sweep, because bytes that arrive before a request are held
 * without it, or if a look is later than this: the runtime may serve a flood below requests.
 */
const LOOK_INTERVAL_MS = 50, MAX_UNSEEN_BYTES = 16 * 1024 * 1024, MAX_LATE_MS = 100;

/**
 * Descriptors that such a sweep looks at in one turn of the event loop: a turn in which connections
 * bring many bytes takes up to a second.
 */
const MAX_URGENT_STEPS = 4_096;

/**
 * Bytes that arrived less than this many milliseconds ago may still wait for the runtime to read
 * them.
 */
const MAX_UNREAD_MS = 1_000;

/** The admission of a request of which nothing is counted. */
const NOTHING_COUNTED = () => {};

/** The answer for such a request whether its connection ends after the response. */
const NEVER_LAST = () => false;

/** Time between two slices of a sweep that nothing waits for, in milliseconds. */
const SLICE_PAUSE_MS = 5;

/** Maximum descriptors per millisecond, which bounds the work of sweeps that follow each other. */
const MAX_DESCRIPTORS_PER_MS = 50;

/**
 * Descriptors below and above the lowest free one that are looked at for a connection of which no
 * sweep knows.
 */
const MAX_NEAR_DESCRIPTORS = 32;

/**
 * The same where the connection must be found now: that of a WebSocket, because many may be opened
 * at once, and that of a response, whose client may send its next request. A search goes as far
 * beyond the highest one known.
 */
const MAX_URGENT_DESCRIPTORS = 512;

/** Lowest free descriptors of the last looks that are kept: a new connection mostly has one. */
const MAX_FREED = 64;

/**
 * Returns the supervision of the client connections of the listener at `address`. Connections that
 * are idle for longer than the limits, and those whose client takes its responses too slowly, are
 * closed, which the runtime itself never does. Sweeps over the descriptors of the process find the
 * connections, because the runtime reports a connection only with its requests. Without `http2`
 * those that speak it, although their first bytes are dropped, are reset.
 */
export function newConnections(
  sockets: Sockets,
  address: Pick<Deno.NetAddr, "hostname" | "port">,
  limits: IdleLimits & { readonly http2: boolean },
  clock: Pick<World, "now" | "after">,
): Connections {
  const byKey = new Map<string, Connection>();
  const byDescriptor = new Map<number, Connection>();
  const isOurs = localEnds(address);
  const intervalMs = sweepInterval(limits);
  const endings = newEndings(sockets, clock, { locate, sweepSoon });
  const heads = newUnfinishedHeads(sockets, clock);
  const watches = newMessageWatches(sockets, clock, sweepSoon);
  const search = newSearch(clock, {
    bound: () => Math.max(lowestFree() ?? 0, top, formerTop) + MAX_URGENT_DESCRIPTORS,
    found,
  });
  const deliveries = newDeliveries(sockets, clock, {
    locate,
    locateNow: (connection) => locate(connection, MAX_URGENT_DESCRIPTORS),
  });
  /** Tasks that wait for the end of a sweep. */
  const afterSweep: (() => void)[] = [];
  /** The highest descriptor of a client connection found since the last sweep began. */
  let top = 0;
  /** The same between the two sweeps before. */
  let formerTop = 0;
  /** The lowest free descriptors of the last looks, without repetitions, the oldest first. */
  const freed = new Set<number>();
  let sweeps = 0;
  let isSweeping = false;
  let isHurried = false;
  /** True if the next sweep takes no pauses. */
  let isUrgent = false;
  let earliestMs = 0;
  let isClosed = false;
  let cancel = clock.after(intervalMs, sweep);
  /** The least resident memory since the last sweep began. */
  let residentBytes = sockets.residentBytes();
  let cancelLook = residentBytes > 0 ? clock.after(LOOK_INTERVAL_MS, look) : null;
  let lookedMs = clock.now();

  function add(key: string): Connection {
    const connection: Connection = {
      key,
      remoteAddr: parseKey(key),
      descriptor: null,
      socket: null,
      others: null,
      sweep: sweeps,
      isGone: false,
      requests: 0,
      inFlight: 0,
      isEnding: false,
      write: NOTHING_WAITS,
      ...newIdleState(clock.now()),
      writtenBytes: 0,
      endedMs: 0,
      requestBytes: 0,
      countedBytes: 0,
      lookedRequests: 0,
      unfinished: null,
      acceptsAll: false,
      ended() {
        connection.inFlight--;
        connection.endedMs = clock.now();
        if (connection.others !== null) return;
        connection.hasServed = true;
        connection.sinceMs = connection.endedMs;
        if (connection.isEnding && connection.inFlight === 0) endings.afterDelivery(connection);
      },
      isShared: () => connection.isMultiplexed || connection.inFlight > 1,
      waitsInSystem: () => connection.write.behindSinceMs !== null,
      disconnect() {
        // It might end another one; the timeouts of each end its own.
        if (connection.others !== null) return;
        connection.isEnding = true;
        if (connection.inFlight === 0) endings.afterDelivery(connection);
      },
      abort: () => endings.soon(connection),
      async located() {
        if (isClosed || findNow(connection)) return;
        await search.find(connection);
        // A sweep that is under way may have passed its descriptor.
        for (let left = isSweeping ? 2 : 1; left > 0; left--) {
          if (isClosed || findNow(connection)) return;
          await new Promise<void>((go) => void afterSweep.push(go));
        }
      },
      watchMessages(headBytes, onCheck) {
        connection.inFlight++;
        findNow(connection);
        // The frames that follow belong to no request.
        connection.requestBytes = Infinity;
        const { arrived, sent, end } = watches.add(connection, headBytes, onCheck);
        let isOver = false;
        return {
          arrived,
          sent,
          end() {
            if (isOver) return;
            isOver = true;
            end();
            connection.ended();
          },
        };
      },
    };
    byKey.set(key, connection);
    return connection;
  }

  /** Returns true if the descriptor is known, or found where the kernel puts new ones. */
  function findNow(connection: Connection): boolean {
    connection.descriptor = openDescriptor(sockets, connection);
    if (connection.descriptor !== null) return true;
    for (const descriptor of freed) {
      if (found(descriptor) === connection) return true;
    }
    locate(connection, MAX_URGENT_DESCRIPTORS);
    return connection.descriptor !== null;
  }

  /** Returns the lowest free descriptor, and keeps it. */
  function lowestFree(): number | null {
    const free = sockets.lowestFree();
    if (free === null) return null;
    freed.delete(free);
    freed.add(free);
    for (const oldest of freed) {
      if (freed.size <= MAX_FREED) break;
      freed.delete(oldest);
    }
    return free;
  }

  /**
   * Looks for a connection where the kernel puts new ones, else with the next sweep. The
   * connections on the way are found too: each of many that arrive at once would else be compared
   * with all.
   */
  function locate(connection: Connection, maxAway = MAX_NEAR_DESCRIPTORS) {
    const free = lowestFree();
    for (let away = 1; free !== null && away <= maxAway; away++) {
      for (const descriptor of [free - away, free + away]) {
        if (found(descriptor) === connection) return;
      }
    }
    sweepSoon();
  }

  /** Schedules the next sweep early, to find the descriptor of a connection. */
  function sweepSoon() {
    if (isHurried || isClosed) return;
    isHurried = true;
    if (!isSweeping) plan();
  }

  function look() {
    cancelLook = clock.after(LOOK_INTERVAL_MS, look);
    const now = clock.now();
    lowestFree();
    const lateMs = now - lookedMs - LOOK_INTERVAL_MS;
    lookedMs = now;
    const bytes = sockets.residentBytes();
    if (bytes - residentBytes > MAX_UNSEEN_BYTES || lateMs > MAX_LATE_MS) {
      isUrgent = true;
      if (isSweeping || now < earliestMs) sweepSoon();
      else {
        cancel();
        sweep();
      }
    }
    residentBytes = Math.min(residentBytes, bytes);
  }

  function plan() {
    cancel();
    const ms = isHurried ? Math.max(0, earliestMs - clock.now()) : intervalMs;
    cancel = clock.after(ms, sweep);
  }

  function sweep() {
    sweeps++;
    formerTop = top;
    top = 0;
    residentBytes = sockets.residentBytes();
    const pauseMs = isHurried || isUrgent ? 0 : SLICE_PAUSE_MS;
    const maxSteps = isUrgent ? MAX_URGENT_STEPS : MAX_STEPS_PER_TURN;
    isSweeping = true;
    isHurried = false;
    isUrgent = false;
    const later = (task: () => void) => {
      if (!isClosed) cancel = clock.after(pauseMs, task);
    };
    const bound = sockets.bound();
    walk(
      bound,
      (descriptor) => {
        const connection = found(descriptor);
        if (connection !== null) inspect(connection, descriptor);
        return true;
      },
      later,
      () => {
        if (!heads.end()) isHurried = isUrgent = true;
        forgetGone(later, bound, maxSteps);
      },
      maxSteps,
    );
  }

  /** Returns the client connection of a descriptor; null for any other descriptor. */
  function found(descriptor: number): Connection | null {
    const socket = sockets.identity(descriptor);
    const known = byDescriptor.get(descriptor);
    if (known !== undefined && known.socket === socket && !known.isGone) {
      top = Math.max(top, descriptor);
      return known;
    }
    if (known !== undefined) byDescriptor.delete(descriptor);
    const remote = socket === null ? null : sockets.remote(descriptor);
    if (remote === null || !isOurs(sockets.local(descriptor))) return null;
    const connection = byKey.get(remote) ?? add(remote);
    byDescriptor.set(descriptor, connection);
    top = Math.max(top, descriptor);
    begin(connection, descriptor, socket);
    return connection;
  }

  /**
   * Begins or continues the state of a socket. Requests that have arrived belong to it if it is the
   * first; else its client has come back from the same port, or has connected from it to another
   * address of this system, and nothing is known of which socket a request was.
   */
  function begin(connection: Connection, descriptor: number, socket: SocketIdentity | null) {
    const isOther = connection.socket !== null && connection.socket !== socket;
    const known = isOther ? keepOther(connection, socket) : null;
    if (known !== null) Object.assign(connection, known);
    else if (isOther || connection.requests === 0) {
      const traffic = sockets.traffic(descriptor);
      const writtenBytes = traffic?.writtenBytes ?? 0;
      const sinceMs = clock.now() - (traffic?.silentMs ?? 0);
      const { isMultiplexed } = connection;
      Object.assign(connection, newIdleState(sinceMs, isOther && writtenBytes > 0));
      // Only the last request shows whether the one that stays open speaks HTTP/2.
      if (connection.others !== null) connection.isMultiplexed = isMultiplexed;
      connection.writtenBytes = writtenBytes;
    }
    if (isOther && known === null) {
      heads.begin(connection);
      connection.acceptsAll = false;
      connection.write = NOTHING_WAITS;
    }
    if (isOther) connection.isEnding = false;
    connection.descriptor = descriptor;
    connection.socket = socket;
  }

  /**
   * Keeps the state of the socket of a connection, if that is open, while the connection has that
   * of `next`. Returns the latter; null if it is not known.
   */
  function keepOther(connection: Connection, next: SocketIdentity | null): OtherSocket | null {
    const others = connection.others ?? new Map();
    const known = next === null ? undefined : others.get(next);
    if (next !== null) others.delete(next);
    if (connection.socket !== null && openDescriptor(sockets, connection) !== null) {
      if (connection.others === null) heads.beginShared(connection);
      others.set(connection.socket, socketState(connection));
    } else connection.requestBytes = 0;
    connection.others = others.size === 0 ? null : others;
    return known ?? null;
  }

  /** Forgets those of the sockets with one remote end that have closed. */
  function forgetClosed(connection: Connection, others: Map<SocketIdentity, OtherSocket>) {
    for (const [socket, { descriptor }] of others) {
      if (openDescriptor(sockets, { descriptor, socket }) !== null) continue;
      others.delete(socket);
      // Some of it may have been requested on this one, and would hide heads on the rest.
      connection.requestBytes = 0;
    }
    if (others.size === 0) connection.others = null;
  }

  function inspect(connection: Connection, descriptor: number) {
    connection.sweep = sweeps;
    const traffic = sockets.traffic(descriptor);
    if (traffic === null) return;
    // Its first bytes were accepted, so it is not one of HTTP/2.
    if (!connection.acceptsAll && traffic.receivedBytes > 0) {
      sockets.acceptAll(descriptor);
      connection.acceptsAll = true;
    }
    const now = clock.now();
    connection.write = writeStateAt(connection.write, traffic, now);
    if (isTooSlow(connection.write, now, limits.writeMs)) return sockets.abort(descriptor);
    // A server of HTTP/2 writes before any request, one of HTTP/1.1 only when it ends.
    const speaksHttp2 = connection.requests === 0 && traffic.writtenBytes > 0;
    if (speaksHttp2 && !limits.http2) return sockets.abort(descriptor);
    // The requests in flight may be those of another socket.
    const isAlone = connection.others === null;
    const isUnsure = !isAlone || connection.lookedRequests === null;
    if (connection.inFlight === 0 || isUnsure) heads.look(connection, traffic, { isAlone });
    if (connection.inFlight > 0) return;
    // A response is on the socket that was written to.
    if (traffic.writtenBytes > connection.writtenBytes && connection.endedMs > connection.sinceMs) {
      connection.hasServed = true;
      connection.sinceMs = connection.endedMs;
      connection.headSinceMs = null;
    }
    connection.writtenBytes = traffic.writtenBytes;
    if (isTaking(connection, traffic)) {
      connection.sinceMs = now;
      connection.headSinceMs = null;
    }
    connection.acknowledgedBytes = traffic.acknowledgedBytes;
    connection.headSinceMs = headSince(connection, traffic, now);
    if (!isOverdue(connection, now, limits)) return;
    // On HTTP/2 what has just arrived and waits to be read may be a request.
    const isArriving = connection.isMultiplexed && traffic.silentMs < MAX_UNREAD_MS;
    if (isArriving && sockets.unreadBytes(descriptor) > 0) return;
    sockets.shutDown(descriptor);
  }

  /** Removes the connections that the sweep has not found, and schedules the next sweep. */
  function forgetGone(later: (task: () => void) => void, bound: number, maxSteps: number) {
    const all = byKey.values();

    function go() {
      for (let steps = 0; steps < maxSteps; steps++) {
        const { done, value } = all.next();
        if (done === true) return finish(bound);
        if (value.sweep === sweeps) {
          if (value.others !== null) forgetClosed(value, value.others);
          continue;
        }
        value.isGone = true;
        byKey.delete(value.key);
        if (value.descriptor !== null && byDescriptor.get(value.descriptor) === value) {
          byDescriptor.delete(value.descriptor);
        }
      }
      later(go);
    }

    go();
  }

  function finish(bound: number) {
    isSweeping = false;
    earliestMs = clock.now() + bound / MAX_DESCRIPTORS_PER_MS;
    if (!isClosed) plan();
    for (const go of afterSweep.splice(0)) go();
  }

  return {
    enter(request, { remoteAddr: { hostname, port }, completed }) {
      const key = `${hostname} ${port}`;
      const known = byKey.get(key);
      // The next connection will have it, unless another closes before.
      if (known === undefined) lowestFree();
      const connection = known ?? add(key);
      // It may have come back from its port with a descriptor that the sweep has passed.
      connection.sweep = sweeps;
      // HTTP/1.1 requires a `Host` field, and clients of HTTP/2 send `:authority` instead.
      connection.isMultiplexed = limits.http2 && !request.headers.has("host");
      // Its client may have read the whole response to its last request before the next look.
      deliveries.look(connection);
      const fields = listenerFields(request);
      const counted = heads.count(connection, request, fields ?? request.headers);
      connection.requests++;
      connection.inFlight++;
      if (connection.others === null) connection.headSinceMs = null;
      if (counted === null) completed.then(connection.ended, connection.ended);
      else {
        const end = (isSent: boolean) => {
          // Else it has ended already, and its client may be back from its port.
          if (counted.ended() && isSent) connection.isEnding = true;
          connection.ended();
        };
        completed.then(() => end(true), () => end(false));
      }
      return {
        ...connection,
        fields,
        completed,
        admitted: counted?.admitted ?? NOTHING_COUNTED,
        isLast: counted === null ? NEVER_LAST : () => counted.isLast(() => findNow(connection)),
        whenTaken(task) {
          const look = () => deliveries.add(connection, task);
          completed.then(look, look);
        },
      };
    },
    close() {
      isClosed = true;
      cancel();
      for (const go of afterSweep.splice(0)) go();
      cancelLook?.();
      search.close();
      deliveries.close();
      endings.close();
      watches.close();
      sockets.close();
    },
  };
}

/** Returns a predicate: true if a local address belongs to connections of the listener. */
function localEnds({ hostname, port }: Pick<Deno.NetAddr, "hostname" | "port">) {
  const isWildcard = hostname === "0.0.0.0" || hostname === "::";
  const end = isWildcard ? ` ${port}` : `${hostname} ${port}`;
  return (local: string | null) =>
    local !== null && (isWildcard ? local.endsWith(end) : local === end);
}

function sweepInterval({ headMs, idleMs, writeMs }: IdleLimits): number {
  const ms = Math.min(headMs, idleMs, writeMs) / 4;
  return Math.min(MAX_SWEEP_INTERVAL_MS, Math.max(MIN_SWEEP_INTERVAL_MS, ms));
}
