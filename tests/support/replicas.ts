import { openGateway } from "../../src/cli/gateway_server.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { testTerminal } from "../cli/test_terminal.ts";
import { configOf } from "../config/parse.ts";
import { type StateCalls, stateCalls } from "./state_call.ts";

/** A whole gateway on a port of loopback, as the program starts it. */
export interface Replica extends StateCalls {
  readonly url: string;
  /** Sends a request and returns the response with its body unread. */
  send(path: string, init?: RequestInit): Promise<Response>;
  /** Returns the value of a metric without labels or with exactly these. */
  metric(name: string): Promise<number>;
  /** Returns the log so far. */
  log(): string;
  /** True unless its log says that the store is unavailable; costs less than its metrics. */
  isStoreUp(): boolean;
  /** Drains the gateway. */
  close(): Promise<void>;
}

/** Gateways with one configuration before one upstream. */
export interface Replicas extends AsyncDisposable {
  /** The upstream requests so far. */
  readonly requests: readonly Request[];
  /** Starts a gateway; `edit` changes its configuration. */
  start(edit?: (config: string) => string): Promise<Replica>;
}

/** Differences from replicas before the simulator. */
export interface ReplicasOptions {
  /** Responds in place of the simulator. */
  readonly upstream?: (request: Request) => Response | Promise<Response>;
  /** Returns the `providers` and `routing` of the gateways. */
  readonly providers?: (upstreamUrl: string) => string;
}

/** Providers and routing: one provider of type compat. */
export function oneSimulator(upstreamUrl: string): string {
  return `providers: {sim: {type: compat, base_url: "${upstreamUrl}/compat/v1", api_key: sk-sim}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}

/** Starts the upstream. `state` is the section `state` of the gateways, and more sections. */
export function newReplicas(state: string, options: ReplicasOptions = {}): Replicas {
  const world = newRealWorld();
  const { upstream = newSimulator(world), providers = oneSimulator } = options;
  const requests: Request[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    requests.push(request);
    return upstream(request);
  });
  const client = Deno.createHttpClient({});
  const running = new Set<Replica>();

  async function start(edit = (config: string) => config): Promise<Replica> {
    const terminal = testTerminal();
    const rest = providers(`http://127.0.0.1:${server.addr.port}`);
    const config = configOf(edit(`server: {port: 0}\n${state}\n${rest}`));
    const gateway = await openGateway(config, terminal);
    if (!gateway.ok) throw new Error(gateway.trouble);
    const { url } = gateway;
    const send = (path: string, init: RequestInit = {}) => fetch(url + path, { ...init, client });
    const replica: Replica = {
      ...stateCalls(async (request) => {
        const { pathname, search } = new URL(request.url);
        const { method, headers } = request;
        const body = method === "POST" ? await request.text() : null;
        return await send(pathname + search, { method, headers, body });
      }),
      url,
      send,
      async metric(name) {
        const text = await (await send("/metrics")).text();
        const line = text.split("\n").find((each) => each.startsWith(`${name} `));
        return Number(line?.slice(name.length + 1) ?? NaN);
      },
      log: () => terminal.written.err,
      isStoreUp() {
        const [down = 0, up = 0] = ["store is unavailable", "store is available again"]
          .map((mark) => terminal.written.err.lastIndexOf(mark));
        return down <= up;
      },
      async close() {
        if (running.delete(replica)) await gateway.close();
      },
    };
    running.add(replica);
    return replica;
  }

  return {
    requests,
    start,
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((replica) => replica.close()));
      client.close();
      await server.shutdown();
      world.close();
    },
  };
}
