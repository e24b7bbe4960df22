import { newRealWorld } from "../../src/cli/real_world.ts";
import { openSockets, type Sockets } from "../../src/runtime/sockets.ts";
import type { World } from "../../src/core/world.ts";
import { type BeginningListener, type Gateway, newGateway } from "../../src/gateway/gateway.ts";
import { accessLog } from "../../src/observe/access_log.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import type { CallReport, Sink } from "../../src/observe/report.ts";
import type { GatewayStore } from "../../src/store/gateway_store.ts";
import { createApp } from "../../src/server/app.ts";
import { newConnections } from "../../src/runtime/connections/connections.ts";
import { newIdleLimits } from "../../src/runtime/connections/idle_rules.ts";
import { assertEquals } from "./assert.ts";
import { firstGeneration, parsedConfig } from "./parsed_config.ts";
import { newReports } from "./reports.ts";
import { openSocketClient, type SocketClient } from "./socket_client.ts";
import { storeUnderTest } from "./store_under_test.ts";
import { type Fetch, sendBy } from "./world.ts";
import { setListenerOptions } from "../../src/runtime/find_sockets.ts";

/** A gateway that listens on its own port and gives the test access to its parts. */
export interface SocketGateway extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly gateway: Gateway;
  /** Reports of the calls that are over, in order. */
  readonly reports: readonly Readonly<CallReport>[];
  /** The access lines so far, and what else is logged. */
  readonly log: readonly string[];
  /** Opens a socket with these headers. */
  open(headers?: Readonly<Record<string, string>>): Promise<SocketClient>;
  /** Resolves with the report of call number `count`, counted from 1, once it is over. */
  reported(count: number): Promise<Readonly<CallReport>>;
  /** Serves another configuration from now on. */
  reload(config: string): void;
  /** Returns the value of `gateway_websocket_connections`. */
  sockets(): Promise<number>;
}

/** Differences from a gateway in the real world. */
export interface Surroundings {
  /** Plays the network between the gateway and its upstreams. */
  readonly fetch?: Fetch;
  /** Plays clock, random numbers and network. */
  readonly world?: World;
  /** Stores the objects of clients. */
  readonly store?: GatewayStore;
  /** Captures the calls for data sharing. */
  readonly newCapture?: Gateway["newCapture"];
  /** Receives the calls that begin, and those that are over. */
  readonly began?: BeginningListener;
  readonly sink?: Sink;
}

/**
 * Serves a gateway on a free loopback port. Its end waits until every call and every socket is
 * over, so a test that leaves one behind does not end, and fails when a call was reported twice.
 */
export function socketGateway(
  config: string,
  { fetch, world, sink = () => {}, ...options }: Surroundings = {},
): SocketGateway {
  const real = newRealWorld();
  const outside = world ?? (fetch === undefined ? real : { ...real, send: sendBy(fetch) });
  const { reports, add, reported } = newReports();
  const lines: string[] = [];
  const log = newLog({ level: "debug", format: "json" }, (line) => void lines.push(textOf(line)));
  const gateway = newGateway(firstGeneration(config), outside, [
    accessLog(log),
    sink,
    add,
  ], { ...storeUnderTest(world ?? null), ...options });
  const app = createApp(gateway);
  const stop = new AbortController();
  const opened = openSockets();
  if (opened.kind !== "open") throw new Error(opened.reason);
  const { sockets } = opened;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen() {} },
    (request, info) => app(request, connections.enter(request, info)),
  );
  setListenerOptions(sockets, server.addr, true);
  const limits = newIdleLimits({ idle_timeout: 120_000, write_timeout: 60_000 });
  const connections = newConnections(sockets, server.addr, { ...limits, http2: true }, real);
  const url = `http://127.0.0.1:${server.addr.port}`;

  return {
    url,
    gateway,
    reports,
    log: lines,
    open: (headers) => openSocketClient(url, headers),
    reported,
    reload: (text) => void gateway.reload(parsedConfig(text)),
    async sockets() {
      const text = await gateway.metrics.scrape();
      return Number(/^gateway_websocket_connections (\d+)$/m.exec(text)?.[1]);
    },
    async [Symbol.asyncDispose]() {
      await gateway.state.inFlight.idle();
      assertEquals(new Set(reports.map(({ id }) => id)).size, reports.length);
      const active = (await gateway.metrics.scrape()).match(
        /^gateway_active_requests\{.* [1-9]\d*$/m,
      );
      assertEquals([active, await this.sockets()], [null, 0]);
      // Nothing runs any more; newer runtimes would wait for handshakes whose clients have left.
      stop.abort();
      await server.finished;
      // The runtime closes a connection after its last write has failed.
      while (isAnyOpen(sockets, server.addr)) await new Promise((go) => setTimeout(go, 0));
      connections.close();
      real.close();
    },
  };
}

/** True if a connection to the address is open at this side. */
function isAnyOpen(
  sockets: Pick<Sockets, "bound" | "local">,
  { hostname, port }: Deno.NetAddr,
): boolean {
  const local = `${hostname} ${port}`;
  return Array.from({ length: sockets.bound() }, (_, descriptor) => sockets.local(descriptor))
    .includes(local);
}
