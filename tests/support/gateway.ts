import { listen } from "../../src/cli/listen.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import type { World } from "../../src/core/world.ts";
import {
  type Gateway,
  type GatewayOptions,
  newGateway,
  newKeyWarning,
} from "../../src/gateway/gateway.ts";
import { accessLog } from "../../src/observe/access_log.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import type { CallReport, Sink } from "../../src/observe/report.ts";
import { type App, createApp } from "../../src/server/app.ts";
import { newIdleLimits } from "../../src/runtime/connections/idle_rules.ts";
import { firstGeneration } from "./parsed_config.ts";
import { newReports } from "./reports.ts";
import { storeUnderTest } from "./store_under_test.ts";

/** A gateway under test, without a socket. */
export interface TestGateway {
  readonly app: App;
  /** Gateway of all calls. */
  readonly gateway: Gateway;
  /** Reports of the calls that are over, in order. */
  readonly reports: readonly Readonly<CallReport>[];
  /** Log lines of every level. */
  readonly log: readonly string[];
  /** Resolves with the report of call number `count`, counted from 1, once it is over. */
  reported(count: number): Promise<Readonly<CallReport>>;
}

/** A gateway in the process, with the outside that the test gives it. */
export function testGateway(
  config: string,
  world: World,
  options: GatewayOptions = storeUnderTest(world),
  sinks: readonly Sink[] = [],
): TestGateway {
  const { reports, add, reported } = newReports();
  const lines: string[] = [];
  const log = newLog({ level: "debug", format: "json" }, (line) => void lines.push(textOf(line)));
  const gateway = newGateway(firstGeneration(config), world, [
    accessLog(log),
    ...sinks,
    add,
  ], { onKeyRejected: newKeyWarning(log), ...options });
  return {
    app: createApp(gateway),
    gateway,
    reports,
    log: lines,
    reported,
  };
}

/** A gateway that listens on its own port, with the real clock and network. */
export interface ServedGateway extends TestGateway, AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a gateway on a free loopback port, with the limits of a default configuration. */
export function serveGateway(config: string): ServedGateway {
  const world = newRealWorld();
  const gateway = testGateway(config, world, storeUnderTest(null));
  const { server } = gateway.gateway.generation.config;
  const { http2 } = server;
  const listening = listen(gateway.app, "127.0.0.1", 0, newIdleLimits(server), { http2 });
  if (!listening.ok) throw new Error(listening.trouble);

  async function close() {
    if (listening.ok) await listening.close();
    world.close();
  }

  return {
    ...gateway,
    url: listening.url,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A configuration with one compat provider called `up` and one route called `main`. */
export function oneProvider(baseUrl: string, settings = ""): string {
  return `
providers:
  up: {type: compat, base_url: "${baseUrl}", api_key: sk-upstream-secret${settings}}
routing:
  routes:
    - name: main
      targets: [{provider: up}]
retry: {enabled: false}
`;
}
