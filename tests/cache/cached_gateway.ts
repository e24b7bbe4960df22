import { newGateway } from "../../src/gateway/gateway.ts";
import type { CallReport } from "../../src/observe/report.ts";
import { createApp } from "../../src/server/app.ts";
import type { CachedResponses } from "../../src/store/cached_responses.ts";
import { answers, COMPLETION, type Got, got } from "../support/chat_call.ts";
import { newOutageStore } from "../support/outage.ts";
import { firstGeneration, parsedConfig } from "../support/parsed_config.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** A gateway with a cache in a scripted world, and its upstream requests. */
export interface CachedGateway {
  readonly world: ScriptedWorld;
  readonly reports: readonly Readonly<CallReport>[];
  /** Each upstream request, in order. */
  readonly requests: readonly SentRequest[];
  /** The entries and the bytes that are cached. */
  kept(): readonly [entries: number, bytes: number];
  ask(request: Request): Promise<Got>;
  /** Returns the metrics as text. */
  metrics(): Promise<string>;
  /** Returns the cache status of a request: HIT, MISS or null. */
  statusOf(request: Request): Promise<string | null>;
  /** Reloads the gateway with this configuration. */
  reload(config: string): void;
}

/** Host and path of an upstream request. */
export interface SentRequest {
  readonly host: string;
  readonly path: string;
}

/**
 * Responds to an upstream request; `count` is the number of the request over all upstreams, from 1.
 */
export type Upstream = (request: SentRequest, count: number) => Promise<Response>;

/** The answer to upstream request `count`: each has another id. */
export function completion(_asked: SentRequest, count: number): Promise<Response> {
  return answers(200, { ...COMPLETION, id: `chatcmpl-${count}` });
}

/** One compat provider without retries, and a cache with these settings: `ttl: 1m, max_size: 2`. */
export function caching(settings = "", provider = ""): string {
  return `
caching: {enabled: true${settings === "" ? "" : `, ${settings}`}}
providers:
  up: {type: compat, base_url: "http://up/v1"${provider === "" ? "" : `, ${provider}`}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}

/**
 * Serves the configuration; every upstream is played by the one function. Cached responses may be
 * in a store that other gateways use too.
 */
export function cachedGateway(
  config = caching(),
  upstream: Upstream = completion,
  cachedResponses: CachedResponses | null = null,
): CachedGateway {
  const requests: SentRequest[] = [];
  const reports: Readonly<CallReport>[] = [];
  const world = scriptedWorld({
    fetch(url) {
      const { host, pathname } = new URL(url);
      const one = { host, path: pathname };
      requests.push(one);
      return upstream(one, requests.length);
    },
  });
  const sinks = [(report: Readonly<CallReport>) => void reports.push(report)];
  const store = cachedResponses === null
    ? null
    : { ...newOutageStore(world).store, cachedResponses };
  const gateway = newGateway(firstGeneration(config), world, sinks, { store });
  const app = createApp(gateway);

  async function ask(request: Request): Promise<Got> {
    return await got(await app(request));
  }

  return {
    world,
    reports,
    requests,
    ask,
    kept: () => [gateway.state.cache.entries, gateway.state.cache.bytes],
    statusOf: async (request) => (await ask(request)).headers.get("x-gateway-cache-status"),
    metrics: async () => (await ask(new Request("http://localhost/metrics"))).text,
    reload: (text) => void gateway.reload(parsedConfig(text)),
  };
}
