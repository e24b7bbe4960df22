import { parseConfig } from "../../src/config/load.ts";
import { STARTERS } from "../../src/cli/init.ts";
import { listen, type Listening } from "../../src/cli/listen.ts";
import { isRefusal } from "../../src/core/failure/failure.ts";
import { messageOf } from "../../src/core/failure/openai_error.ts";
import type { RequestHeaders } from "../../src/core/header_fields.ts";
import type { World } from "../../src/core/world.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import type { CallReport } from "../../src/observe/report.ts";
import { createApp } from "../../src/server/app.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newJudge } from "./judge.ts";
import {
  CAPABILITY_SETS,
  type CapabilitySet,
  type CellReport,
  PROVIDER_TYPES,
  type ProviderType,
} from "./matrix.ts";

/** Capabilities of providers as their configuration has them. */
type Capabilities = Readonly<Record<string, unknown>>;

const TRANSLATED = { structured_outputs: true, reasoning_effort: true };
const STATEFUL = {
  ...TRANSLATED,
  embeddings_base64: true,
  chat_completions_lifecycle: true,
  responses_lifecycle: true,
  conversations: true,
  background_responses: true,
  response_cancellation: true,
  response_compaction: true,
  response_input_tokens: true,
};

/** Everything that a provider of each type can declare. */
const EVERYTHING: Readonly<Record<ProviderType, Capabilities>> = {
  compat: { ...TRANSLATED, embeddings_base64: true },
  messages: TRANSLATED,
  local: TRANSLATED,
  native: STATEFUL,
};

/** Provider of the starter files for each type of the matrix. */
const STARTER_PROVIDERS: Readonly<Record<ProviderType, string>> = {
  compat: "openai",
  messages: "anthropic",
  local: "ollama",
  native: "openai",
};

/** The gateways under test over one simulator, all on sockets of this machine. */
export interface MatrixGateways extends AsyncDisposable {
  /** Base URL of the gateway for each set of capabilities, without a trailing slash. */
  readonly urls: Readonly<Record<CapabilitySet, string>>;
  /** Returns what the gateways reported of the calls with this API key, once they are over. */
  reportOf(key: string): Promise<CellReport>;
}

/** Serves a simulator, and a gateway over it for each set of capabilities. */
export function serveGateways(): MatrixGateways {
  const world = newRealWorld();
  const upstream = listening(listen(newUpstream(newJudge(newSimulator(world))), "127.0.0.1", 0));
  const gateways = CAPABILITY_SETS.map((set) =>
    serveGateway((coder) => gatewayConfig(upstream.url, set, coder), world)
  );
  const [declared, starter] = gateways;
  return {
    urls: { declared: declared?.url ?? "", starter: starter?.url ?? "" },
    async reportOf(key) {
      const reports = await Promise.all(gateways.map((gateway) => gateway.reportsOf(key)));
      return summaryOf(reports.flat());
    },
    async [Symbol.asyncDispose]() {
      for (const gateway of gateways) await gateway.close();
      await upstream.close();
      world.close();
    },
  };
}

/** Time in which the provider behind `silent-TYPE/` sends nothing. */
const SILENCE_MS = 9_000;

/** Time after which the first target of the models `failing-TYPE/` fails. */
const FAILURE_MS = 3_000;

/** Returns an upstream that is late below `/silent`, and fails below `/failing`. */
function newUpstream(simulate: (request: Request) => Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    const [, fault, path = ""] = /^https?:\/\/[^/]+\/(silent|failing)(\/.*)$/.exec(request.url) ??
      [];
    if (fault === undefined) return await simulate(request);
    const body = await request.text();
    const ms = fault === "silent" ? SILENCE_MS : FAILURE_MS;
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (fault === "failing") {
      return Response.json({ error: { message: "Out of order." } }, { status: 503 });
    }
    const { method, headers } = request;
    return await simulate(new Request(new URL(path, request.url), { method, headers, body }));
  };
}

/** A target of the named model `coder`. */
interface CoderTarget {
  readonly provider: string;
  readonly model: string;
}

function configOf(text: string) {
  const result = parseConfig(text, {});
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}

/**
 * Serves a gateway. A request for `/coder/PROVIDER/MODEL` applies a configuration whose named model
 * `coder` has this target.
 */
function serveGateway(configFor: (coder: CoderTarget) => string, world: World) {
  const first = configOf(configFor({ provider: "compat", model: "sim-plan" }));
  const reports = new Map<string, Readonly<CallReport>>();
  const idsByKey = new Map<string, string[]>();
  // A turn of a WebSocket has the header fields of its handshake.
  const began = ({ id }: CallReport, headers: RequestHeaders) => {
    const key = keyOf(headers);
    idsByKey.set(key, [...idsByKey.get(key) ?? [], id]);
  };
  const gateway = newGateway(compile(first, 1), world, [(report) => {
    reports.set(report.id, report);
  }], { began });
  const app = createApp(gateway);
  const server = listening(listen(
    async (request, peer) => {
      const [, provider, model] = /\/coder\/([^/]+)\/([^/]+)$/.exec(request.url) ?? [];
      if (provider !== undefined && model !== undefined) {
        gateway.reload(configOf(configFor({ provider, model })));
        return new Response("The targets are replaced.\n");
      }
      return await app(request, peer);
    },
    "127.0.0.1",
    0,
  ));
  return {
    url: server.url,
    close: server.close,
    async reportsOf(key: string): Promise<readonly Readonly<CallReport>[]> {
      await gateway.state.inFlight.idle();
      return (idsByKey.get(key) ?? []).flatMap((id) => reports.get(id) ?? []);
    },
  };
}

function listening(server: Listening): Extract<Listening, { ok: true }> {
  if (!server.ok) throw new Error(server.trouble);
  return server;
}

/** Returns the API key of a request, in the header of either kind of client. */
function keyOf(headers: Pick<RequestHeaders, "get">): string {
  return headers.get("x-api-key") ?? headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
}

function summaryOf(reports: readonly Readonly<CallReport>[]): CellReport {
  const failures = reports.flatMap(({ failure }) => failure ?? []);
  const refusal = failures.findLast(isRefusal);
  const fault = failures.findLast((failure) => !isRefusal(failure));
  return {
    verified: reports.some(({ verified }) => verified.length > 0),
    lossy: [...new Set(reports.flatMap(({ lossy }) => lossy))],
    refusal: refusal === undefined ? null : messageOf(refusal),
    fault: fault === undefined ? null : `${fault.kind}: ${fault.message}`,
    isEarly: reports.some(({ ms }) => ms.earlyHead !== null),
    isPosted: reports.some(({ method }) => method === "POST"),
    sessions: [...new Set(reports.flatMap(({ session }) => session ?? []))],
  };
}

const UPSTREAM_PATHS: Readonly<Record<ProviderType, string>> = {
  compat: "/compat/v1",
  messages: "/messages",
  local: "/local",
  native: "/compat/v1",
};

function gatewayConfig(upstream: string, set: CapabilitySet, coder: CoderTarget): string {
  const capabilities = set === "declared" ? EVERYTHING : starterCapabilities();
  const provider = (type: ProviderType, path = UPSTREAM_PATHS[type]) => ({
    type: type === "native" ? "compat" : type,
    base_url: `${upstream}${path}`,
    api_key: "any",
    capabilities: capabilities[type],
  });
  const providers = PROVIDER_TYPES.flatMap((type) => [
    [type, provider(type)],
    [`silent-${type}`, provider(type, `/silent${UPSTREAM_PATHS[type]}`)],
    [`broken-${type}`, provider(type, `/failing${UPSTREAM_PATHS[type]}`)],
  ]);
  const hosts = ["gemini", "openrouter"].map((host) => [host, {
    ...provider("compat", `/hosts/${host}/v1`),
    compatibility_profile: host,
  }]);
  const target = (provider: string, type: ProviderType) => ({
    provider,
    ...(type === "native" ? { upstream_request_type: "responses" } : {}),
  });
  const routes = PROVIDER_TYPES.flatMap((type) => [
    { name: type, match: { models: [`${type}/*`] }, targets: [target(type, type)] },
    {
      name: `silent-${type}`,
      match: { models: [`silent-${type}/*`] },
      early_head: "1s",
      targets: [target(`silent-${type}`, type)],
    },
  ]);
  const failing = PROVIDER_TYPES.flatMap((type) => {
    const lost = {
      early_head: "1s",
      targets: [{ ...target(`broken-${type}`, type), model: "sim-plan" }],
    };
    const fallback = [{ ...target(type, type), model: "sim-plan" }];
    return [[`lost-${type}/sim-plan`, lost], [`failing-${type}/sim-plan`, { ...lost, fallback }]];
  });
  const embeddings = {
    name: "native-embeddings",
    match: { path: "/v1/embeddings", models: ["native/*"] },
    targets: [{ provider: "native" }],
  };
  return JSON.stringify({
    server: { ping_interval: "2s" },
    providers: Object.fromEntries([...providers, ...hosts]),
    models: { coder: { targets: [coder] }, ...Object.fromEntries(failing) },
    routing: {
      routes: [embeddings, ...routes, ...hosts.map(([host]) => hostRoute(String(host)))],
    },
    // Each cell has its own verdict: none is tried again, and none closes a provider to the next.
    retry: { enabled: false },
    circuit_breaker: { enabled: false },
  });
}

function hostRoute(host: string) {
  return { name: host, match: { models: [`${host}/*`] }, targets: [{ provider: host }] };
}

/** Returns the capabilities that the starter file for a laptop declares for each provider type. */
function starterCapabilities(): Readonly<Record<ProviderType, Capabilities>> {
  const text = STARTERS.laptop?.(() => "") ?? "";
  const parsed = parseConfig(text, { OPENAI_API_KEY: "any", ANTHROPIC_API_KEY: "any" });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const { providers } = parsed.config;
  const declaredBy = (type: ProviderType) =>
    declaredOf(providers[STARTER_PROVIDERS[type]]?.capabilities ?? {});
  return {
    compat: declaredBy("compat"),
    messages: declaredBy("messages"),
    local: declaredBy("local"),
    native: declaredBy("native"),
  };
}

/** Returns the capabilities that are not at their defaults. */
function declaredOf(capabilities: object): Capabilities {
  return Object.fromEntries(
    Object.entries(capabilities).filter(([, value]) =>
      Array.isArray(value) ? value.length > 0 : value === true
    ),
  );
}
