import fc from "fast-check";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, type Got } from "../support/chat_call.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { cachedGateway, caching } from "./cached_gateway.ts";

const TWO_PROVIDERS = `
caching: {enabled: true}
providers:
  one: {type: compat, base_url: "http://one/v1", default_model: small}
  two: {type: local, base_url: "http://one", default_model: small}
routing: {routes: [{name: main, targets: [{provider: one}, {provider: two, weight: 0}],
  fallback: []}, {name: other, targets: [{provider: two}]}]}
retry: {enabled: false}
`;

function tool(name: string): JsonObject {
  return { type: "function", function: { name, parameters: { type: "object" } } };
}

/** For each member that has a say in the answer, values of which each asks for something else. */
const SAY: Readonly<Record<string, readonly JsonObject[string][]>> = {
  messages: [
    [{ role: "user", content: "Hi" }],
    [{ role: "user", content: "hi" }],
    [{ role: "user", content: "Hi " }],
    [{ role: "system", content: "Hi" }],
    [{ role: "user", content: "Hi" }, { role: "user", content: "Hi" }],
  ],
  stop: ["a", "b", ["a"], ["a", "b"], ["b", "a"]],
  response_format: [{ type: "text" }, { type: "json_object" }],
  frequency_penalty: [0, 0.5, 1],
  presence_penalty: [0, 0.5],
  logit_bias: [{}, { "50256": -100 }, { "50256": 100 }, { "50257": 100 }],
  seed: [0, 1, 2 ** 53 - 1],
  reasoning_effort: ["low", "high"],
  tools: [[tool("a")], [tool("b")], [tool("a"), tool("b")], [tool("b"), tool("a")]],
  tool_choice: ["auto", "none", { type: "function", function: { name: "a" } }],
  temperature: [0, 0.1, 1],
  top_p: [0.1, 1],
  n: [1, 2],
  max_tokens: [1, 2],
  max_completion_tokens: [1, 2],
  logprobs: [true, false],
  top_logprobs: [0, 1],
  user: ["a", "b"],
  metadata: [{ a: "b" }, { a: "c" }],
  unheard_of: ["a", { a: ["a"] }, [["a"]], null],
};

const body = fc.record(
  Object.fromEntries(
    Object.entries(SAY).map(([name, values]) => [name, fc.constantFrom(...values)]),
  ),
  { requiredKeys: ["messages"] },
);

/** The members in another order, by the order of these numbers. */
function shuffled(value: JsonObject, order: readonly number[]): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, inner], index) => ({ key, inner, at: order[index] ?? 0 }))
      .toSorted((a, b) => a.at - b.at).map(({ key, inner }) => [key, inner]),
  );
}

function requests(value: JsonObject, gap = ""): Request {
  return new Request("http://localhost/v1/chat/completions", {
    method: "POST",
    body: JSON.stringify({ model: "m", ...value }, null, gap),
  });
}

Deno.test("two requests that differ in any member never share a cached response", async () => {
  const name = fc.constantFrom(...Object.keys(SAY));
  await fc.assert(
    fc.asyncProperty(body, name, fc.nat(), async (first, member, at) => {
      const values = (SAY[member] ?? []).filter((value) =>
        JSON.stringify(value) !== JSON.stringify(first[member])
      );
      const second = { ...first, [member]: values[at % values.length] ?? null };
      const gateway = cachedGateway();
      assertEquals(await gateway.statusOf(requests(first)), "MISS");
      assertEquals(await gateway.statusOf(requests(second)), "MISS");
      assertEquals([gateway.requests.length, gateway.kept()[0]], [2, 2]);
    }),
    { numRuns: 150 },
  );
});

Deno.test("the order of keys and white space do not matter", async () => {
  const order = fc.array(fc.integer(), { minLength: 25, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(body, order, fc.constantFrom(" ", "\t"), async (value, numbers, gap) => {
      const gateway = cachedGateway();
      assertEquals(await gateway.statusOf(requests(value)), "MISS");
      assertEquals(await gateway.statusOf(requests(shuffled(value, numbers), gap)), "HIT");
    }),
    { numRuns: 50 },
  );
});

Deno.test("each control header changes the cache key, by its name and by its value", async () => {
  const gateway = cachedGateway();
  const status = (headers: Readonly<Record<string, string>>) =>
    gateway.statusOf(chatRequest({ headers }));
  assertEquals(await status({}), "MISS");
  for (const name of ["Compat-Beta", "Messages-Beta", "Idempotency-Key"]) {
    assertEquals(await status({ [name]: "a" }), "MISS", name);
    assertEquals(await status({ [name]: "b" }), "MISS", name);
    assertEquals(await status({ [name.toLowerCase()]: "a" }), "HIT", name);
  }
  assertEquals(await status({ "X-Gateway-SessionID": "s", "User-Agent": "u" }), "HIT");
});

Deno.test("the effective model changes the cache key: the caller's, before the provider's default", async () => {
  const gateway = cachedGateway(TWO_PROVIDERS);
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const got = await gateway.ask(chatRequest({ headers, body: { model: "auto" } }));
    return ["x-gateway-cache-status", "x-gateway-model"].map((name) => got.headers.get(name));
  };
  assertEquals(await ask({}), ["MISS", "small"]);
  assertEquals(await ask({ "X-Gateway-Model": "large" }), ["MISS", "large"]);
  assertEquals(await ask({ "X-Gateway-Model": "one/large" }), ["HIT", "large"]);
  assertEquals(await ask({ "X-Gateway-Model": "small" }), ["HIT", "small"]);
});

Deno.test("the resolved provider changes the cache key", async () => {
  const line = '{"model":"small","message":{"role":"assistant","content":"Hi"},"done":true,' +
    '"done_reason":"stop"}';
  const gateway = cachedGateway(
    TWO_PROVIDERS,
    ({ path }) =>
      path === "/api/chat" ? answers(200, line) : answers(200, { choices: [{ index: 0 }] }),
  );
  const ask = (headers: Readonly<Record<string, string>>) =>
    gateway.statusOf(chatRequest({ headers }));
  assertEquals(await ask({}), "MISS");
  assertEquals(await ask({ "X-Gateway-Route": "other" }), "MISS");
  assertEquals(await ask({ "X-Gateway-Route": "main" }), "HIT");
  assertEquals(await ask({ "X-Gateway-Provider": "two", "X-Gateway-Route": "other" }), "HIT");
});

Deno.test("a chat call and an embeddings call of the same JSON are two", async () => {
  const gateway = cachedGateway(
    caching(),
    () => answers(200, { choices: [{ index: 0 }], data: [{ embedding: [1] }] }),
  );
  const text = '{"model":"m","input":"a","messages":[{"role":"user","content":"a"}]}';
  const ask = (path: string, body: string) =>
    gateway.statusOf(new Request(`http://localhost/v1/${path}`, { method: "POST", body }));
  assertEquals(await ask("chat/completions", text), "MISS");
  assertEquals(await ask("embeddings", text.replace(/,"messages".*\]/, "")), "MISS");
  assertEquals(await ask("chat/completions", text), "HIT");
});

Deno.test("numbers that are written differently have different cache keys, and so have duplicate members", async () => {
  const gateway = cachedGateway();
  const ask = (members: string) =>
    gateway.statusOf(
      new Request("http://localhost/v1/chat/completions", {
        method: "POST",
        body: `{"model":"m",${members}}`,
      }),
    );
  const messages = '"messages":[{"role":"user","content":"Hi"}]';
  assertEquals(await ask(`${messages},"seed":9007199254740993`), "MISS");
  assertEquals(await ask(`${messages},"seed":9007199254740992`), "MISS");
  assertEquals(await ask(messages), "MISS");
  assertEquals(await ask(messages.replace("{", '{"role":"system",')), "MISS");
});

Deno.test("if the candidates begin with a fallback its response is cached under its own key", async () => {
  const gateway = cachedGateway(
    `
caching: {enabled: true}
providers:
  own: {type: local, base_url: "http://own"}
  a: {type: compat, base_url: "http://a"}
  b: {type: compat, base_url: "http://b"}
routing:
  routes:
    - name: rescued
      targets: [{provider: own, model: x}]
      fallback: [{provider: a, model: x}, {provider: b, model: x}]
    - {name: other, targets: [{provider: b, model: x}]}
`,
    ({ host }) => answers(200, { ...COMPLETION, id: host }),
  );
  const ask = (headers = {}) =>
    gateway.ask(chatRequest({ body: { model: "auto", logit_bias: { 5: 1 } }, headers }));
  const seen = ({ headers, text }: Got) => [
    headers.get("x-gateway-cache-status"),
    headers.get("x-gateway-provider"),
    text.includes('"id":"a"') ? "a" : "b",
  ];
  assertEquals(seen(await ask()), ["MISS", "a", "a"]);
  assertEquals(seen(await ask()), ["HIT", "a", "a"]);
  assertEquals(seen(await ask({ "x-gateway-route": "other" })), ["MISS", "b", "b"]);
});

Deno.test("client keys share cached responses, unless per_key separates them", async () => {
  const statusFor = async (config: string, ...names: readonly string[]) => {
    const gateway = cachedGateway(config);
    const statuses = [];
    for (const name of names) {
      statuses.push(await gateway.statusOf(chatRequest({ headers: keyOf(name) })));
    }
    return statuses;
  };
  const calls = ["ada", "bob", "ada", "bob"];
  assertEquals(await statusFor(twoKeys() + caching(), ...calls), ["MISS", "HIT", "HIT", "HIT"]);
  const apart = twoKeys() + caching("per_key: true");
  assertEquals(await statusFor(apart, ...calls), ["MISS", "MISS", "HIT", "HIT"]);
  assertEquals(await statusFor(caching("per_key: true"), ...calls), ["MISS", "HIT", "HIT", "HIT"]);
});

Deno.test("per_key holds from the next call on, and a change of it empties the cache", async () => {
  const gateway = cachedGateway(twoKeys() + caching());
  const statusOf = (name: string) => gateway.statusOf(chatRequest({ headers: keyOf(name) }));
  assertEquals([await statusOf("ada"), await statusOf("bob")], ["MISS", "HIT"]);
  gateway.reload(twoKeys() + caching("per_key: true"));
  assertEquals(gateway.kept(), [0, 0]);
  assertEquals([await statusOf("ada"), await statusOf("bob")], ["MISS", "MISS"]);
  gateway.reload(twoKeys() + caching());
  assertEquals(gateway.kept(), [0, 0]);
  assertEquals([await statusOf("ada"), await statusOf("bob")], ["MISS", "HIT"]);
});
