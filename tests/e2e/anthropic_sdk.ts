import Anthropic from "@anthropic-ai/sdk";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";

/** The translated provider types, and where the simulator speaks each type. */
export const TRANSLATED = ["compat", "local", "responses"] as const;
const PATHS = {
  compat: "/compat/v1",
  local: "/local",
  responses: "/compat/v1",
  messages: "/messages",
} as const;

/** The official client before a gateway before the simulator, all of them on sockets. */
export interface AnthropicSdk extends AsyncDisposable {
  readonly client: Anthropic;
  readonly gateway: ServedGateway;
  /** Requests of the simulator, in order. */
  readonly sent: readonly SimulatorRequest[];
}

/** A request to the simulator. */
export interface SimulatorRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Starts all three; the client repeats nothing by itself. `more` is further configuration. */
export function startAnthropicSdk(
  wire: keyof typeof PATHS,
  more = "",
  apiKey = "sk-client",
): AnthropicSdk {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const sent: SimulatorRequest[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const body = await request.text();
      sent.push({ url: request.url, headers: request.headers, body });
      return await answer(new Request(request, { body }));
    },
  );
  const api = wire === "responses" ? ", upstream_request_type: responses" : "";
  const gateway = serveGateway(`
providers:
  sim:
    type: ${wire === "responses" ? "compat" : wire}
    base_url: http://127.0.0.1:${server.addr.port}${PATHS[wire]}
    api_key: sk-upstream
    models: {mode: static, static: [sim-echo, sim-other]}
    capabilities: {structured_outputs: true, reasoning_effort: true}
routing:
  routes: [{name: main, targets: [{provider: sim${api}}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
${more}`);
  return {
    client: new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 }),
    gateway,
    sent,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.shutdown();
      world.close();
    },
  };
}
