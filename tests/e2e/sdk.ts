import OpenAI from "openai";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";

/** The provider types, and where the simulator speaks each of them. */
export const WIRES = ["compat", "messages", "local"] as const;
const PATHS = { compat: "/compat/v1", messages: "/messages", local: "/local" } as const;

/** The official client before a gateway before the simulator, all of them on sockets. */
export interface Sdk extends AsyncDisposable {
  readonly client: OpenAI;
  readonly gateway: ServedGateway;
  /** Resolves when the simulator has a request. */
  readonly arrived: Promise<void>;
}

/**
 * Starts all three, with one more line for the provider, and `top` before the file; the client
 * repeats nothing by itself.
 */
export function startSdk(wire: typeof WIRES[number], setting = "", top = ""): Sdk {
  return startWith((address) => `
${top}providers:
  sim:
    type: ${wire}
    base_url: ${address}${PATHS[wire]}
    api_key: sk-upstream
    ${
    setting.includes("capabilities:")
      ? ""
      : "capabilities: {structured_outputs: true, reasoning_effort: true}"
  }
    ${setting}
routing:
  routes: [{name: main, targets: [{provider: sim}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`);
}

/** Capabilities of an upstream that keeps all state itself. */
const NATIVE = [
  ...["chat_completions_lifecycle", "responses_lifecycle", "conversations", "background_responses"],
  ...["response_cancellation", "response_compaction", "response_input_tokens"],
];

/**
 * Starts all three; the simulator keeps all state itself, once for each of these accounts. The
 * first gets what names none. Chats are sent to the API `chatOver`. The file begins with `top`.
 */
export function startNativeSdk(
  accounts: readonly string[] = ["sim"],
  chatOver: "chat_completions" | "responses" = "chat_completions",
  top = "",
): Sdk {
  const flags = NATIVE.map((flag) => `${flag}: true`).join(", ");
  const targets = accounts.map((id) => `{provider: ${id}, upstream_request_type: responses}`);
  const chats = accounts.map((id) => `{provider: ${id}, upstream_request_type: ${chatOver}}`);
  return startWith((address) => `
${top}providers:
${
    accounts.map((id) =>
      `  ${id}:
    type: compat
    base_url: ${address}/compat/v1
    api_key: sk-${id}
    capabilities: {hosted_tools: [web_search], ${flags}}
`
    ).join("")
  }routing:
  default_strategy: round-robin
  routes:
    - {name: chat, match: {path: /v1/chat}, targets: [${chats.join(", ")}]}
    - {name: main, targets: [${targets.join(", ")}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`);
}

function startWith(config: (address: string) => string): Sdk {
  const world = newRealWorld();
  const arrived = Promise.withResolvers<void>();
  const answer = newSimulator(world);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    arrived.resolve();
    return answer(request);
  });
  const gateway = serveGateway(config(`http://127.0.0.1:${server.addr.port}`));
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-client", maxRetries: 0 });
  return {
    client,
    gateway,
    arrived: arrived.promise,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.shutdown();
      world.close();
    },
  };
}

/** Models whose streams break off in as many ways, after some words. */
export const BROKEN = [
  "sim-broken-stream",
  "sim-broken-reset",
  "sim-broken-json",
  "sim-broken-error",
  "sim-broken-half",
  "sim-broken-huge",
];

/** Returns the error that a call of the SDK throws; "no error" if it throws none. */
export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(() => "no error", (error: unknown) => error);
}

/**
 * Errors that the SDK throws by the model, each with its status; null for that of a stream that has
 * begun.
 */
const TYPED = [
  ["sim-error-400", OpenAI.BadRequestError, 400],
  ["sim-error-401", OpenAI.AuthenticationError, 401],
  ["sim-error-403", OpenAI.PermissionDeniedError, 403],
  ["sim-unheard-of", OpenAI.NotFoundError, 404],
  ["sim-error-422", OpenAI.UnprocessableEntityError, 422],
  ["sim-error-429", OpenAI.RateLimitError, 429],
  ["sim-error-500", OpenAI.InternalServerError, 500],
  ["sim-error-503", OpenAI.InternalServerError, 503],
  ["sim-broken-first", OpenAI.InternalServerError, null],
  ["sim-broken-empty", OpenAI.InternalServerError, 502],
  ["sim-broken-redirect", OpenAI.InternalServerError, 502],
  ["sim-broken-204", OpenAI.InternalServerError, 502],
] as const;

/** Fails unless the call fails for each model with its typed error, with and without a stream. */
export async function assertTyped(
  failure: (model: string, stream: boolean) => Promise<unknown>,
): Promise<void> {
  for (const [model, type, status] of TYPED) {
    for (const stream of [false, true]) {
      const error = await failure(model, stream);
      assert(error instanceof type, `${model}: ${String(error)}`);
      if (status !== null) assertEquals(error.status, status, model);
      assert(error.message.length > 10, error.message);
      assertEquals(typeof error.type, "string", `${model}: ${JSON.stringify(error.error)}`);
    }
  }
}
