import { type Connections, newConnections } from "../../src/runtime/connections/connections.ts";
import type { Peer } from "../../src/runtime/peer.ts";
import type { IdleLimits } from "../../src/runtime/connections/idle_rules.ts";
import {
  type ScriptedSocket,
  scriptedSocket,
  type ScriptedSockets,
  scriptedSockets,
} from "../support/scripted_sockets.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** Size of the response to the handshake of a WebSocket. */
const ANSWER_BYTES = 129;

/** A request in flight. */
export interface ScriptedRequest {
  /** The only socket from its port is answered when its messages are watched. */
  readonly peer: Peer;
  /** Ends it: the response was sent, on the only socket that its port had when it arrived. */
  end(): Promise<void>;
  /** Ends it: the response could not be sent. */
  fail(): Promise<void>;
}

/** A listener whose connections, and whose time, exist only in a test. */
export interface ScriptedListener extends Disposable {
  readonly sockets: ScriptedSockets;
  readonly world: ScriptedWorld;
  readonly connections: Connections;
  /** Opens a connection from this port of the client. */
  connect(descriptor: number, port: number): ScriptedSocket;
  /** The runtime answers the handshake of a WebSocket on this connection. */
  answer(socket: ScriptedSocket): void;
  /** Bytes arrive on a connection. */
  receive(socket: ScriptedSocket, bytes: number): void;
  /** A request arrives; it is one of HTTP/2 without a `Host` field. */
  request(
    port: number,
    headers?: Readonly<Record<string, string>>,
    method?: string,
    url?: string,
  ): ScriptedRequest;
  /** The descriptors that were shut down. */
  shutDown(): readonly number[];
}

/**
 * Listens on port 8080 with descriptors below `bound`, in a process with this resident memory; 0 if
 * it is not known. Without `http2` clients that speak it are reset.
 */
export function scriptedListener(
  limits: IdleLimits & { readonly http2?: boolean },
  bound = 64,
  resident = 0,
): ScriptedListener {
  const world = scriptedWorld();
  const sockets = scriptedSockets(bound, world.now);
  sockets.resident = resident;
  const address = { hostname: "127.0.0.1", port: 8080 };
  const connections = newConnections(sockets, address, { http2: true, ...limits }, world);
  const answer = (socket: ScriptedSocket) => void (socket.writtenBytes += ANSWER_BYTES);

  /** Returns the socket from a port; undefined if there are several. */
  function onlySocket(port: number): ScriptedSocket | undefined {
    const [only, ...further] = [...new Set(sockets.open.values())]
      .filter(({ remote }) => remote === `127.0.0.1 ${port}`);
    return further.length === 0 ? only : undefined;
  }

  /** Returns a peer whose handshake is answered if there is only one socket from its port. */
  function answered(peer: Peer, port: number): Peer {
    return {
      ...peer,
      watchMessages(headBytes, onCheck) {
        const only = onlySocket(port);
        if (only !== undefined) answer(only);
        const watch = peer.watchMessages?.(headBytes, onCheck);
        if (watch === undefined) throw new Error("the connections watch no messages");
        return watch;
      },
    };
  }

  return {
    sockets,
    world,
    connections,
    connect(descriptor, port) {
      const socket = scriptedSocket("127.0.0.1 8080", `127.0.0.1 ${port}`, world.now());
      sockets.open.set(descriptor, socket);
      return socket;
    },
    answer,
    receive(socket, bytes) {
      socket.receivedBytes += bytes;
      socket.receivedMs = world.now();
    },
    request(port, headers = { host: "localhost" }, method = "GET", url = "http://localhost/") {
      const { promise: completed, resolve, reject } = Promise.withResolvers<void>();
      const remoteAddr = { transport: "tcp", hostname: "127.0.0.1", port } as const;
      const request = new Request(url, { method, headers: { ...headers } });
      // The runtime gives it as it was sent.
      Object.defineProperty(request, "url", { value: url });
      const only = onlySocket(port);
      return {
        peer: answered(connections.enter(request, { remoteAddr, completed }), port),
        end() {
          if (only !== undefined) answer(only);
          resolve();
          return completed;
        },
        fail() {
          reject(new Error("the client has left"));
          return completed.catch(() => {});
        },
      };
    },
    shutDown: () =>
      [...sockets.open].flatMap(([descriptor, { isShutDown }]) => isShutDown ? [descriptor] : []),
    [Symbol.dispose]: () => connections.close(),
  };
}
