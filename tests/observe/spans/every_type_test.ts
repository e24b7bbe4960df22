import { assert, assertEquals } from "../../support/assert.ts";
import { EVERY_TYPE, NATIVE, simulated, TRANSLATED } from "../../support/simulated.ts";
import { scriptedWorld } from "../../support/world.ts";
import { tracedGateway } from "./traced.ts";

/** Requests of each kind, whose model is that of a provider. */
const REQUESTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/v1/chat/completions": {
    messages: [{ role: "user", content: "Hi" }],
    stream_options: { include_usage: true },
  },
  "/v1/responses": { input: "Hi", store: false, max_output_tokens: 64 },
  "/v1/messages": { messages: [{ role: "user", content: "Hi" }], max_tokens: 64 },
  "/v1/embeddings": { input: "Hi" },
  "/v1/completions": { prompt: "Hi" },
  "/v1/images/generations": { prompt: "A house" },
  "/v1/audio/speech": { input: "Hi", voice: "alloy" },
};

/** Every type of provider, and one with the endpoints that are not translated. */
const CONFIG = EVERY_TYPE.replace(
  "api_key: k3",
  "api_key: k3, capabilities: {relay: [completions, images, audio]}",
);

const GENERATED = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

/** Attributes that the span of a successful attempt must have, and should have. */
const REQUIRED = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "server.address",
  "server.port",
  "http.response.status_code",
];
const OF_A_GENERATION = [
  "gen_ai.response.model",
  "gen_ai.response.finish_reasons",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
];
const OF_A_STREAM = ["gen_ai.request.stream", "gen_ai.response.time_to_first_chunk"];

/** Returns the names of attributes that the attempt of a call does not have. */
async function missingOf(
  path: string,
  { provider, stream, needed }: {
    readonly provider: string;
    readonly stream: boolean;
    readonly needed: readonly string[];
  },
): Promise<readonly string[]> {
  const gateway = await tracedGateway(CONFIG, scriptedWorld({ fetch: simulated().fetch }));
  const { stream_options, ...body } = REQUESTS[path] ?? {};
  const sent = {
    ...body,
    model: `${provider}/${path === "/v1/embeddings" ? "sim-embed" : "sim-echo"}`,
    ...stream && { stream, ...stream_options !== undefined && { stream_options } },
  };
  const response = await gateway.app(
    new Request(`http://localhost${path}`, { method: "POST", body: JSON.stringify(sent) }),
  );
  const text = await response.text();
  assertEquals(response.status, 200, `${path} ${provider}: ${text}`);
  const [call, attempt, ...others] = await gateway.finished();
  assertEquals(others, []);
  const ofCall = Object.keys(call?.attributes ?? {});
  assertEquals(ofCall.filter((name) => /^(?:gen_ai|openai)\./.test(name)), []);
  const isVectors = path === "/v1/embeddings";
  assert(!isVectors || attempt?.attributes["gen_ai.usage.output_tokens"] === undefined);
  return needed.filter((name) => attempt?.attributes[name] === undefined);
}

for (const path of GENERATED) {
  for (const provider of [...NATIVE, ...TRANSLATED]) {
    Deno.test(`the span of ${path} at ${provider} has every attribute that it must have`, async () => {
      const whole = [...REQUIRED, ...OF_A_GENERATION];
      assertEquals(await missingOf(path, { provider, stream: false, needed: whole }), []);
      const needed = [...whole, ...OF_A_STREAM];
      assertEquals(await missingOf(path, { provider, stream: true, needed }), []);
    });
  }
}

Deno.test("the span of an endpoint that is not translated has every attribute that it must have", async () => {
  const others = Object.keys(REQUESTS).filter((path) => !GENERATED.includes(path));
  assert(others.length > 0);
  for (const path of others) {
    const ofOutput = path.startsWith("/v1/images") || path.startsWith("/v1/audio")
      ? ["gen_ai.output.type"]
      : [];
    const ofVectors = path === "/v1/embeddings" ? ["gen_ai.embeddings.dimension.count"] : [];
    const needed = [...REQUIRED, ...ofOutput, ...ofVectors];
    assertEquals(await missingOf(path, { provider: "compat", stream: false, needed }), [], path);
  }
});
