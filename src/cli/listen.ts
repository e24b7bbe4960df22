import type { Cancellation } from "../core/cancellation.ts";
import { openSockets, type Sockets } from "../runtime/sockets.ts";
import type { World } from "../core/world.ts";
import { type Connections, newConnections } from "../runtime/connections/connections.ts";
import type { Peer } from "../runtime/peer.ts";
import { serveLasting } from "../runtime/lasting_server.ts";
import type { IdleLimits } from "../runtime/connections/idle_rules.ts";
import { setListenerOptions } from "../runtime/find_sockets.ts";

/** A listening server, or the reason why it cannot listen. */
export type Listening =
  | {
    readonly ok: true;
    /** Base URL of the server on this machine, without a trailing slash. */
    readonly url: string;
    /**
     * The same with the address that it listens on, which may mean every address of the machine.
     */
    readonly boundUrl: string;
    /** Reason why TCP_NODELAY and connection limits are not available; null if they are. */
    readonly note: string | null;
    /** Accepts no more requests and waits for those in flight. */
    close(): Promise<void>;
  }
  | { readonly ok: false; readonly isTaken: boolean; readonly trouble: string };

/** Names of the settings of an address in messages. */
export interface ListenSettings {
  readonly host: string;
  readonly port: string;
}

/** Settings of listeners other than that of a gateway of one process. */
export interface ListenOptions {
  readonly settings?: ListenSettings;
  /** True if several processes listen on the port: the system distributes the connections. */
  readonly reusePort?: boolean;
  /** True if clients may begin with HTTP/2, which the runtime serves without bounds. */
  readonly http2?: boolean;
  /** Receives a warning, such as a listening socket that was lost. */
  readonly warn?: (message: string) => void;
}

const SERVER_SETTINGS: ListenSettings = { host: "--host", port: "--port" };

/**
 * Serves requests at a host name or IP address; port 0 picks a free one. Client connections
 * that are idle for longer than the limits are closed if their sockets are accessible.
 */
export function listen(
  handler: (request: Request, peer: Peer) => Promise<Response>,
  hostname: string,
  port: number,
  limits: IdleLimits | null = null,
  { settings = SERVER_SETTINGS, reusePort = false, http2 = false, warn = () => {} }: ListenOptions =
    {},
): Listening {
  let connections: Connections | null = null;
  const opened = openSockets();
  const sockets = opened.kind === "open" ? opened.sockets : null;

  function prepare(sockets: Sockets, address: Deno.NetAddr) {
    if (!setListenerOptions(sockets, address, http2)) warn(HTTP2_TEXT);
  }

  try {
    const server = serveLasting(
      {
        hostname,
        port,
        reusePort,
        sockets,
        onReopened() {
          if (sockets !== null) prepare(sockets, server.addr);
          warn(lostText(server.addr));
        },
      },
      (request, info) =>
        handler(request, connections === null ? info : connections.enter(request, info)),
    );
    if (sockets !== null) {
      prepare(sockets, server.addr);
      if (limits !== null) {
        connections = newConnections(sockets, server.addr, { ...limits, http2 }, realClock);
      }
    }
    return {
      ok: true,
      url: urlOf(server.addr.hostname, server.addr.port),
      boundUrl: plainUrl(server.addr.hostname, server.addr.port),
      note: opened.kind === "open" ? null : `sockets cannot be reached: ${opened.reason}`,
      async close() {
        await server.shutdown();
        if (connections === null) sockets?.close();
        else connections.close();
      },
    };
  } catch (error) {
    sockets?.close();
    const isTaken = error instanceof Deno.errors.AddrInUse;
    return { ok: false, isTaken, trouble: explainFailure(error, hostname, port, settings) };
  }
}

/** Warning of a kernel that refuses the filter. */
const HTTP2_TEXT =
  "this system does not let the gateway refuse HTTP/2, whose pings have no bound: put a " +
  "proxy that speaks HTTP/1.1 in front of it where strangers reach it, or set server.http2: true";

function lostText({ hostname, port }: Deno.NetAddr): string {
  return `the listener at ${plainUrl(hostname, port)} had no descriptor for a connection and was ` +
    "closed for a moment: raise the limit of open files (LimitNOFILE, ulimit -n)";
}

/** A port that no process listens on, or the reason why there is none. */
export type FoundPort =
  | Disposable & { readonly ok: true; readonly port: number; readonly url: string }
  | Extract<Listening, { readonly ok: false }>;

/**
 * Returns the port for several processes; port 0 picks a free one, which no other program gets
 * before the result is disposed of. Without this check a second gateway of the same user would take
 * a part of the connections.
 */
export function findPort(hostname: string, port: number): FoundPort {
  try {
    const isHeld = port === 0;
    const listener = Deno.listen({ hostname, port, reusePort: isHeld });
    // Clients of a port that they know would wait at a listener that accepts nothing.
    if (!isHeld) listener.close();
    const { addr } = listener;
    return {
      ok: true,
      port: addr.port,
      url: urlOf(addr.hostname, addr.port),
      [Symbol.dispose]: () => isHeld && listener.close(),
    };
  } catch (error) {
    const isTaken = error instanceof Deno.errors.AddrInUse;
    return { ok: false, isTaken, trouble: explainFailure(error, hostname, port, SERVER_SETTINGS) };
  }
}

/** Clock whose timers do not keep the process alive. */
const realClock: Pick<World, "now" | "after"> = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    Deno.unrefTimer(timer);
    return () => clearTimeout(timer);
  },
};

/** Resolves when the program receives a stop signal. */
export function stopped(stop: Cancellation): Promise<void> {
  return new Promise((resolve) => void stop.onCancel(() => resolve()));
}

/**
 * Returns the URL of the server; a wildcard address becomes loopback, because clients cannot
 * connect to it.
 */
export function urlOf(hostname: string, port: number): string {
  const reached = hostname.replace(/^0\.0\.0\.0$/, "127.0.0.1").replace(/^::$/, "::1");
  return plainUrl(reached, port);
}

function plainUrl(hostname: string, port: number): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function explainFailure(
  error: unknown,
  hostname: string,
  port: number,
  settings: ListenSettings,
): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return `Port ${port} on ${hostname} is in use; choose another with ${settings.port}.`;
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return `This user may not listen on port ${port}; choose one above 1023 with ${settings.port}.`;
  }
  const reason = error instanceof Error ? error.message : "unknown reason";
  return `Cannot listen on ${hostname}, port ${port}: ${reason}; choose another with ${settings.host}.`;
}
