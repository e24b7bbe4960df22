import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { COMPLETION, MESSAGES } from "../../support/chat_call.ts";
import { nativeGateway } from "../../support/native_gateway.ts";

const CAN = "{chat_completions_lifecycle: true, response_input_tokens: true}";

/** A file with named models over two providers, and a key with these members. */
function file(key: string): string {
  return `
providers:
  one: {type: compat, base_url: "http://one", api_key: k1, capabilities: ${CAN}}
  two: {type: compat, base_url: "http://two", api_key: k2, capabilities: ${CAN}}
  three: {type: compat, base_url: "http://three", api_key: k3}
models:
  "quick-*": {targets: [{provider: one, model: big}]}
  coder:
    targets: [{provider: one, model: off, weight: 0}, {provider: one, model: big}]
    fallback: [{provider: two, model: small}]
  fast:
    targets: [{provider: one, model: big}]
    parameters: {service_tier: priority}
  usual:
    targets: [{provider: one, model: big}]
    parameters: {service_tier: default}
routing: {routes: [{name: main, targets: [{provider: one}]}]}
pricing:
  one/big: {input: 1, output: 1}
security:
  enabled: true
  api_key:
    keys: [{name: a, value: sk-a, ${key}}]
retry: {enabled: false}
`;
}

const HEADERS = { authorization: "Bearer sk-a" };

function gateway(key: string) {
  const page = { object: "list", data: [{ id: "chatcmpl-1", object: "chat.completion" }] };
  return nativeGateway(file(key), ({ method, path }): { body: JsonObject | string } => ({
    body: path.endsWith("input_tokens")
      ? '{"object":"response.input_tokens","input_tokens":7}'
      : method === "GET" && path.endsWith("/completions")
      ? { ...page, has_more: false }
      : COMPLETION,
  }));
}

Deno.test("a key with a budget in USD does not use a named model with a service tier of another price", async () => {
  const { post, requests } = gateway("budgets: [{usd: 5, per: day}]");
  const refused = await post("/chat/completions", { model: "fast", ...MESSAGES }, HEADERS);
  assertEquals([refused.status, refused.error.code], [403, "model_not_priced"], refused.text);
  assertEquals(requests.length, 0);
  const usual = await post("/chat/completions", { model: "usual", ...MESSAGES }, HEADERS);
  assertEquals(usual.status, 200, usual.text);
  const free = gateway("models: [fast]");
  const served = await free.post("/chat/completions", { model: "fast", ...MESSAGES }, HEADERS);
  assertEquals([served.status, free.requests[0]?.json.service_tier], [200, "priority"]);
});

Deno.test("a key that may use a name reads and lists what the named model made", async () => {
  for (const [model, pattern] of [["coder", "coder"], ["quick-1", "quick-1"]] as const) {
    const { post, get } = gateway(`models: ["${pattern}"]`);
    const made = await post("/chat/completions", { model, ...MESSAGES, store: true }, HEADERS);
    assertEquals([model, made.status], [model, 200], made.text);
    const read = await get("/chat/completions/chatcmpl-1", HEADERS);
    assertEquals([model, read.status], [model, 200], read.text);
    const listed = await get("/chat/completions", { ...HEADERS, "x-gateway-provider": "one" });
    const { data } = listed.json;
    assertEquals([model, Array.isArray(data) && data.length], [model, 1], listed.text);
  }
});

Deno.test("a key that may use a name reads what its forced route made of another model", async () => {
  const { post, get } = gateway("models: [coder]");
  const forced = { ...HEADERS, "x-gateway-route": "model:coder" };
  const made = await post("/responses", { model: "big", input: "Hi" }, forced);
  assertEquals(made.status, 200, made.text);
  assertEquals((await get(`/responses/${made.json.id}`, HEADERS)).status, 200);
});

Deno.test("counts of a named model go to the first enabled target that the key may use", async () => {
  const count = async (key: string) => {
    const { post, requests } = gateway(key);
    const body = { model: "coder", input: "Hi" };
    const { status } = await post("/responses/input_tokens", body, HEADERS);
    return [status, requests[0]?.host, requests[0]?.json.model];
  };
  assertEquals(await count("models: [coder]"), [200, "one", "big"]);
  assertEquals(await count("models: [small]"), [200, "two", "small"]);
  assertEquals(await count("providers: [two]"), [200, "two", "small"]);
  assertEquals(await count("providers: [three]"), [403, undefined, undefined]);
});

const USAGE = { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 };

Deno.test("a budget is charged the price of the model that has served a named model", async () => {
  const priced = (failing: string) =>
    nativeGateway(
      file("budgets: [{usd: 1000, per: day}]").replace(
        "one/big: {input: 1, output: 1}",
        `one/big: {input: 1000000, output: 1000000}
  two/small: {input: 500000, output: 500000}
  one/coder: {input: 9000000, output: 9000000}`,
      ).replace("    fallback:", "    response_model: requested\n    fallback:"),
      ({ host }) =>
        host === failing ? { status: 503, body: {} } : { body: { ...COMPLETION, usage: USAGE } },
    );
  const spent = async (failing: string) => {
    const { post } = priced(failing);
    const ask = () => post("/chat/completions", { model: "coder", ...MESSAGES }, HEADERS);
    const served = await ask();
    return [served.json.model, (await ask()).headers.get("x-gateway-budget")];
  };
  assertEquals(await spent(""), ["coder", "day usd 10/1000"]);
  assertEquals(await spent("one"), ["coder", "day usd 5/1000"]);
});
