// Until `Deno.serve` keeps its listening socket when the process has no descriptor left.

import type { Sockets } from "./sockets.ts";
import { findListeners, isListenerAt } from "./find_sockets.ts";

/** Options of the listening socket. */
export interface LastingOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** True if several processes listen on the port. */
  readonly reusePort: boolean;
  /** Sockets of this process; null if they cannot be reached. */
  readonly sockets: Pick<Sockets, "bound" | "local" | "isListening"> | null;
  /** Called when the socket was lost and is open again. */
  readonly onReopened: () => void;
}

/** Maximum time for which a lost listening socket stays closed. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * Serves requests until it is shut down. When the process has no descriptor left for a connection,
 * the runtime closes the listening socket for good, and the program would end with the last of its
 * connections. The loss is not reported before that, so that the socket is opened once a second: as
 * long as there is one, its port is in use. The port of several processes is never in use: there
 * the kernel is queried for the socket.
 */
export function serveLasting(
  { hostname, port, reusePort, sockets, onReopened }: LastingOptions,
  handler: (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Promise<Response>,
) {
  const servers = new Set<Deno.HttpServer<Deno.NetAddr>>();
  /** The newest server that has lost its socket. */
  let lost: Deno.HttpServer<Deno.NetAddr> | null = null;
  let descriptor: number | null = null;
  const { addr } = open({ hostname, port });
  // It keeps the process alive while there is no server.
  const timer = setInterval(look, LOOK_INTERVAL_MS);

  function open(at: { readonly hostname: string; readonly port: number }) {
    const server = Deno.serve({ ...at, reusePort, onListen() {} }, handler);
    servers.add(server);
    const ended = () => void servers.delete(server);
    server.finished.then(ended, () => {
      ended();
      endLost();
      lost = server;
    });
    descriptor = reusePort && sockets !== null
      ? findListeners(sockets, server.addr)[0] ?? null
      : null;
    return server;
  }

  /**
   * Ends the server that lost its socket before the newest one: the runtime holds what belongs to
   * it until then. The newest one has connections: runtimes after 2.7.11 report the loss while they
   * are open.
   */
  async function endLost(): Promise<void> {
    if (lost !== null) await end(lost);
  }

  function look() {
    if (reusePort && !isLost()) return;
    try {
      open(addr);
    } catch {
      return;
    }
    onReopened();
  }

  /**
   * True if the socket was lost. Where sockets cannot be reached, it shows with the last
   * connection.
   */
  function isLost(): boolean {
    if (sockets === null || descriptor === null) return servers.size === 0;
    return !isListenerAt(sockets, descriptor, addr);
  }

  return {
    addr,
    /** Accepts no more requests and waits for those in flight. */
    async shutdown(): Promise<void> {
      clearInterval(timer);
      await Promise.all([endLost(), ...servers.values().map(end)]);
    },
  };
}

/**
 * Shuts a server down. One that has lost its socket fails with the loss, however late it is shut
 * down.
 */
async function end(server: Deno.HttpServer<Deno.NetAddr>): Promise<void> {
  await server.shutdown().catch(() => {});
}
