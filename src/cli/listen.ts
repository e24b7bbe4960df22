import type { Cancellation } from "../core/cancellation.ts";
import { openSockets } from "../sockets/sockets.ts";
import type { World } from "../core/world.ts";
import { type Connections, newConnections } from "../server/connections/connections.ts";
import type { Peer } from "../server/peer.ts";
import { setNoDelay } from "../server/connections/nodelay.ts";
import type { IdleLimits } from "../server/connections/idle_rules.ts";

/** An address that answers, or the sentence that says why it does not. */
export type Listening =
  | {
    readonly ok: true;
    /** How this machine reaches it; no slash at its end. */
    readonly url: string;
    /** Why small records may be late and connections stay open; null when neither holds. */
    readonly note: string | null;
    /** Takes no more requests and waits for those that run. */
    close(): Promise<void>;
  }
  | { readonly ok: false; readonly isTaken: boolean; readonly trouble: string };

/**
 * Serves requests at a host name or IP address; port 0 picks a free one. Client connections that rest
 * for longer than the limits are closed where their sockets can be reached; without limits, none is.
 */
export function listen(
  handler: (request: Request, peer: Peer) => Promise<Response>,
  hostname: string,
  port: number,
  limits: IdleLimits | null = null,
): Listening {
  let connections: Connections | null = null;
  try {
    const server = Deno.serve(
      { hostname, port, onListen() {} },
      (request, info) =>
        handler(request, connections === null ? info : connections.enter(request, info)),
    );
    const opened = openSockets();
    if (opened.kind === "open") {
      setNoDelay(opened.sockets);
      if (limits === null) opened.sockets.close();
      else connections = newConnections(opened.sockets, server.addr, limits, realClock);
    }
    return {
      ok: true,
      url: urlOf(server.addr.hostname, server.addr.port),
      note: opened.kind === "open" ? null : `sockets cannot be reached: ${opened.reason}`,
      async close() {
        await server.shutdown();
        connections?.close();
      },
    };
  } catch (error) {
    const isTaken = error instanceof Deno.errors.AddrInUse;
    return { ok: false, isTaken, trouble: troubleOf(error, hostname, port) };
  }
}

/** A clock that does not keep the process alive. */
const realClock: Pick<World, "now" | "after"> = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    Deno.unrefTimer(timer);
    return () => clearTimeout(timer);
  },
};

/** Resolves when the program is stopped. */
export function stopped(stop: Cancellation): Promise<void> {
  return new Promise((resolve) => void stop.onCancel(() => resolve()));
}

/** A client cannot reach the addresses that stand for all of them. */
function urlOf(hostname: string, port: number): string {
  const reached = hostname.replace(/^0\.0\.0\.0$/, "127.0.0.1").replace(/^::$/, "::1");
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

function troubleOf(error: unknown, hostname: string, port: number): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return `Port ${port} on ${hostname} is in use; choose another with --port.`;
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return `This user may not listen on port ${port}; choose one above 1023 with --port.`;
  }
  const reason = error instanceof Error ? error.message : "unknown reason";
  return `Cannot listen on ${hostname}, port ${port}: ${reason}; choose another with --host.`;
}
