import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { pythonWith } from "../tools/package_cache.ts";
import { reportRun } from "./runs.ts";
import { freePort } from "./system.ts";

// Arize Phoenix as the collector of a gateway: calls go through the gateway to the simulator, and
// Phoenix says over its API what it has understood of their spans. Ends with 1 if a model or a
// count of tokens is not what the client has received.

const PACKAGE = "arize-phoenix==20.26.1";
const ROOT = new URL("../../", import.meta.url).pathname;

/** Time for Phoenix to make its database and to listen, in milliseconds. */
const START_TIMEOUT_MS = 120_000;

const QUESTION = { role: "user", content: "What is the weather in Oslo?" };
const TOOL = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

/** Calls by name: the path and the body of each request. */
const CALLS: Readonly<Record<string, readonly [path: string, body: JsonObject]>> = {
  chat: ["chat/completions", { model: "sim-echo", messages: [QUESTION], temperature: 0.5 }],
  stream: ["chat/completions", {
    model: "sim-echo",
    messages: [QUESTION],
    stream: true,
    stream_options: { include_usage: true },
  }],
  tool: ["chat/completions", { model: "sim-tools", messages: [QUESTION], tools: [TOOL] }],
  responses: ["responses", { model: "sim-echo", input: "Hello", store: false }],
};

/** A generation as a backend shows it. */
interface Generation {
  readonly model: unknown;
  readonly input: unknown;
  readonly output: unknown;
}

/** Waits until the address responds with a success. */
async function awaitUrl(url: string): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end) {
    const isUp = await fetch(url).then((one) => one.text().then(() => one.ok), () => false);
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`${url} did not respond in time.`);
}

function start(command: string, args: readonly string[], env: Record<string, string> = {}) {
  return new Deno.Command(command, {
    args: [...args],
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/** Returns the model and the tokens of a response or of the last event that has them. */
function generationOf(text: string): Generation {
  const events = text.startsWith("{")
    ? [text]
    : text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => line.slice(6));
  let found: Generation = { model: null, input: null, output: null };
  for (const event of events) {
    const { model, usage } = JSON.parse(event);
    if (!isObject(usage)) continue;
    found = {
      model,
      input: usage.prompt_tokens ?? usage.input_tokens,
      output: usage.completion_tokens ?? usage.output_tokens,
    };
  }
  return found;
}

/** Returns the generations that Phoenix has stored. */
async function storedGenerations(url: string): Promise<Generation[]> {
  const response = await fetch(`${url}/v1/projects/default/spans?limit=100`);
  const { data } = await response.json();
  return data
    .filter((span: JsonObject) => span.span_kind === "LLM")
    .map(({ attributes: known }: { attributes: JsonObject }) => ({
      model: known["llm.model_name"],
      input: known["llm.token_count.prompt"],
      output: known["llm.token_count.completion"],
    }));
}

/** Returns the generations when there are as many, or those that there are after 30 s. */
async function awaitGenerations(url: string, count: number): Promise<Generation[]> {
  for (let tries = 0; tries < 60; tries++) {
    const stored = await storedGenerations(url);
    if (stored.length >= count) return stored;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return await storedGenerations(url);
}

const python = await pythonWith([PACKAGE]);
const folder = await Deno.makeTempDir();
const [phoenixPort, grpcPort, simulatorPort, gatewayPort] = [
  freePort(),
  freePort(),
  freePort(),
  freePort(),
];
const phoenixUrl = `http://127.0.0.1:${phoenixPort}`;
const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
const config = `${folder}/config.yaml`;
await Deno.writeTextFile(
  config,
  `
server: {port: ${gatewayPort}}
providers: {up: {type: compat, base_url: "http://127.0.0.1:${simulatorPort}/compat/v1"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
);
const main = ["run", "-A", `${ROOT}main.ts`];
const phoenix = start(python.replace(/python$/, "phoenix"), ["serve"], {
  PHOENIX_WORKING_DIR: folder,
  PHOENIX_PORT: String(phoenixPort),
  PHOENIX_GRPC_PORT: String(grpcPort),
});
const simulator = start(Deno.execPath(), [...main, "simulate", "--port", String(simulatorPort)]);
const gateway = start(Deno.execPath(), [...main, "--config", config], {
  OTEL_EXPORTER_OTLP_ENDPOINT: phoenixUrl,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
});
let isRight = false;
try {
  await awaitUrl(`${phoenixUrl}/healthz`);
  await awaitUrl(`${gatewayUrl}/health`);
  const received: Generation[] = [];
  for (const [path, body] of Object.values(CALLS)) {
    const response = await fetch(`${gatewayUrl}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    received.push(generationOf(text));
  }
  // The end of the process sends the spans that wait.
  gateway.kill("SIGTERM");
  await gateway.status;
  const stored = await awaitGenerations(phoenixUrl, received.length);
  const texts = (all: readonly Generation[]) => all.map((one) => JSON.stringify(one)).toSorted();
  isRight = texts(stored).join() === texts(received).join() && received.length > 0;
  console.log(`received by the client:\n  ${texts(received).join("\n  ")}`);
  console.log(`stored by ${PACKAGE}:\n  ${texts(stored).join("\n  ")}`);
} finally {
  for (const child of [phoenix, simulator, gateway]) {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await child.status;
  }
  await Deno.remove(folder, { recursive: true });
}
if (isRight) await reportRun("phoenix", [PACKAGE], `${Object.keys(CALLS).length} calls, equal`);
else console.log("different");
Deno.exit(isRight ? 0 : 1);
