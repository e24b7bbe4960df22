import { parseSteering } from "../../src/access/steering.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION, MESSAGES } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { testGateway } from "../support/gateway.ts";
import { type NativeGateway, nativeGateway } from "../support/native_gateway.ts";
import { create } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { refusalOf } from "../support/state_call.ts";
import { scriptedWorld } from "../support/world.ts";

/**
 * A gateway in front of a router, with a key `ada` that has these settings, and a key `bob` without
 * any.
 */
function routerGateway(settings: string): NativeGateway {
  return nativeGateway(routerConfig(settings), () => ({ body: COMPLETION }));
}

function routerConfig(settings: string): string {
  return `security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada, ${settings}}, {name: bob, value: key-of-bob}]}}
providers:
  up: {type: compat, base_url: "http://up", api_key: k, capabilities: {response_input_tokens: true, relay: [completions, moderations, rerank, images, audio]}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
pricing: {"up/cheap*": {input: 1, output: 1, per_image: 1, per_minute: 1, per_million_characters: 1}}
`;
}

const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "/v1/chat/completions": MESSAGES,
  "/v1/responses": { input: "x" },
  "/v1/responses/input_tokens": { input: "x" },
  "/v1/embeddings": { input: "x" },
  "/v1/messages": { max_tokens: 5, ...MESSAGES },
  "/v1/messages/count_tokens": MESSAGES,
  "/v1/completions": { prompt: "x" },
  "/v1/moderations": { input: "x" },
  "/v1/rerank": { query: "x", documents: ["y"] },
  "/v1/images/generations": { prompt: "x" },
  "/v1/audio/speech": { input: "x", voice: "v" },
};

/** Members by which a router chooses another model, and the refused one. */
const STEERING: readonly (readonly [JsonObject, param: string])[] = [
  [{ models: ["cheap-2", "dear"] }, "models[1]"],
  [{ models: [{ model: "dear" }] }, "models[0]"],
  [{ models: "dear" }, "models"],
  [{ models: Array(101).fill("cheap") }, "models"],
  [{ fallbacks: ["dear"] }, "fallbacks[0]"],
  [{ route: "fallback" }, "route"],
  [{ provider: { order: ["x"] } }, "provider"],
  [{ Models: ["cheap"] }, "Models"],
  [{ MODEL: "dear" }, "MODEL"],
  [{ "fallbac\u212as": ["dear"] }, "fallbac\u212as"],
  [{ "provider.order": ["x"] }, "provider.order"],
  [{ "models.0": "dear" }, "models.0"],
  [{ extra_body: { models: ["dear"] } }, "extra_body"],
  [{ preset: "dear" }, "preset"],
  [{ plugins: [{ id: "auto-router" }] }, "plugins"],
  [{ engine: "dear" }, "engine"],
  [{ deployment_id: "dear" }, "deployment_id"],
  [{ context_window_fallbacks: [{ cheap: ["dear"] }] }, "context_window_fallbacks"],
  [{ providerOptions: { gateway: { models: ["dear"] } } }, "providerOptions"],
  [{ model: "cheap@preset/dear" }, "model"],
  [{ model: "cheap,dear" }, "model"],
];

for (const [path, body] of Object.entries(REQUESTS)) {
  Deno.test(`a key with models or budgets cannot choose another model by a member of a POST to ${path}`, async () => {
    for (const settings of ["models: [cheap*]", "budgets: [{per: day, usd: 1}]"]) {
      const calls = routerGateway(settings);
      for (const [member, param] of STEERING) {
        const refused = await calls.post(path.slice("/v1".length), {
          model: "cheap",
          ...body,
          ...member,
        }, keyOf("ada"));
        assert(refused.status === 400 || refused.status === 403, `${refused.status} ${param}`);
        assertEquals(calls.requests.length, 0, param);
      }
    }
  });
}

Deno.test("a key with models or budgets cannot choose another model or price by the query of a relayed request", async () => {
  for (const settings of ["models: [cheap*]", "budgets: [{per: day, usd: 1}]"]) {
    const calls = routerGateway(settings);
    for (
      const path of [
        "/completions",
        "/moderations",
        "/rerank",
        "/images/generations",
        "/audio/speech",
      ]
    ) {
      const body = { model: "cheap", ...REQUESTS[`/v1${path}`] };
      for (
        const name of ["model", "Model", "models", "models[]", "engine", "provider", "api_base"]
      ) {
        const refused = await calls.post(`${path}?a=1&${name}=dear`, body, keyOf("ada"));
        assertEquals(refusalOf(refused), [400, "unsupported_feature", name]);
      }
      const served = await calls.post(`${path}?api-version=1`, body, keyOf("ada"));
      assertEquals(served.status, 200, served.text);
      const bob = await calls.post(`${path}?model=dear`, body, keyOf("bob"));
      assertEquals(bob.status, 200, bob.text);
    }
    assertEquals(calls.requests.length, 10);
  }
  const calls = routerGateway("budgets: [{per: day, usd: 1}]");
  const body = { model: "cheap", ...REQUESTS["/v1/completions"] };
  const tier = await calls.post("/completions?service_tier=priority", body, keyOf("ada"));
  assertEquals(refusalOf(tier), [400, "unsupported_feature", "service_tier"]);
});

Deno.test("the refusal names the member, and members that name permitted models alone are sent", async () => {
  const calls = routerGateway("models: [cheap*]");
  const chat = { model: "cheap", ...MESSAGES };
  for (const [member, param] of STEERING) {
    const refused = await calls.post("/chat/completions", { ...chat, ...member }, keyOf("ada"));
    const isNamed = param.includes("[");
    assertEquals(refusalOf(refused), [
      isNamed ? 403 : 400,
      isNamed ? "model_not_allowed" : "unsupported_feature",
      param,
    ]);
  }
  const served: readonly (readonly [Readonly<Record<string, string>>, JsonObject])[] = [
    [keyOf("ada"), { models: ["cheap-2", "cheap-3"], provider: null }],
    [keyOf("ada"), { models: Array(100).fill("cheap-2") }],
    [keyOf("bob"), { models: ["dear"], provider: { order: ["x"] }, route: "fallback" }],
  ];
  for (const [headers, members] of served) {
    const response = await calls.post(
      "/completions",
      { model: "cheap", prompt: "x", ...members },
      headers,
    );
    assertEquals(response.status, 200, response.text);
  }
  assertEquals(calls.requests.length, 3);
});

Deno.test("a service tier at another price is refused for a key with a budget in USD", async () => {
  const calls = routerGateway("budgets: [{per: day, usd: 1}]");
  for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
    const body = { model: "cheap", ...REQUESTS[path] };
    for (const tier of ["priority", "flex", "scale", 1]) {
      const refused = await calls.post(
        path.slice("/v1".length),
        { ...body, service_tier: tier },
        keyOf("ada"),
      );
      assertEquals(refused.status, 400, `${path} ${tier}`);
    }
  }
  assertEquals(calls.requests.length, 0);
  const chat = { model: "cheap", ...MESSAGES };
  for (const tier of ["auto", "default"]) {
    const served = await calls.post(
      "/chat/completions",
      { ...chat, service_tier: tier },
      keyOf("ada"),
    );
    assertEquals(served.status, 200, served.text);
  }
  const bob = await calls.post(
    "/chat/completions",
    { ...chat, service_tier: "priority" },
    keyOf("bob"),
  );
  assertEquals(bob.status, 200);
});

Deno.test("a faster or regional response at another price is refused for a key with a budget in USD", async () => {
  const calls = routerGateway("budgets: [{per: day, usd: 1}]");
  const chat = { model: "cheap", ...MESSAGES };
  for (const members of [{ speed: "fast" }, { inference_geo: "us" }]) {
    const refused = await calls.post("/chat/completions", { ...chat, ...members }, keyOf("ada"));
    assertEquals(refusalOf(refused), [400, "unsupported_feature", Object.keys(members)[0]]);
    const sent = await calls.post("/chat/completions", { ...chat, ...members }, keyOf("bob"));
    assertEquals(sent.status, 200);
  }
  const speech = { model: "cheap", ...REQUESTS["/v1/audio/speech"] };
  const spoken = await calls.post("/audio/speech", { ...speech, speed: 1.5 }, keyOf("ada"));
  assertEquals(spoken.status, 200, spoken.text);
});

Deno.test("a turn over a WebSocket cannot choose another model by its members either", async () => {
  let sent = 0;
  const fetch = () => {
    sent += 1;
    return Promise.resolve(Response.json({}, { status: 500 }));
  };
  await using served = socketGateway(routerConfig("models: [cheap*]"), { fetch });
  await using client = await served.open(keyOf("ada"));
  for (const [member, param] of STEERING) {
    const turn = { ...create({ model: "cheap" }), ...member };
    const { error, end } = await client.turn(JSON.stringify(turn));
    assertEquals([error.param, end.status], [param, param.includes("[") ? 403 : 400]);
  }
  assertEquals(sent, 0);
});

Deno.test("a model header that names several models for a router is refused", async () => {
  const calls = routerGateway("models: [cheap*]");
  for (const model of ["cheap,dear", "cheap@preset/dear"]) {
    for (const path of ["/chat/completions", "/embeddings", "/audio/speech"]) {
      const headers = { "x-gateway-model": model };
      const body = { model: "cheap", ...REQUESTS[`/v1${path}`] };
      const refused = await calls.post(path, body, { ...headers, ...keyOf("ada") });
      assertEquals(refusalOf(refused), [400, "unsupported_feature", "model"]);
      assertEquals(calls.requests.length, 0);
    }
  }
});

Deno.test("a tool with its own model needs permission for it", async () => {
  const calls = routerGateway("models: [cheap*]");
  const call = (model: string) =>
    calls.post("/responses", {
      model: "cheap",
      input: "x",
      tools: [{ type: "image_generation", model }],
    }, keyOf("ada"));
  assertEquals(refusalOf(await call("dear")), [403, "model_not_allowed", "tools[0].model"]);
  assertEquals(calls.requests.length, 0);
});

Deno.test("parts of a form that choose another model are refused too", async () => {
  let sent = 0;
  const world = scriptedWorld({
    fetch() {
      sent += 1;
      return Promise.resolve(Response.json({ text: "x" }));
    },
  });
  const { app } = testGateway(routerConfig("models: [cheap]"), world);
  for (
    const name of ["provider", "provider.order", "models[]", "Model", "route", "extra_body[models]"]
  ) {
    const form = new FormData();
    form.set("file", new File(["x"], "x.wav"));
    form.set("model", "cheap");
    form.set(name, "dear");
    const refused = await app(
      new Request("http://localhost/v1/audio/transcriptions", {
        method: "POST",
        headers: { host: "localhost", ...keyOf("ada") },
        body: form,
      }),
    );
    assertEquals(refused.status, 400, name);
    await refused.body?.cancel();
  }
  assertEquals(sent, 0);
});

Deno.test("without a key the members of a request are not read", () => {
  assertEquals(parseSteering(null, null, () => [["models", ["x"]]]), null);
});
