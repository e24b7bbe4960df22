import { listen } from "../../src/cli/listen.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** Time for the gateway to listen, in milliseconds. */
const START_TIMEOUT_MS = 60_000;

/**
 * Kinds of providers under test. The models of each are `KIND/MODEL`, and `KIND-long` is its
 * `sim-long` as a named model, whose responses have that name.
 */
export const KINDS: readonly string[] = ["compat", "messages", "local", "native"];

/** The key that the gateway requires of the referees. */
export const CLIENT_KEY = "key-of-a-referee";

const TRANSLATED = { structured_outputs: true, reasoning_effort: true };
const STATEFUL = {
  chat_completions_lifecycle: true,
  responses_lifecycle: true,
  conversations: true,
  background_responses: true,
  response_cancellation: true,
  response_compaction: true,
  response_input_tokens: true,
  relay: ["completions", "moderations", "images", "audio", "files", "batches"],
};

/** A running gateway over the simulator. */
export interface System extends AsyncDisposable {
  /** The gateway's address, without a slash at the end. */
  readonly url: string;
}

/**
 * Serves the simulator and starts a gateway over a provider of each kind. A model without a kind
 * is one of the kind `otherwise`. `edit` returns the body that the simulator receives in place of
 * another one.
 */
export async function startSystem(
  { otherwise = "compat", edit = (body) => body }: {
    otherwise?: string;
    edit?: (body: string) => string;
  } = {},
): Promise<System> {
  const world = newRealWorld();
  const simulate = newSimulator(world);
  const upstream = listen(
    async (request) => {
      const { method, headers } = request;
      const isJson = headers.get("content-type")?.includes("json") ?? false;
      if (method !== "POST" || !isJson) return await simulate(request);
      const body = edit(await request.text());
      return await simulate(new Request(request.url, { method, headers, body }));
    },
    "127.0.0.1",
    0,
  );
  if (!upstream.ok) throw new Error(upstream.trouble);
  const folder = await Deno.makeTempDir();
  const port = freePort();
  const file = `${folder}/config.json`;
  await Deno.writeTextFile(file, JSON.stringify(configOf(upstream.url, port, otherwise)));
  const gateway = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", MAIN, "--config", file],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const system = {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      gateway.kill("SIGKILL");
      await gateway.status;
      await upstream.close();
      world.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
  await awaitHealth(system.url);
  return system;
}

/** Returns a free port of this machine. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function awaitHealth(url: string): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end) {
    const isUp = await fetch(`${url}/health`).then((one) => one.text().then(() => one.ok))
      .catch(() => false);
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} did not respond in time.`);
}

function configOf(upstream: string, port: number, otherwise: string) {
  const provider = (type: string, path: string, capabilities: object) => ({
    type,
    base_url: `${upstream}${path}`,
    api_key: "any",
    capabilities: { ...TRANSLATED, ...capabilities },
  });
  const target = (kind: string) => ({
    provider: kind,
    ...(kind === "native" ? { upstream_request_type: "responses" } : {}),
  });
  return {
    server: { host: "127.0.0.1", port },
    security: { enabled: true, api_key: { keys: [{ name: "referee", value: CLIENT_KEY }] } },
    providers: {
      compat: provider("compat", "/compat/v1", { embeddings_base64: true }),
      messages: provider("messages", "/messages", {}),
      local: provider("local", "/local", {}),
      native: provider("compat", "/compat/v1", { embeddings_base64: true, ...STATEFUL }),
    },
    models: Object.fromEntries(
      KINDS.map((kind) => [`${kind}-long`, {
        response_model: "requested",
        targets: [{ ...target(kind), model: "sim-long" }],
      }]),
    ),
    routing: {
      routes: [
        ...KINDS.map((kind) => ({
          name: kind,
          match: { models: [`${kind}/*`] },
          targets: [target(kind)],
        })),
        {
          name: "embeddings",
          match: { path: "/v1/embeddings" },
          targets: [{ provider: "native" }],
        },
        { name: "otherwise", targets: [target(otherwise)] },
      ],
    },
    // Each case has its own verdict: none is tried again, and none closes a provider to the next.
    retry: { enabled: false },
    circuit_breaker: { enabled: false },
  };
}
