import { listen, type Listening } from "../../../src/cli/listen.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { newGateway } from "../../../src/gateway/gateway.ts";
import { createApp } from "../../../src/server/app.ts";
import { COMPAT } from "../../../src/simulator/compat.ts";
import { LOCAL } from "../../../src/simulator/local.ts";
import { MESSAGES } from "../../../src/simulator/messages.ts";
import { newApiError } from "../../../src/simulator/protocol.ts";
import { newSimulator } from "../../../src/simulator/simulator.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { issuerSecurity, loadIssuerKeys } from "../../tools/issuer.ts";
import type { Exchange } from "./exchange.ts";
import { KEY, type ProviderType } from "./results.ts";

/** Failures that the upstream plays in place of its model. */
export type UpstreamFault =
  | { readonly status: number; readonly message: string }
  /** The stream ends behind the record that has this text. */
  | { readonly cutBehind: string };

/** Returns the fault of the upstream for a request of the client; null if its model answers. */
export type Faults = (request: JsonObject, headers: Headers) => UpstreamFault | null;

/** Options of a session besides the provider type. */
export interface PlaceOptions {
  /** The provider declares `reasoning_effort` and `structured_outputs`. */
  readonly declared: boolean;
  readonly faults: Faults;
}

/** A gateway before the simulator, on sockets of this machine. */
export interface Place extends AsyncDisposable {
  readonly url: string;
  /** Requests for messages and their responses, in the order of the requests. */
  readonly exchanges: readonly Exchange[];
  /** Bodies that the upstream received, in order. */
  readonly received: readonly string[];
}

const PATHS = {
  compat: "/compat/v1",
  local: "/local",
  responses: "/compat/v1",
  messages: "/messages",
} as const;
const PROTOCOLS = { compat: COMPAT, local: LOCAL, responses: COMPAT, messages: MESSAGES } as const;

/** Serves a gateway over the simulator with one provider of a type. */
export function openPlace(type: ProviderType, { declared, faults }: PlaceOptions): Place {
  const world = newRealWorld();
  const simulate = newSimulator(world);
  const exchanges: Exchange[] = [];
  const received: string[] = [];
  let latest = { body: {} as JsonObject, headers: new Headers() };
  const upstream = listening(listen(
    async (request) => {
      const body = await request.text();
      received.push(body);
      const fault = faults(latest.body, latest.headers);
      if (fault === null) return await simulate(withBody(request, body));
      if ("cutBehind" in fault) {
        const whole = await simulate(withBody(request, body));
        const text = await whole.text();
        const end = text.indexOf("\n", text.indexOf(fault.cutBehind));
        // A blank line ends a record of SSE.
        return new Response(`${text.slice(0, end)}\n\n`, whole);
      }
      const error = newApiError(fault.message, { status: fault.status });
      return Response.json(PROTOCOLS[type].encodeError(error, world), { status: fault.status });
    },
    "127.0.0.1",
    0,
  ));
  const parsed = parseConfig(configOf(type, upstream.url, declared), {});
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const gateway = newGateway(compile(parsed.config, 1), world, []);
  const loaded = loadIssuerKeys(gateway);
  const app = createApp(gateway);
  const server = listening(listen(
    async (request, peer) => {
      await loaded;
      const { pathname } = new URL(request.url);
      if (request.method !== "POST") return await app(request, peer);
      const text = await request.text();
      const body = parseJson(text);
      const headers = new Headers(request.headers);
      if (pathname === "/v1/messages" && isObject(body)) latest = { body, headers };
      const response = await app(withBody(request, text), peer);
      exchanges.push({
        path: pathname,
        headers,
        body: isObject(body) ? body : {},
        status: response.status,
        lossy: response.headers.get("x-gateway-lossy"),
      });
      return response;
    },
    "127.0.0.1",
    0,
  ));
  return {
    url: server.url,
    exchanges,
    received,
    async [Symbol.asyncDispose]() {
      await server.close();
      await upstream.close();
      world.close();
    },
  };
}

function withBody({ url, method, headers, signal }: Request, body: string): Request {
  return new Request(url, { method, headers, signal, ...body === "" ? {} : { body } });
}

function listening(server: Listening): Extract<Listening, { ok: true }> {
  if (!server.ok) throw new Error(server.trouble);
  return server;
}

function configOf(type: ProviderType, upstream: string, declared: boolean): string {
  const capabilities = declared ? { structured_outputs: true, reasoning_effort: true } : {};
  const request = type === "responses" ? { upstream_request_type: "responses" } : {};
  return JSON.stringify({
    providers: {
      sim: {
        type: type === "responses" ? "compat" : type,
        base_url: `${upstream}${PATHS[type]}`,
        api_key: "sk-upstream",
        capabilities,
      },
    },
    routing: {
      routes: [
        {
          name: "claude-code",
          match: { models: ["claude-*"] },
          targets: [{ provider: "sim", ...request }],
        },
        { name: "rest", targets: [{ provider: "sim", ...request }] },
      ],
    },
    // The client under test must see each failure, so the gateway repeats nothing.
    retry: { enabled: false },
    circuit_breaker: { enabled: false },
    security: issuerSecurity({ name: "claude-code", value: KEY }),
    logging: { level: "error" },
  });
}
