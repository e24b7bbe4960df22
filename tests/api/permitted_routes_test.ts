import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { clientApis } from "../../src/api/registry.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { COMPLETION, MESSAGES } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { nativeGateway } from "../support/native_gateway.ts";
import { refusalOf, textAt } from "../support/state_call.ts";

/** The least request of each endpoint that routes serve. */
const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "/v1/chat/completions": { model: "m", ...MESSAGES },
  "/v1/responses": { model: "m", input: "x" },
  "/v1/embeddings": { model: "m", input: "x" },
  "/v1/messages": { model: "m", max_tokens: 5, ...MESSAGES },
  "/v1/messages/count_tokens": { model: "m", ...MESSAGES },
  "/v1/completions": { model: "m", prompt: "x" },
  "/v1/moderations": { model: "m", input: "x" },
  "/v1/rerank": { model: "m", query: "x", documents: ["y"] },
  "/v2/rerank": { model: "m", query: "x", documents: ["y"] },
  "/rerank": { model: "m", query: "x", documents: ["y"] },
  "/v1/images/generations": { model: "m", prompt: "x" },
  "/v1/audio/speech": { model: "m", input: "x", voice: "v" },
};

/** Returns a path as it is written below `/v1`. */
function belowV1(path: string): string {
  return path.startsWith("/v1/") ? path.slice("/v1".length) : `/..${path}`;
}

/** Endpoints with multipart requests, whose routing is that of the endpoints with JSON. */
const MULTIPART = [
  "/v1/images/edits",
  "/v1/images/variations",
  "/v1/audio/transcriptions",
  "/v1/audio/translations",
];

const ADA = keyOf("ada");

function config(settings: string): string {
  return `security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada${settings}}]}}
providers:
  up: {type: compat, base_url: "http://up", api_key: k, capabilities: {response_input_tokens: true, relay: [completions, moderations, rerank, images, audio]}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}

const REFUSALS = [
  [", models: [other]", "model_not_allowed", "model"],
  [", providers: [up], models: ['up/mm']", "model_not_allowed", "model"],
  [", budgets: [{per: day, usd: 1}]", "model_not_priced", "model"],
] as const;

Deno.test("the requests of the next test are those of every endpoint that routes serve", () => {
  const routed = clientApis.flatMap(({ endpoints }) => endpoints)
    .filter(({ matchesAs }) => matchesAs !== undefined).map(({ path }) => path);
  assertEquals(new Set<string>([...Object.keys(REQUESTS), ...MULTIPART]), new Set<string>(routed));
});

for (const [path, body] of Object.entries(REQUESTS)) {
  Deno.test(`a POST to ${path} for a model that the key may not use is 403 in the format of its API`, async () => {
    for (const [settings, code, param] of REFUSALS) {
      const calls = nativeGateway(config(settings), () => ({ body: COMPLETION }));
      for (const stream of path === "/v1/embeddings" ? [undefined] : [undefined, true]) {
        const request = stream === undefined || path.endsWith("tokens")
          ? body
          : { ...body, stream };
        const answer = await calls.post(belowV1(path), request, ADA);
        assertEquals([answer.status, answer.error.type], [403, "permission_error"], answer.text);
        if (path.startsWith("/v1/messages")) {
          assertEquals(answer.json.type, "error");
          const { details } = answer.error;
          assert(isObject(details), answer.text);
          assertEquals<unknown>([details.error_code, details.param], [code, param]);
        } else {
          assertEquals(refusalOf(answer), [403, code, param]);
        }
      }
      assertEquals(calls.requests.length, 0);
    }
  });
}

Deno.test("a response that the gateway stores is refused to a key without its model, and served again with it", async () => {
  const calls = nativeGateway(config(""), () => ({ body: COMPLETION }));
  const made = await calls.post("/responses", { model: "m", input: "x" }, ADA);
  const id = textAt(made.json, "id");
  const model = [403, "model_not_allowed", "model"];
  calls.reload(config(", models: [other]"));
  const next = { model: "other", input: "y", previous_response_id: id };
  assertEquals(refusalOf(await calls.post("/responses", next, ADA)), model);
  assertEquals(refusalOf(await calls.get(`/responses/${id}`, ADA)), model);
  assertEquals(refusalOf(await calls.get(`/responses/${id}/input_items`, ADA)), model);
  assertEquals(refusalOf(await calls.delete(`/responses/${id}`, ADA)), model);
  calls.reload(config(", models: [m]"));
  assertEquals((await calls.get(`/responses/${id}`, ADA)).status, 200);
  const again = await calls.post("/responses", { ...next, model: "m" }, ADA);
  assertEquals(again.status, 200, again.text);
  const other = await calls.post("/responses", next, ADA);
  assertEquals(refusalOf(other), model);
  assertEquals((await calls.delete(`/responses/${id}`, ADA)).status, 204);
});

Deno.test("a cached response is not returned to a key that may not use its model", async () => {
  const text = (settings: string) => `${config(settings)}caching: {enabled: true}\n`;
  const calls = nativeGateway(text(""), () => ({ body: COMPLETION }));
  const request = () => calls.post("/chat/completions", { model: "m", ...MESSAGES }, ADA);
  assertEquals((await request()).headers.get("x-gateway-cache-status"), "MISS");
  assertEquals((await request()).headers.get("x-gateway-cache-status"), "HIT");
  calls.reload(text(", models: [other]"));
  assertEquals(refusalOf(await request()), [403, "model_not_allowed", "model"]);
});

Deno.test("a target without a price is passed over for a key with a budget in USD, also for a fallback", async () => {
  const targets = (...models: readonly string[]) =>
    JSON.stringify(models.map((model) => ({ provider: "up", model })));
  const settings = ", budgets: [{per: day, usd: 1}]";
  for (
    const [listed, fallback, served] of [
      [["free", "paid"], [], "paid"],
      [["free"], ["other", "paid"], "paid"],
    ] as const
  ) {
    const calls = nativeGateway(
      config(settings).replace(
        "targets: [{provider: up}]",
        `targets: ${targets(...listed)}, fallback: ${targets(...fallback)}`,
      ) + "pricing: {up/paid: {input: 1, output: 1}}\n",
      () => ({ body: COMPLETION }),
    );
    const answer = await calls.post("/chat/completions", { model: "auto", ...MESSAGES }, ADA);
    assertEquals([answer.status, answer.headers.get("x-gateway-model")], [200, served]);
  }
});

Deno.test("a key with a budget in USD cannot use the tokens of a model that has a price of images only", async () => {
  const settings = config(", budgets: [{per: day, usd: 1}]").replace(
    "capabilities: {",
    "capabilities: {response_compaction: true, ",
  ) + "pricing: {up/m: {per_image: 1}}\n";
  const calls = nativeGateway(settings, () => ({ body: COMPLETION }));
  for (
    const path of ["/chat/completions", "/responses", "/embeddings", "/messages", "/completions"]
  ) {
    const refused = await calls.post(path, REQUESTS[`/v1${path}`] ?? {}, ADA);
    assertEquals([refused.status, refused.text.includes("'input'")], [403, true], path);
  }
  const compacted = await calls.post("/responses/compact", { model: "m", input: "x" }, ADA);
  assertEquals(refusalOf(compacted), [403, "model_not_priced", "model"]);
  const { status } = await calls.post("/images/generations", { model: "m", prompt: "x" }, ADA);
  assertEquals([status, calls.requests.length], [200, 1]);
});

Deno.test("a budget of a group needs prices too, and one in tokens needs none", async () => {
  const grouped = (budget: string) =>
    config("").replace(
      "security: {enabled: true,",
      `security: {enabled: true, groups: [{name: all, keys: [ada], budgets: [${budget}]}],`,
    );
  for (
    const [budget, status] of [["{per: day, usd: 1}", 403], ["{per: day, tokens: 9}", 200]] as const
  ) {
    const calls = nativeGateway(grouped(budget), () => ({ body: COMPLETION }));
    const answer = await calls.post("/chat/completions", { model: "m", ...MESSAGES }, ADA);
    assertEquals(answer.status, status, answer.text);
  }
});

Deno.test("compaction needs a price for a key with a budget in USD, and counting tokens needs none", async () => {
  const settings = ", budgets: [{per: day, usd: 1}]";
  const native = config(settings).replace(
    "capabilities: {",
    "capabilities: {response_compaction: true, ",
  );
  const calls = nativeGateway(native, () => ({
    body: { object: "response.input_tokens", input_tokens: 4 },
  }));
  const body = { model: "m", input: "x" };
  assertEquals(refusalOf(await calls.post("/responses/compact", body, ADA)), [
    403,
    "model_not_priced",
    "model",
  ]);
  assertEquals((await calls.post("/responses/input_tokens", body, ADA)).status, 200);
});

for (
  const limits of [
    ", tokens_per_minute: 9",
    ", budgets: [{per: day, tokens: 9}]",
  ]
) {
  Deno.test(`a response in the background is refused for a key with '${limits}'`, async () => {
    const calls = nativeGateway(config(limits), () => ({ body: COMPLETION }));
    for (const stream of [false, true]) {
      const body = { model: "m", input: "x", background: true, stream };
      const refused = await calls.post("/responses", body, ADA);
      assertEquals(refusalOf(refused), [400, "unsupported_feature", "background"]);
      // A provider that cannot do it has the same code.
      assertStringIncludes(refused.text, "budgets or a rate of tokens");
    }
    assertEquals(calls.requests.length, 0);
  });
}
