/** A server whose listening socket is opened again after the runtime has given it up. */
export interface LastingServer {
  readonly addr: Deno.NetAddr;
  /** Accepts no more requests and waits for those in flight. */
  shutdown(): Promise<void>;
}

/** Options of the listening socket. */
export interface LastingOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** True if several processes listen on the port. */
  readonly reusePort: boolean;
  /** Called when the socket was lost and is open again. */
  readonly onReopened: () => void;
}

/** Maximum time for which a lost listening socket stays closed. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * Serves requests until it is shut down. When the process has no descriptor left for a connection, the
 * runtime closes the listening socket for good, and the program would end with the last of its
 * connections. The loss is not reported before that, so that the socket is opened once a second: as
 * long as there is one, its port is in use.
 */
export function serveLasting(
  { hostname, port, reusePort, onReopened }: LastingOptions,
  handler: (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Promise<Response>,
): LastingServer {
  const servers = new Set<Deno.HttpServer<Deno.NetAddr>>();
  const { addr } = open({ hostname, port });
  // It keeps the process alive while there is no server.
  const timer = setInterval(look, LOOK_INTERVAL_MS);

  function open(at: { readonly hostname: string; readonly port: number }) {
    const server = Deno.serve({ ...at, reusePort, onListen() {} }, handler);
    servers.add(server);
    const ended = () => servers.delete(server);
    server.finished.then(ended, ended);
    return server;
  }

  function look() {
    // The port of several processes is never in use, so that they notice the loss with the last connection.
    if (reusePort && servers.size > 0) return;
    try {
      open(addr);
    } catch {
      return;
    }
    onReopened();
  }

  return {
    addr,
    async shutdown() {
      clearInterval(timer);
      await Promise.all(servers.values().map((server) => server.shutdown()));
    },
  };
}
