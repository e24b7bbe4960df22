import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { nativeGateway } from "../../support/native_gateway.ts";
import { answerOf } from "./named_gateway.ts";

const FILE = `
providers:
  one: {type: compat, base_url: "http://one", api_key: k1}
  two: {type: compat, base_url: "http://two", api_key: k2}
  claude:
    type: messages
    base_url: "http://claude"
    api_key: k3
models:
  "quick-*": {targets: [{provider: two}], response_model: requested}
  coder:
    targets: [{provider: one, model: big}, {provider: two, model: other}]
    fallback: [{provider: claude, model: opus}]
    parameters: {verbosity: low}
  team/writer: {targets: [{provider: two, model: prose}]}
  counter: {targets: [{provider: claude, model: opus}]}
routing:
  routes:
    - name: coder-route
      match: {models: [coder, "one/coder"]}
      targets: [{provider: two}]
    - name: rest
      targets: [{provider: one}]
retry: {enabled: false}
`;

const KEYS = `
security:
  enabled: true
  api_key:
    keys:
      - {name: by-name, value: sk-name, models: [coder, "quick-*"]}
      - {name: by-target, value: sk-target, models: [opus]}
      - {name: by-provider, value: sk-provider, providers: [two]}
`;

function gateway(more = "", file = FILE) {
  return nativeGateway(
    file + more,
    ({ host, json, path }) =>
      path.endsWith("count_tokens")
        ? { body: '{"input_tokens":7}' }
        : path.endsWith("embeddings")
        ? { body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}]}' }
        : answerOf(host === "claude" ? "messages" : "compat", json.stream === true),
  );
}

const CHAT = { messages: [{ role: "user", content: "Hi" }], store: undefined };

function served({ requests }: ReturnType<typeof gateway>): readonly unknown[] {
  const last = requests.at(-1);
  return [last?.host, last?.json.model];
}

Deno.test("a named model is served before all routes, on each client API", async () => {
  const calls: readonly (readonly [string, string, JsonObject])[] = [
    ["/chat/completions", "coder", CHAT],
    ["/responses", "coder", { input: "Hi" }],
    ["/messages", "coder", { max_tokens: 9, messages: CHAT.messages }],
    ["/embeddings", "coder", { input: "Hi", encoding_format: "float" }],
    ["/messages/count_tokens", "counter", { messages: CHAT.messages }],
  ];
  for (const [path, model, body] of calls) {
    const over = gateway();
    const reply = await over.post(path, { model, ...body }, { "x-gateway-provider": "" });
    assertEquals([path, reply.status], [path, 200], reply.text);
    assertEquals([path, reply.headers.get("x-gateway-route")], [path, `model:${model}`]);
    const expected = model === "coder" ? ["one", "big"] : ["claude", "opus"];
    assertEquals([path, ...served(over)], [path, ...expected]);
  }
});

Deno.test("a name is the named model in a header too, with a slash, and by a pattern; a canonical model and other names are not", async () => {
  const cases = [
    ["m", { "x-gateway-model": "coder" }, ["one", "big"], "model:coder"],
    ["coder", { "x-gateway-provider": "two" }, ["two", "other"], "model:coder"],
    ["team/writer", {}, ["two", "prose"], "model:team/writer"],
    ["quick-chat", {}, ["two", "quick-chat"], "model:quick-*"],
    ["", { "x-gateway-route": "model:coder" }, ["one", "big"], "model:coder"],
    ["other", { "x-gateway-route": "model:coder" }, ["two", "other"], "model:coder"],
    ["two/coder", {}, ["two", "coder"], "coder-route"],
    ["coder", { "x-gateway-route": "rest" }, ["one", "coder"], "rest"],
    ["coders", {}, ["one", "coders"], "rest"],
  ] as const;
  for (const [model, headers, target, route] of cases) {
    const over = gateway();
    const reply = await over.post("/chat/completions", { model, ...CHAT }, headers);
    assertEquals([model, reply.status], [model, 200], reply.text);
    assertEquals([model, ...served(over)], [model, ...target]);
    assertEquals([model, reply.headers.get("x-gateway-route")], [model, route]);
  }
});

Deno.test("a named model may be called auto, which is then that of the name alone", async () => {
  const file = FILE.replace(
    "  counter:",
    "  auto: {targets: [{provider: two, model: open}]}\n  counter:",
  );
  const cases = [
    ["auto", ["two", "open"], "model:auto"],
    ["", ["one", "big"], "model:coder"],
    ["one/auto", ["one", "big"], "model:coder"],
  ] as const;
  for (const [model, target, route] of cases) {
    const over = gateway("", file);
    const headers: Record<string, string> = model === "auto"
      ? {}
      : { "x-gateway-route": "model:coder" };
    const reply = await over.post("/chat/completions", { model, ...CHAT }, headers);
    assertEquals([model, reply.status], [model, 200], reply.text);
    assertEquals([model, ...served(over)], [model, ...target]);
    assertEquals([model, reply.headers.get("x-gateway-route")], [model, route]);
  }
  const { get } = gateway("", file);
  const { data } = (await get("/models")).json;
  const ids = Array.isArray(data) ? data.map((one) => Object(one).id) : [];
  assertEquals(ids.slice(0, 4), ["coder", "team/writer", "auto", "counter"]);
});

Deno.test("a forced route of a named model does not serve other models than those of its targets", async () => {
  const { post } = gateway();
  const headers = { "x-gateway-route": "model:coder" };
  const reply = await post("/chat/completions", { model: "unknown", ...CHAT }, headers);
  assertEquals([reply.status, reply.error.code], [400, "model_not_found"]);
});

Deno.test("a response by a pattern shows the requested name", async () => {
  const reply = await gateway().post("/chat/completions", { model: "quick-chat", ...CHAT });
  assertEquals(reply.json.model, "quick-chat");
});

Deno.test("a target that cannot carry a parameter is skipped, and the fallbacks are as well", async () => {
  const headers = { "x-gateway-provider": "claude" };
  const { post, requests } = gateway();
  const reply = await post("/chat/completions", { model: "coder", ...CHAT }, headers);
  assertEquals([reply.status, requests.length], [400, 0]);
  const own = { ...CHAT, verbosity: "medium" };
  const served = await post("/chat/completions", { model: "coder", ...own }, headers);
  assertEquals([served.status, requests[0]?.host], [400, undefined]);
});

Deno.test("the metrics have the route of a named model, and the served model", async () => {
  const { post, scrape } = gateway();
  await post("/chat/completions", { model: "coder", ...CHAT });
  const text = await scrape();
  assertStringIncludes(text, 'route="model:coder"');
  assertStringIncludes(text, 'model="big"');
});

Deno.test("a key that may use the name uses its targets by that name only", async () => {
  const headers = { authorization: "Bearer sk-name" };
  const over = gateway(KEYS);
  const reply = await over.post("/chat/completions", { model: "coder", ...CHAT }, headers);
  assertEquals([reply.status, ...served(over)], [200, "one", "big"], reply.text);
  const glob = await over.post("/chat/completions", { model: "quick-1", ...CHAT }, headers);
  assertEquals(glob.status, 200);
  for (const model of ["big", "one/big", "team/writer", "opus"]) {
    const refused = await over.post("/chat/completions", { model, ...CHAT }, headers);
    assertEquals([model, refused.status, refused.error.code], [model, 403, "model_not_allowed"]);
  }
});

Deno.test("a key that may use a target uses it by the name of the named model too", async () => {
  const over = gateway(KEYS);
  const headers = { authorization: "Bearer sk-target" };
  const body = { model: "counter", max_tokens: 9, messages: CHAT.messages };
  const reply = await over.post("/messages", body, headers);
  assertEquals([reply.status, ...served(over)], [200, "claude", "opus"], reply.text);
  const other = await over.post("/chat/completions", { model: "team/writer", ...CHAT }, headers);
  assertEquals(other.status, 403);
});

Deno.test("a key reads and continues its stored responses of a named model", async () => {
  const { post, get } = gateway(KEYS);
  const headers = { authorization: "Bearer sk-name" };
  const made = await post("/responses", { model: "coder", input: "Hi" }, headers);
  assertEquals(made.status, 200, made.text);
  assertEquals((await get(`/responses/${made.json.id}`, headers)).status, 200);
  const next = { model: "coder", input: "Go on", previous_response_id: made.json.id ?? "" };
  assertEquals((await post("/responses", next, headers)).status, 200);
});

Deno.test("both lists of models begin with the named ones in the order of the file, without patterns", async () => {
  const listed = FILE.replace(
    "coder:\n",
    "coder:\n    display_name: Coder\n    context_size: 200000\n    max_output: 32000\n",
  );
  const { get } = gateway("", listed);
  const openai = await get("/models");
  const data = openai.json.data;
  assertEquals(Array.isArray(data) ? data.slice(0, 3) : null, [
    {
      id: "coder",
      object: "model",
      created: 1_700_000_000,
      owned_by: "switchyard",
      display_name: "Coder",
      context_window: 200_000,
      max_output_tokens: 32_000,
    },
    {
      id: "team/writer",
      object: "model",
      created: 1_700_000_000,
      owned_by: "switchyard",
      display_name: "team/writer",
    },
    {
      id: "counter",
      object: "model",
      created: 1_700_000_000,
      owned_by: "switchyard",
      display_name: "counter",
    },
  ]);
  const headers = { "anthropic-version": "2023-06-01" };
  const messages = await get("/models?limit=2", headers);
  const { data: page, last_id, has_more } = messages.json;
  assertEquals(ids(page), ["coder", "team/writer"]);
  assertEquals([last_id, has_more], ["team/writer", true]);
  const [first] = Array.isArray(page) ? page : [];
  const { display_name, max_input_tokens, max_tokens } = Object(first);
  assertEquals([display_name, max_input_tokens, max_tokens], ["Coder", 200_000, 32_000]);
  const next = await get("/models?limit=3&after_id=team/writer", headers);
  assertEquals(ids(next.json.data)[0], "counter");
  assertEquals(ids(next.json.data).every((id, at) => at === 0 || String(id).includes("/")), true);
  const before = await get("/models?limit=2&before_id=counter", headers);
  assertEquals(ids(before.json.data), ["coder", "team/writer"]);
  assertEquals((await get("/models/team/writer")).json.id, "team/writer");
  assertEquals((await get("/models/coder", headers)).json.display_name, "Coder");
  assertEquals((await get("/models/quick-*")).status, 404);
});

function ids(page: unknown): unknown[] {
  return Array.isArray(page) ? page.map(({ id }) => id) : [];
}

Deno.test("the lists have the named models that the client key may use", async () => {
  const { get } = gateway(KEYS);
  const listed = async (key: string) => {
    const { json: { data } } = await get("/models", { authorization: `Bearer ${key}` });
    return ids(data).filter((id) => ["coder", "team/writer", "counter"].includes(String(id)));
  };
  assertEquals(await listed("sk-name"), ["coder"]);
  assertEquals(await listed("sk-target"), ["coder", "counter"]);
  assertEquals(await listed("sk-provider"), ["coder", "team/writer"]);
});

Deno.test("a reload changes the targets of a name between two turns, and a stored response keeps its own", async () => {
  const over = gateway();
  const made = await over.post("/responses", { model: "coder", input: "Hi" });
  assertEquals([made.status, ...served(over)], [200, "one", "big"]);
  over.reload(
    FILE.replace(
      "targets: [{provider: one, model: big}, {provider: two, model: other}]",
      "targets: [{provider: two, model: new}]",
    ),
  );
  const chat = await over.post("/chat/completions", { model: "coder", ...CHAT });
  assertEquals([chat.status, ...served(over)], [200, "two", "new"]);
  const next = { model: "coder", input: "Go on", previous_response_id: made.json.id ?? "" };
  const reply = await over.post("/responses", next);
  assertEquals([reply.status, ...served(over)], [200, "one", "big"], reply.text);
});

Deno.test("a continuation may change to a named model at the same provider, and back", async () => {
  const over = gateway();
  const made = await over.post("/responses", { model: "one/m", input: "Hi" });
  const id = made.json.id ?? "";
  const named = await over.post("/responses", {
    model: "coder",
    input: "Hi",
    previous_response_id: id,
  });
  assertEquals([named.status, ...served(over)], [200, "one", "big"], named.text);
  const back = { model: "m", input: "Hi", previous_response_id: named.json.id ?? "" };
  const reply = await over.post("/responses", back);
  assertEquals([reply.status, ...served(over)], [200, "one", "m"], reply.text);
});
