import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { clientApis } from "../../src/api/registry.ts";
import { assert, assertEquals } from "../support/assert.ts";
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
};

const ADA = keyOf("ada");

function config(settings: string): string {
  return `security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada${settings}}]}}
providers:
  up: {type: compat, base_url: "http://up", api_key: k, capabilities: {response_input_tokens: true}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}

const REFUSALS = [
  [", models: [other]", "model_not_allowed", "model"],
  [", providers: [up], models: ['up/mm']", "model_not_allowed", "model"],
] as const;

Deno.test("the requests of the next test are those of every endpoint that routes serve", () => {
  const routed = clientApis.flatMap(({ endpoints }) => endpoints)
    .filter(({ matchesAs }) => matchesAs !== undefined).map(({ path }) => path);
  assertEquals(new Set<string>(Object.keys(REQUESTS)), new Set<string>(routed));
});

for (const [path, body] of Object.entries(REQUESTS)) {
  Deno.test(`a POST to ${path} for a model that the key may not use is 403 in the format of its API`, async () => {
    for (const [settings, code, param] of REFUSALS) {
      const calls = nativeGateway(config(settings), () => ({ body: COMPLETION }));
      for (const stream of path === "/v1/embeddings" ? [undefined] : [undefined, true]) {
        const request = stream === undefined || path.endsWith("tokens")
          ? body
          : { ...body, stream };
        const answer = await calls.post(path.slice("/v1".length), request, ADA);
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
