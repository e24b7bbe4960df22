// Until `Deno.serve` has timeouts for idle and slow clients.

import type { World } from "../../core/world.ts";
import { listenerFields } from "../listener_request.ts";
import type { Peer } from "../peer.ts";
import type { Sockets } from "../sockets.ts";
import {
  type Connection,
  isTooSlow,
  NOTHING_WAITS,
  parseKey,
  type SocketState,
  writeStateAt,
} from "./connection.ts";
import { newDeliveries } from "./deliveries.ts";
import { newEndings } from "./endings.ts";
import { newFinder } from "./find_descriptor.ts";
import { type Handshake, hasManySockets, newHandshakes, unknownHandshake } from "./handshakes.ts";
import { headSince, type IdleLimits, isOverdue, isTaking, newIdleState } from "./idle_rules.ts";
import { newMessageWatches } from "./message_watch.ts";
import { newSocketStates } from "./socket_states.ts";
import { newSweeps } from "./sweeps.ts";
import { newRequested, newUnfinishedHeads } from "./unfinished_heads.ts";

/** The client connections of one listener. */
export interface Connections {
  /** Returns the peer of a request, which is in flight until `info.completed` settles. */
  enter(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Peer;
  /** Stops the supervision; the connections stay open. */
  close(): void;
}

/**
 * Bytes that arrived less than this many milliseconds ago may still wait for the runtime to read
 * them.
 */
const MAX_UNREAD_MS = 1_000;

/**
 * Sockets on which the client's remote end has further ones. The heads that they hide have this
 * bound: up to 400 KB on each.
 */
const MAX_SHARED_SOCKETS = 256;

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
  /** Number of the latest sweep. */
  let sweep = 0;
  /** Sockets with further ones of their remote end that this sweep has found. */
  let sharedCount = 0;
  const heads = newUnfinishedHeads(sockets, clock);
  const states = newSocketStates(sockets, clock, heads);
  const sweeps = newSweeps(sockets, clock, limits, {
    look: () => finder.keepLowestFree(),
    begin() {
      sweep++;
      sharedCount = 0;
      finder.swept();
    },
    visit(descriptor) {
      const connection = connectionAt(descriptor);
      if (connection !== null) inspect(connection, descriptor);
    },
    visited: heads.end,
    connections: () => byKey.values(),
    review,
  });
  const finder = newFinder(sockets, clock, { connectionAt, sweeps });
  const endings = newEndings(sockets, clock, { locate: finder.locate, sweepSoon: sweeps.soon });
  const handshakes = newHandshakes(sockets);
  const watches = newMessageWatches(sockets, clock, {
    find: handshakes.find,
    searchSoon: sweeps.soon,
    searched: finder.searched,
    abortSoon: endings.soon,
  });
  const deliveries = newDeliveries(sockets, clock, finder);

  function add(key: string): Connection {
    const connection: Connection = {
      key,
      remoteAddr: parseKey(key),
      descriptor: null,
      socket: null,
      others: null,
      sweep,
      isGone: false,
      requests: 0,
      inFlight: 0,
      webSockets: 0,
      isWatched: false,
      isEnding: false,
      write: NOTHING_WAITS,
      ...newIdleState(clock.now()),
      writtenBytes: 0,
      endedMs: 0,
      ...newRequested(),
      acceptsAll: false,
      ended() {
        connection.inFlight--;
        connection.endedMs = clock.now();
        if (connection.others !== null) return;
        connection.hasServed = true;
        connection.sinceMs = connection.endedMs;
        if (connection.isEnding && connection.inFlight === 0) endings.afterDelivery(connection);
      },
      // Requests on other sockets with its remote end do not delay its own.
      isShared: () =>
        connection.isMultiplexed || connection.others === null && connection.inFlight > 1,
      // The rate of each socket is looked at, so what waits on any of them is judged.
      waitsInSystem: () =>
        isWaiting(connection) || connection.others?.values().some(isWaiting) === true,
      disconnect() {
        // It might end another one; the timeouts of each end its own.
        if (connection.others !== null) return;
        connection.isEnding = true;
        if (connection.inFlight === 0) endings.afterDelivery(connection);
      },
      abort: () => endings.soon(connection),
    };
    byKey.set(key, connection);
    return connection;
  }

  /** Returns the client connection of a descriptor; null for any other descriptor. */
  function connectionAt(descriptor: number): Connection | null {
    const socket = sockets.identity(descriptor);
    const known = byDescriptor.get(descriptor);
    if (known !== undefined && known.socket === socket && !known.isGone) {
      finder.found(descriptor);
      return known;
    }
    if (known !== undefined) byDescriptor.delete(descriptor);
    const remote = socket === null ? null : sockets.remote(descriptor);
    if (remote === null || !isOurs(sockets.local(descriptor))) return null;
    const connection = byKey.get(remote) ?? add(remote);
    byDescriptor.set(descriptor, connection);
    finder.found(descriptor);
    states.setSocket(connection, descriptor, socket);
    return connection;
  }

  function inspect(connection: Connection, descriptor: number) {
    connection.sweep = sweep;
    const isAlone = connection.others === null;
    if (!isAlone && ++sharedCount > MAX_SHARED_SOCKETS) return sockets.abort(descriptor);
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
    const isUnsure = !isAlone || connection.lookedRequests === null;
    if (connection.inFlight === 0 || isUnsure) heads.look(connection, traffic, { isAlone });
    if (requestsOn(connection) > 0) return;
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

  /** Forgets a connection that the sweep has not found, or closed sockets of another one. */
  function review(connection: Connection) {
    if (connection.sweep === sweep) return states.forgetClosed(connection);
    connection.isGone = true;
    byKey.delete(connection.key);
    const { descriptor } = connection;
    if (descriptor !== null && byDescriptor.get(descriptor) === connection) {
      byDescriptor.delete(descriptor);
    }
  }

  return {
    enter(request, { remoteAddr: { hostname, port }, completed }) {
      const key = `${hostname} ${port}`;
      const known = byKey.get(key);
      // The next connection will have it, unless another closes before.
      if (known === undefined) finder.keepLowestFree();
      const connection = known ?? add(key);
      // It may have come back from its port with a descriptor that the sweep has passed.
      connection.sweep = sweep;
      // HTTP/1.1 requires a `Host` field, and clients of HTTP/2 send `:authority` instead.
      connection.isMultiplexed = limits.http2 && !request.headers.has("host");
      // Its client may have read the whole response to its last request before the next look.
      deliveries.look(connection);
      const fields = listenerFields(request);
      const counted = heads.count(connection, request, fields ?? request.headers);
      connection.requests++;
      connection.inFlight++;
      if (connection.others === null) connection.headSinceMs = null;
      const end = (isSent: boolean) => {
        if (counted.ended(isSent)) connection.isEnding = true;
        connection.ended();
      };
      completed.then(() => end(true), () => end(false));
      let handshake: Handshake | null = null;
      return {
        ...connection,
        async located() {
          await finder.located(connection);
          handshake = handshakes.begin(connection);
          return !hasManySockets(connection);
        },
        watchMessages(headBytes, onCheck) {
          connection.inFlight++;
          finder.findNow(connection);
          handshake ??= unknownHandshake(connection);
          const watch = watches.add(connection, { ...handshake, headBytes }, onCheck);
          let isOver = false;
          return {
            ...watch,
            end() {
              if (isOver) return;
              isOver = true;
              watch.end();
              connection.ended();
            },
          };
        },
        fields,
        completed,
        admitted: counted.admitted,
        isLast: () => counted.isLast(() => finder.findNow(connection)),
        whenTaken(task) {
          const look = () => deliveries.add(connection, task);
          completed.then(look, look);
        },
      };
    },
    close() {
      sweeps.close();
      finder.close();
      deliveries.close();
      endings.close();
      watches.close();
      sockets.close();
    },
  };
}

/** Returns the number of requests in flight that may be on the socket of a connection. */
function requestsOn({ inFlight, others, isWatched, webSockets }: Connection): number {
  return others === null || isWatched ? inFlight : inFlight - webSockets;
}

/** True if bytes of a socket wait in the system, as of the last sweep. */
function isWaiting({ write }: SocketState): boolean {
  return write.behindSinceMs !== null;
}

/** Returns a predicate: true if a local address belongs to connections of the listener. */
function localEnds({ hostname, port }: Pick<Deno.NetAddr, "hostname" | "port">) {
  const isWildcard = hostname === "0.0.0.0" || hostname === "::";
  const end = isWildcard ? ` ${port}` : `${hostname} ${port}`;
  return (local: string | null) =>
    local !== null && (isWildcard ? local.endsWith(end) : local === end);
}
