import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  type PoolGateway,
  poolGateway,
  refusal,
  restKeys,
  simulator,
  TWO_KEYS,
} from "../support/pool_gateway.ts";
import { refusalOf, type Reply, textAt } from "../support/state_call.ts";

const CAN = "responses_lifecycle: true, conversations: true, chat_completions_lifecycle: true, " +
  "response_cancellation: true, background_responses: true, response_input_tokens: true";

/** A provider with the Responses API and all lifecycles. */
function config(keys = `api_keys: [${TWO_KEYS}]`, more = ""): string {
  return `
providers:
  up: {type: compat, base_url: "http://sim/v1", ${keys}, capabilities: {${CAN}}}
  other: {type: compat, base_url: "http://other/v1", api_key: k-other}
routing:
  routes:
    - name: native
      match: {path: /v1/responses}
      targets: [{provider: up, upstream_request_type: responses}]
    - name: chat
      targets: [{provider: up}]
retry: {enabled: false}
${more}`;
}

const CREATE = { model: "sim-echo", input: "Hi" };

/** Creates an object with each key: the next of two requests uses the other key. */
async function createdBy(
  pool: PoolGateway,
  create: () => Promise<Reply>,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (let n = 0; n < 2; n++) {
    const reply = await create();
    assertEquals(reply.status, 200, reply.text);
    ids.set(pool.keys().at(-1) ?? "", textAt(reply.json, "id"));
  }
  assertEquals([...ids.keys()].toSorted(), ["sk-a", "sk-b"]);
  return ids;
}

/** Each kind of object: its creation, and what a client may do with it afterwards. */
const KINDS: Readonly<
  Record<string, {
    readonly create: (pool: PoolGateway) => Promise<Reply>;
    readonly follow: (pool: PoolGateway, id: string) => readonly (() => Promise<Reply>)[];
  }>
> = {
  responses: {
    create: (pool) => pool.post("/responses", CREATE),
    follow: (pool, id) => [
      () => pool.get(`/responses/${id}`),
      () => pool.get(`/responses/${id}/input_items`),
      () => pool.post("/responses", { ...CREATE, previous_response_id: id }),
      () => pool.post("/responses", { ...CREATE, previous_response_id: id, stream: true }),
      () => pool.post("/responses/input_tokens", { ...CREATE, previous_response_id: id }),
      () => pool.delete(`/responses/${id}`),
    ],
  },
  conversations: {
    create: (pool) => pool.post("/conversations", {}),
    follow: (pool, id) => [
      () => pool.get(`/conversations/${id}`),
      () => pool.get(`/conversations/${id}/items`),
      () => pool.post(`/conversations/${id}`, { metadata: { a: "b" } }),
      () => pool.post("/responses", { ...CREATE, conversation: id }),
      () => pool.delete(`/conversations/${id}`),
    ],
  },
  "stored completions": {
    create: (pool) =>
      pool.post("/chat/completions", {
        model: "sim-echo",
        store: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
    follow: (pool, id) => [
      () => pool.get(`/chat/completions/${id}`),
      () => pool.get(`/chat/completions/${id}/messages`),
      () => pool.post(`/chat/completions/${id}`, { metadata: { a: "b" } }),
      () => pool.delete(`/chat/completions/${id}`),
    ],
  },
};

for (const [name, { create, follow }] of Object.entries(KINDS)) {
  Deno.test(`${name} belong to the key that made them, which serves every follow-up`, async () => {
    const pool = poolGateway(config(), simulator());
    for (const [key, id] of await createdBy(pool, () => create(pool))) {
      for (const run of follow(pool, id)) {
        const before = pool.requests.length;
        const reply = await run();
        assertEquals([reply.status < 300, pool.keys().slice(before)], [true, [key]], reply.text);
      }
    }
  });

  Deno.test(`${name} are created with the next key if one is refused, and belong to that key`, async () => {
    for (const status of [401, 402, 403, 429]) {
      const pool = poolGateway(config(), simulator());
      pool.answer("sk-a", refusal(status));
      const made = await create(pool);
      assertEquals([made.status, pool.keys()], [200, ["sk-a", "sk-b"]]);
      const [run] = follow(pool, textAt(made.json, "id"));
      assertEquals((await run?.())?.status, 200);
      assertEquals(pool.keys().at(-1), "sk-b");
    }
  });

  Deno.test(`a follow-up on ${name} waits for the rest of its key and uses no other`, async () => {
    const pool = poolGateway(config(), simulator());
    const ids = await createdBy(pool, () => create(pool));
    const [run] = follow(pool, ids.get("sk-a") ?? "");
    assert(run !== undefined);
    pool.answer("sk-a", refusal(429, { "retry-after": "9" }));
    const sent = pool.requests.length;
    const throttled = await run();
    assertEquals([throttled.status, throttled.headers.get("retry-after")], [429, "9"]);
    assertEquals(await pool.resting(), { up: 0 }, "no other key could serve it");
    await restKeys(pool, { a: 9 });
    const resting = await run();
    assertEquals(refusalOf(resting), [429, "provider_keys_resting", null]);
    assertEquals(pool.keys().slice(sent), ["sk-a"]);
    await pool.world.advance(9_000);
    pool.answer("sk-a", null);
    assertEquals((await run()).status, 200);
  });

  Deno.test(`a key that is gone from the file makes its ${name} stale, and no others`, async () => {
    const pool = poolGateway(config(), simulator());
    const ids = await createdBy(pool, () => create(pool));
    pool.serve(config("api_keys: [{name: b, value: sk-b}, {name: c, value: sk-c}]"));
    const sent = pool.requests.length;
    for (const run of follow(pool, ids.get("sk-a") ?? "")) {
      assertEquals(refusalOf(await run()).slice(0, 2), [400, "provider_binding_stale"]);
    }
    assertEquals(pool.requests.length, sent);
    const [kept] = follow(pool, ids.get("sk-b") ?? "");
    assertEquals((await kept?.())?.status, 200);
    pool.serve(config());
    const [back] = follow(pool, ids.get("sk-a") ?? "");
    assertEquals((await back?.())?.status, 200);
  });

  Deno.test(`${name} of a lone key stay bound when the key moves into a pool`, async () => {
    const pool = poolGateway(config("api_key: sk-b"), simulator());
    const made = await create(pool);
    pool.serve(config());
    for (const run of follow(pool, textAt(made.json, "id"))) {
      assert((await run()).status < 300);
      assertEquals(pool.keys().at(-1), "sk-b");
    }
  });
}

Deno.test("a key of weight 0 serves what it owns and nothing else", async () => {
  const pool = poolGateway(config(), simulator());
  const ids = await createdBy(pool, () => pool.post("/responses", CREATE));
  pool.serve(config("api_keys: [{name: a, value: sk-a, weight: 0}, {name: b, value: sk-b}]"));
  const sent = pool.requests.length;
  for (let n = 0; n < 3; n++) await pool.post("/responses", CREATE);
  assertEquals(pool.keys().slice(sent), ["sk-b", "sk-b", "sk-b"]);
  assertEquals((await pool.get(`/responses/${ids.get("sk-a")}`)).status, 200);
  assertEquals(pool.keys().at(-1), "sk-a");
});

Deno.test("a named provider of an unknown object uses any key, and a refused one is replaced", async () => {
  const pool = poolGateway(config(), simulator());
  pool.answer("sk-a", refusal(401));
  const named = { "x-gateway-provider": "up" };
  const reply = await pool.get("/responses/resp_unknown", named);
  assertEquals([reply.status, pool.keys()], [404, ["sk-a", "sk-b"]]);
});

Deno.test("a rest continues after a reload that leaves the key, and ends with the key", async () => {
  const pool = poolGateway(config(), simulator());
  pool.answer("sk-a", refusal(429));
  await pool.post("/responses", CREATE);
  pool.serve(config(`key_rest: 2m, api_keys: [{name: x, value: sk-a}, {name: b, value: sk-b}]`));
  assertEquals(await pool.resting(), { up: 1 });
  pool.serve(config("api_keys: [{name: c, value: sk-c}, {name: b, value: sk-b}]"));
  assertEquals(await pool.resting(), { up: 0 });
});

Deno.test("a call that began before a reload continues with the keys of its configuration", async () => {
  const pool = poolGateway(config(), simulator());
  pool.answer("sk-a", (request) => {
    pool.serve(config("api_key: sk-c"));
    return refusal(401)(request);
  });
  const reply = await pool.post("/responses", CREATE);
  assertEquals([reply.status, pool.keys()], [200, ["sk-a", "sk-b"]]);
});

/** A route to a provider of each type, with requests of each kind for it. */
const WIRES:
  readonly (readonly [name: string, provider: string, path: string, body: JsonObject])[] = [
    ["chat over compat", "compat/v1", "/chat/completions", {}],
    ["chat over messages", "messages", "/chat/completions", {}],
    ["chat over local", "local", "/chat/completions", {}],
    ["a message over messages", "messages", "/messages", { max_tokens: 9 }],
    ["a message over compat", "compat/v1", "/messages", { max_tokens: 9 }],
    ["a token count over messages", "messages", "/messages/count_tokens", {}],
    ["a response over messages", "messages", "/responses", { input: "Hi" }],
    ["a response over compat", "compat/v1", "/responses", { input: "Hi" }],
    ["embeddings over compat", "compat/v1", "/embeddings", { input: "Hi", model: "sim-embed" }],
    ["embeddings over local", "local", "/embeddings", { input: "Hi", model: "sim-embed" }],
  ];

for (const [name, place, path, more] of WIRES) {
  Deno.test(`${name} changes to the next key when one is refused`, async () => {
    const type = place === "compat/v1" ? "compat" : place;
    const pool = poolGateway(
      `
providers:
  up: {type: ${type}, base_url: "http://sim/${place}", api_keys: [${TWO_KEYS}]}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`,
      simulator(),
    );
    const { input, ...rest } = more;
    const messages = [{ role: "user", content: "Hi" }];
    const body = { model: "sim-echo", ...input === undefined ? { messages } : { input }, ...rest };
    const version = { "anthropic-version": "2023-06-01" };
    assertEquals((await pool.post(path, body, version)).status, 200);
    assertEquals((await pool.post(path, body, version)).status, 200);
    assertEquals(pool.keys(), ["sk-a", "sk-b"]);
    pool.answer("sk-a", refusal(402));
    assertEquals((await pool.post(path, body, version)).status, 200);
    assertEquals((await pool.post(path, body, version)).status, 200);
    assertEquals(pool.keys().slice(2), ["sk-a", "sk-b", "sk-b"]);
  });
}

Deno.test("a model list is fetched with the next key when one is refused", async () => {
  const pool = poolGateway(
    `
providers:
  up: {type: compat, base_url: "http://sim/v1", api_keys: [${TWO_KEYS}], models: {mode: fetch}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
    simulator(),
  );
  pool.answer("sk-a", refusal(403));
  assert((await pool.get("/models")).text.includes("sim-echo"));
  assertEquals([pool.keys(), await pool.resting()], [["sk-a", "sk-b"], { up: 1 }]);
  assertEquals(pool.warnings().map(({ key }) => key), ["a"]);
  pool.answer("sk-b", refusal(429));
  await pool.world.advance(600_000);
  assertEquals((await pool.get("/models")).status, 200);
  assertEquals(await pool.resting(), { up: 0 }, "a list that no key gets says nothing of the keys");
});
