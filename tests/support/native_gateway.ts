import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { type GatewayOptions, newGateway } from "../../src/gateway/gateway.ts";
import { createApp } from "../../src/server/app.ts";
import type { GatewayState } from "../../src/store/gateway_state.ts";
import { answers } from "./chat_call.ts";
import { firstGeneration, parsedConfig } from "./parsed_config.ts";
import { type StateCalls, stateCalls } from "./state_call.ts";
import { storeUnderTest } from "./store_under_test.ts";
import { type ScriptedWorld, scriptedWorld } from "./world.ts";

/** A request that an upstream received. */
export interface SentRequest {
  /** The host, which is the name of the provider. */
  readonly host: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  /** Empty when there is none. */
  readonly body: string;
  readonly json: JsonObject;
}

/** Response of an upstream; by default 200 with JSON. */
export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject | string;
}

/** Reaction of an upstream to a request. */
export type Scripted = ScriptedResponse | Error;

/** A gateway before upstreams that keep state themselves. */
export interface NativeGateway extends StateCalls {
  readonly world: ScriptedWorld;
  readonly state: GatewayState;
  /** The upstream requests, in order. */
  readonly requests: readonly SentRequest[];
  /** The last request, as `first GET /responses/resp_1`. */
  lastRequest(): string;
  /** Returns the metrics of the gateway as text. */
  scrape(): Promise<string>;
  /** Reloads the gateway with this configuration. */
  reload(config: string): void;
}

/** How a provider of a test is configured. */
export interface Account {
  readonly can?: readonly string[];
  readonly key?: string;
  /** More settings, each `name: value`. */
  readonly more?: readonly string[];
}

/**
 * A file with compat providers whose hosts are their names. The route `main` leads to the Responses
 * API of the first one and falls back to that of the rest; the route `chat` to Chat Completions. A
 * request that names another provider uses that provider only.
 */
export function nativeConfig(accounts: Readonly<Record<string, Account>>): string {
  const ids = Object.keys(accounts);
  const lines = Object.entries(accounts).map(([id, { can = [], key = `sk-${id}`, more = [] }]) => {
    const flags = can.map((flag) => flag.includes(":") ? flag : `${flag}: true`).join(", ");
    const settings = ["type: compat", `base_url: "http://${id}"`, `api_key: ${key}`, ...more];
    return `  ${id}: {${settings.join(", ")}, capabilities: {${flags}}}\n`;
  });
  const natives = ids.map((id) => `{provider: ${id}, upstream_request_type: responses}`);
  const chats = ids.map((id) => `{provider: ${id}}`);
  const named = ids.slice(1).flatMap((id, at) => {
    const headers = `headers: {x-gateway-provider: ${id}}`;
    return [
      `{name: chat-${id}, match: {path: /v1/chat, ${headers}}, targets: [${chats[at + 1]}]}`,
      `{name: main-${id}, match: {path: /v1/responses, ${headers}}, targets: [${natives[at + 1]}]}`,
    ].map((route) => `    - ${route}\n`);
  });
  return `providers:\n${lines.join("")}routing:
  routes:
${named.join("")}    - name: chat
      match: {path: /v1/chat/completions}
      targets: [${chats[0]}]
      fallback: [${chats.slice(1).join(", ")}]
    - name: main
      targets: [${natives[0]}]
      fallback: [${natives.slice(1).join(", ")}]
retry: {initial_delay: 1ms, max_attempts: 2}
circuit_breaker: {enabled: false}
`;
}

/** Serves the configuration; each upstream responds with the result of the script. */
export function nativeGateway(
  config: string,
  script: (request: SentRequest) => Scripted | Promise<Scripted>,
  optionsIn: (world: ScriptedWorld) => GatewayOptions = () => ({}),
): NativeGateway {
  const requests: SentRequest[] = [];
  const world = scriptedWorld({
    async fetch(url, init) {
      const { hostname, pathname, search } = new URL(url);
      const body = await new Response(init.body ?? null).text();
      const json = parseJson(body);
      const one = {
        host: hostname,
        method: init.method ?? "GET",
        path: pathname + search,
        headers: new Headers(init.headers),
        body,
        json: isObject(json) ? json : {},
      };
      requests.push(one);
      const says = await script(one);
      if (says instanceof Error) throw says;
      const { status = 200, headers = { "content-type": "application/json" } } = says;
      return await answers(status, says.body, headers);
    },
  });
  const gateway = newGateway(firstGeneration(config), world, [], {
    ...storeUnderTest(world),
    ...optionsIn(world),
  });
  return {
    ...stateCalls(createApp(gateway)),
    world,
    state: gateway.state,
    requests,
    lastRequest() {
      const last = requests.at(-1);
      return last === undefined ? "" : `${last.host} ${last.method} ${last.path}`;
    },
    scrape: () => gateway.metrics.scrape(),
    reload: (text) => void gateway.reload(parsedConfig(text)),
  };
}

/** The header that names a provider. */
export function naming(provider: string): Readonly<Record<string, string>> {
  return { "x-gateway-provider": provider };
}

/** A whole Response object of a provider. */
export function responseOf(id: string, more: JsonObject = {}): JsonObject {
  const text = { type: "output_text", text: `said in ${id}`, annotations: [], logprobs: [] };
  const message = { id: `msg_${id}`, type: "message", role: "assistant", status: "completed" };
  return {
    id,
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [{ ...message, content: [text] }],
    ...more,
  };
}

/** The whole stream of a response: its beginning and its terminal. */
export function streamOf(id: string, more: JsonObject = {}): string {
  const response = responseOf(id, more);
  const begun = { ...response, status: "in_progress", output: [] };
  return [["response.created", begun], [`response.${response.status}`, response]]
    .map(([type, members], at) =>
      `event: ${type}\ndata: ${
        JSON.stringify({ type, sequence_number: at, response: members })
      }\n\n`
    ).join("");
}
