import Anthropic from "@anthropic-ai/sdk";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { newRealWorld } from "../../src/world/real_world.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";

/** The protocols to which messages are translated. */
export const TARGETS = ["compat", "local", "responses"] as const;

/** The provider type of each protocol, and where the simulator speaks it. */
const PROVIDERS = {
  compat: { type: "compat", path: "/compat/v1", protocol: "chat_completions" },
  local: { type: "local", path: "/local", protocol: "chat_completions" },
  responses: { type: "compat", path: "/compat/v1", protocol: "responses" },
} as const;

/** The official client of the Messages API before a gateway before the simulator, all on sockets. */
export interface AnthropicSdk extends AsyncDisposable {
  readonly client: Anthropic;
  readonly gateway: ServedGateway;
}

/** Starts all three; the client repeats nothing by itself. */
export function startAnthropicSdk(target: (typeof TARGETS)[number]): AnthropicSdk {
  const world = newRealWorld();
  const simulator = newSimulator(world);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, simulator);
  const { type, path, protocol } = PROVIDERS[target];
  const gateway = serveGateway(`
providers:
  sim:
    type: ${type}
    base_url: http://127.0.0.1:${server.addr.port}${path}
    api_key: sk-upstream
    capabilities: {structured_outputs: true, reasoning_effort: true}
routing:
  routes: [{name: main, targets: [{provider: sim, upstream_request_type: ${protocol}}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`);
  return {
    client: new Anthropic({ baseURL: gateway.url, apiKey: "sk-client", maxRetries: 0 }),
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.shutdown();
      world.close();
    },
  };
}
