import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { nativeGateway } from "../../support/native_gateway.ts";
import { streamOf } from "../../support/pieces.ts";
import { refusalOf } from "../../support/state_call.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

const CONFIG = `
providers:
  none: {type: compat, base_url: "http://none"}
  local: {type: local, base_url: "http://local", default_model: l}
  able: {type: compat, base_url: "http://able", default_model: chat, capabilities: {relay: [moderations, images, audio]}}
  spare: {type: compat, base_url: "http://spare", capabilities: {relay: [moderations, audio]}}
routing:
  routes:
    - {name: forced, match: {headers: {x-gateway-request-type: /v1/audio/speech}}, targets: [{provider: spare}]}
    - {name: main, targets: [{provider: none, model: x}, {provider: local}, {provider: able}], fallback: [{provider: spare, model: other}]}
pricing:
  able/image: {per_image: 0.04}
  able/tokens: {input: 1, output: 2, per_image: 9}
  able/heard: {per_minute: 0.6}
  spare/said: {per_million_characters: 1000000}
retry: {initial_delay: 1s, jitter_factor: 0}
circuit_breaker: {enabled: false}
`;

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
}

/** A gateway whose upstreams answer with the JSON of the script. */
function gateway(
  script: (sent: Sent) => JsonObject | Response,
  config = CONFIG,
): TestGateway & { readonly sent: readonly Sent[]; readonly world: ScriptedWorld } {
  const sent: Sent[] = [];
  const world = scriptedWorld({
    async fetch(url, { headers, body }) {
      const one = { url, headers: new Headers(headers), text: await new Response(body).text() };
      sent.push(one);
      const says = script(one);
      const response = says instanceof Response ? says : Response.json(says);
      return new Response(streamOf([await response.bytes()]), response);
    },
  });
  return { ...testGateway(config, world), sent, world };
}

function post(path: string, body: JsonObject | FormData, headers = {}): Request {
  return new Request(`http://gateway${path}`, {
    method: "POST",
    headers,
    body: body instanceof FormData ? body : JSON.stringify(body),
  });
}

Deno.test("only a target with the capability serves, and the document changes at the model alone", async () => {
  const calls = gateway(() => ({ results: [] }));
  const text = '{ "input": [1.0,"x"],"model" : "able/m", "unknown": {"a":1e3} }';
  const request = new Request("http://gateway/v1/moderations?x=1", { method: "POST", body: text });
  const response = await calls.app(request);
  assertEquals([response.status, response.headers.get("x-gateway-provider")], [200, "able"]);
  const [sent] = calls.sent;
  assertEquals([sent?.url, sent?.text], [
    "http://able/moderations?x=1",
    text.replace("able/m", "m"),
  ]);
});

Deno.test("a request without a model leaves without one, not with the model for chats", async () => {
  const calls = gateway(() => ({ results: [] }));
  const response = await calls.app(post("/v1/moderations", { input: "x" }));
  assertEquals([response.status, calls.sent[0]?.text], [200, '{"input":"x"}']);
  assertEquals((await calls.reported(1)).model, null);
  const speech = await calls.app(
    post("/v1/audio/speech", { input: "x" }, { "x-gateway-provider": "spare" }),
  );
  assertEquals(speech.status, 400, "an endpoint that needs a model");
  assertEquals(calls.sent.length, 1);
});

Deno.test("a route matches the request type of a relayed endpoint, which is its path", async () => {
  const calls = gateway(() => new Response("bytes", { headers: { "content-type": "audio/wav" } }));
  const speech = await calls.app(post("/v1/audio/speech", { model: "m", input: "x" }));
  assertEquals(speech.headers.get("x-gateway-route"), "forced");
  assertEquals([await speech.text(), speech.headers.get("content-type")], ["bytes", "audio/wav"]);
});

Deno.test("a failed attempt is retried and then falls back", async () => {
  const calls = gateway(({ url }) =>
    url.startsWith("http://able") ? new Response("{}", { status: 503 }) : { results: [] }
  );
  const called = calls.app(post("/v1/moderations", { model: "able/m", input: "x" }, {}));
  for (let wait = 0; wait < 3; wait++) await calls.world.advance(10_000);
  const response = await called;
  // A requested provider limits the fallbacks to it.
  assertEquals(response.status, 503);
  await response.body?.cancel();
  const again = calls.app(post("/v1/moderations", { model: "m", input: "x" }));
  for (let wait = 0; wait < 3; wait++) await calls.world.advance(10_000);
  assertEquals((await again).headers.get("x-gateway-provider"), "spare");
  assertEquals(calls.sent.at(-1)?.text, '{"model":"other","input":"x"}');
});

Deno.test("a request that no target can serve names the capability", async () => {
  const calls = nativeGateway(CONFIG, () => ({ body: {} }));
  for (const [path, family] of [["/rerank", "rerank"], ["/completions", "completions"]] as const) {
    const answer = await calls.post(path, { model: "m" });
    assertEquals(refusalOf(answer), [400, "unsupported_feature", "provider"]);
    assertStringIncludes(answer.text, `capabilities.relay: [${family}]`);
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("an error under status 200, and an answer that is no JSON, are faults", async () => {
  for (const body of ['{"error":{"message":"no"}}', "{", "[]", ""]) {
    const calls = gateway(
      () => new Response(body, { headers: { "content-type": "application/json" } }),
      CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}"),
    );
    const response = await calls.app(post("/v1/moderations", { model: "able/m", input: "x" }));
    assertEquals(response.status, 502, body);
    await response.body?.cancel();
  }
});

const COSTS: readonly (readonly [
  what: string,
  path: string,
  model: string,
  answer: JsonObject,
  usd: number | null,
])[] = [
  ["two images", "/v1/images/generations", "able/image", { data: [{}, {}] }, 0.08],
  ["tokens before images", "/v1/images/generations", "able/tokens", {
    data: [{}],
    usage: { input_tokens: 1_000_000, output_tokens: 500_000, total_tokens: 1_500_000 },
  }, 2],
  ["an unpriced model", "/v1/images/generations", "able/m", { data: [{}] }, null],
  ["characters", "/v1/audio/speech", "spare/said", {}, 3],
];

for (const [what, path, model, answer, usd] of COSTS) {
  Deno.test(`the cost of a relayed call is that of ${what}`, async () => {
    const calls = gateway(() => answer);
    const response = await calls.app(post(path, { model, prompt: "x", input: "a😀c" }));
    assertEquals(response.status, 200);
    await response.body?.cancel();
    assertEquals((await calls.reported(1)).cost, usd);
  });
}

Deno.test("the cost of a transcription is that of its minutes, if the provider reports its length", async () => {
  const answers = [
    [{ text: "x", usage: { type: "duration", seconds: 30 } }, 0.3],
    [{ text: "x", duration: "60" }, 0.6],
    [{ text: "x" }, null],
  ] as const;
  for (const [answer, usd] of answers) {
    const calls = gateway(() => ({ ...answer }));
    const form = new FormData();
    form.set("file", new File(["\x00\xff"], "ä.wav"));
    form.set("model", "able/heard");
    const response = await calls.app(post("/v1/audio/transcriptions", form));
    assertEquals(response.status, 200, await response.text());
    assertEquals((await calls.reported(1)).cost, usd);
    const [sent] = calls.sent;
    assertStringIncludes(sent?.text ?? "", 'filename="ä.wav"');
    assertStringIncludes(sent?.text ?? "", "\r\n\r\nheard\r\n");
    assert(sent?.headers.get("content-type")?.startsWith("multipart/form-data; boundary="));
  }
});

Deno.test("a key is charged for images, without an estimate of tokens, and for speech that it did not wait for", async () => {
  const wav = () =>
    new Response(streamOf([new Uint8Array(200_000)]), { headers: { "content-type": "audio/wav" } });
  const script = ({ url }: Sent) =>
    url.endsWith("/speech") ? wav() : { data: [{ b64_json: "A".repeat(9_000) }] };
  const calls = gateway(script, twoKeys() + CONFIG);
  const image = await calls.app(
    post("/v1/images/generations", { model: "able/image", prompt: "x" }, keyOf("ada")),
  );
  assertEquals([image.status, (await image.json()).data.length], [200, 1]);
  const first = await calls.reported(1);
  assertEquals([first.charge, first.estimated], [{ tokens: 0, nanoUsd: 40_000_000 }, false]);
  const speech = await calls.app(
    post("/v1/audio/speech", { model: "spare/said", input: "abc" }, keyOf("ada")),
  );
  assertEquals(speech.status, 200);
  await speech.body?.cancel();
  assertEquals((await calls.reported(2)).charge, { tokens: 0, nanoUsd: 3_000_000_000 });
});

Deno.test("a key uses the relayed endpoints that it may use, by the name of the capability", async () => {
  const config = twoKeys().replace("value: key-of-ada", "value: key-of-ada, endpoints: [audio]");
  const calls = nativeGateway(config + CONFIG, () => ({ body: { results: [] } }));
  const refused = await calls.post("/moderations", { input: "x" }, keyOf("ada"));
  assertEquals(refused.error.code, "endpoint_not_allowed");
  const files = await calls.get("/files", keyOf("ada"));
  assertEquals(files.error.code, "endpoint_not_allowed");
  assertEquals((await calls.post("/moderations", { input: "x" }, keyOf("bob"))).status, 200);
});
