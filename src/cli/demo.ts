import { parseConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { RELAY_FAMILIES } from "../core/endpoint.ts";
import { newRealWorld } from "./real_world.ts";
import { optionValue, parsePort } from "./arguments.ts";
import { type Command, OK_STATUS, printProblems, wrongUsage } from "./command.ts";
import { chatCurl, otherCurl, responsesCurl } from "./first_call.ts";
import { type GatewayServer, greeting, openGateway } from "./gateway_server.ts";
import { HOSTS, LIFECYCLES } from "../data/hosts.ts";
import { stopped } from "./listen.ts";
import type { Terminal } from "./terminal.ts";
import { tour, WEATHER_FUNCTION } from "./tour.ts";

const USUAL_PORT = 8080;

/** One provider of each type; its ID is the type. */
const PROVIDERS = [
  ["compat", "/compat/v1"],
  ["messages", "/messages"],
  ["local", "/local"],
] as const;

/** ID of a provider that stores responses and completions itself. */
const NATIVE_ID = "native";

/**
 * Capabilities of the native provider, without Conversations: the gateway stores these for every
 * provider.
 */
const NATIVE = {
  ...LIFECYCLES,
  embeddings_base64: true,
  hosted_tools: ["web_search"],
  relay: RELAY_FAMILIES,
};

/** Beginnings of the paths that only the native provider serves. */
const RELAYED_PATHS = [
  "/v1/completions",
  "/v1/moderations",
  "/v1/rerank",
  "/v1/images",
  "/v1/audio",
];

/** Capabilities of the simulated providers, by type. */
const CAPABILITIES = {
  compat: { structured_outputs: true, reasoning_effort: true, embeddings_base64: true },
  messages: HOSTS.anthropic.capabilities,
  local: HOSTS.ollama.capabilities,
};

/**
 * The provider for each model name of Claude Code. One session stays at one provider, because the
 * thinking of a tool loop can only continue where it has begun.
 */
const CLAUDE_CODE = [
  ["claude-*sonnet*", "compat"],
  ["claude-*haiku*", "local"],
  ["claude-*", "messages"],
] as const;

/**
 * Command `switchyard demo`: serves the gateway over simulated providers and shows example calls.
 */
export const demo: Command = {
  name: "demo",
  about: "Serves the gateway over simulated providers. It needs no key and no network.",
  options: {
    port: { value: "PORT", about: `The port of the gateway; default: ${USUAL_PORT}.` },
  },
  async run(options, terminal) {
    const written = optionValue(options, "port");
    const port = parsePort(written ?? String(USUAL_PORT));
    if (port === null) {
      return wrongUsage(terminal, "demo", "--port must be a number from 0 to 65535.");
    }
    // Loaded only now: a gateway does not need the simulator in memory.
    const { serveSimulator } = await import("./serve_simulator.ts");
    const world = newRealWorld();
    const upstream = serveSimulator(world, 0);
    if (!upstream.ok) {
      world.close();
      return printProblems(terminal, [upstream.trouble]);
    }
    const code = await demonstrate(upstream.url, port, written === undefined, terminal);
    await upstream.close();
    world.close();
    return code;
  },
};

async function demonstrate(
  upstream: string,
  port: number,
  mayMove: boolean,
  terminal: Terminal,
): Promise<number> {
  const server = await openOver(upstream, port, mayMove, terminal);
  if (!server.ok) return printProblems(terminal, [server.trouble]);
  const stop = terminal.stop();
  terminal.out(greeting(server.url, server.generation, server.adminUrl));
  const ids = PROVIDERS.map(([id]) => id);
  const { response } = await tour(server.url, ids, { world: server.world, terminal, stop });
  if (!stop.isCancelled) terminal.out(moreCalls(server.url, response));
  await stopped(stop);
  await server.close();
  return OK_STATUS;
}

async function openOver(
  upstream: string,
  port: number,
  mayMove: boolean,
  terminal: Terminal,
): Promise<GatewayServer> {
  const config = demoConfig(upstream, port);
  if (typeof config === "string") return { ok: false, isTaken: false, trouble: config };
  const server = await openGateway(config, terminal);
  if (server.ok || !server.isTaken || !mayMove) return server;
  terminal.out(`Port ${port} is in use, so a free port is used.\n`);
  return await openGateway({ ...config, server: { ...config.server, port: 0 } }, terminal);
}

/** Returns the configuration of the demonstration, or its problems as text. */
function demoConfig(upstream: string, port: number): Config | string {
  const providers = PROVIDERS.map(([type, path]) => [type, {
    type,
    base_url: `${upstream}${path}`,
    default_model: "sim-echo",
    models: { mode: "fetch" },
    ...(type === "messages" ? { api_key: "any" } : {}),
    capabilities: CAPABILITIES[type],
  }]);
  const native = {
    type: "compat",
    base_url: `${upstream}/compat/v1`,
    api_key: "any",
    models: { mode: "fetch" },
    capabilities: NATIVE,
  };
  const routes = [...PROVIDERS, [NATIVE_ID]].map(([id]) => ({
    name: id,
    match: { models: [`${id}/*`] },
    targets: [{ provider: id }],
  }));
  const nativeRoute = {
    name: "native-responses",
    match: { path: "/v1/responses", models: [`${NATIVE_ID}/*`] },
    targets: [{ provider: NATIVE_ID, upstream_request_type: "responses" }],
  };
  const claudeCode = CLAUDE_CODE.map(([model, provider]) => ({
    name: `claude-code-${provider}`,
    match: { models: [model] },
    targets: [{ provider }],
  }));
  const relayed = RELAYED_PATHS.map((path) => ({
    name: `relayed-${path.slice("/v1/".length)}`,
    match: { path },
    targets: [{ provider: NATIVE_ID }],
  }));
  const everyone = { name: "all", targets: PROVIDERS.map(([provider]) => ({ provider })) };
  const loaded = parseConfig(
    JSON.stringify({
      server: { port },
      logging: { level: "warn" },
      admin: { enabled: true, port: 0 },
      providers: { ...Object.fromEntries(providers), [NATIVE_ID]: native },
      routing: {
        default_strategy: "round-robin",
        routes: [nativeRoute, ...routes, ...claudeCode, ...relayed, everyone],
      },
      // The example calls provoke failures, which should not open a circuit breaker for long.
      circuit_breaker: { open_duration: "2s" },
    }),
    {},
  );
  return loaded.ok ? loaded.config : loaded.problems.join("\n");
}

function moreCalls(url: string, response: string | null): string {
  const weather = {
    type: "function",
    function: {
      name: "weather",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  };
  return [
    "More to try in another terminal:",
    "",
    "# a stream from a provider with another protocol",
    chatCurl(url, { model: "messages/sim-slow", stream: true }),
    "",
    "# a tool call",
    chatCurl(url, { model: "local/sim-tools", tools: [weather] }),
    "",
    "# a response from a provider without the Responses API",
    responsesCurl(url, { model: "messages/sim-echo", input: "Say hello." }),
    "",
    ...response === null ? [] : [
      "# continues a response of the tour, which the gateway stores for half an hour",
      responsesCurl(url, {
        model: "sim-echo",
        previous_response_id: response,
        input: "And tomorrow?",
        tools: [WEATHER_FUNCTION],
      }),
      "",
    ],
    "# a response that its provider stores and generates in the background; retrieve it by its ID",
    responsesCurl(url, { model: "native/sim-echo", input: "Say hello.", background: true }),
    `curl ${url}/v1/responses/ID`,
    "",
    "# a completion that its provider stores, and the list of its stored completions",
    chatCurl(url, { model: "native/sim-echo", store: true }),
    `curl ${url}/v1/chat/completions`,
    "",
    "# an error of a provider",
    chatCurl(url, { model: "messages/sim-error-400" }),
    "",
    "# a stream that breaks off: one error chunk, then [DONE]",
    chatCurl(url, { model: "compat/sim-broken-stream", stream: true }),
    "",
    "# any of the three providers, in turn",
    chatCurl(url, { model: "sim-echo" }),
    "",
    "# embeddings, and the list of models",
    `curl ${url}/v1/embeddings -d '{"model":"local/sim-embed","input":"Say hello."}'`,
    `curl ${url}/v1/models`,
    "",
    "# speech, a tone as WAV; and an image, a PNG in base64",
    otherCurl(url, "/v1/audio/speech", {
      model: `${NATIVE_ID}/sim-echo`,
      voice: "alloy",
      input: "Say hello.",
    }) + " -o speech.wav",
    otherCurl(url, "/v1/images/generations", { model: `${NATIVE_ID}/sim-echo`, prompt: "a dot" }),
    "",
    "# a coding agent, answered by the simulator; switchyard agent lists the others",
    "# (in a checkout, switchyard is ./scripts/deno run -A main.ts)",
    "export SWITCHYARD_KEY=any",
    `eval "$(switchyard agent claude --url ${url} --model claude-opus)"`,
    "claude",
    "",
    "Ctrl-C ends the demonstration.",
    "",
  ].join("\n");
}
