import type { WorldScript } from "../../support/world.ts";
import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { streamOf } from "../../support/pieces.ts";
import { assertValid } from "../../support/schemas.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

type Fetch = NonNullable<WorldScript["fetch"]>;

/** Requests to the upstreams, in order. */
interface Seen {
  readonly url: string;
  readonly headers: Headers;
}

function upstream(answer: (url: string, init: RequestInit) => Response | Promise<Response>) {
  const seen: Seen[] = [];
  const fetch: Fetch = async (url, init) => {
    seen.push({ url, headers: new Headers(init.headers) });
    return await answer(url, init);
  };
  return { seen, world: scriptedWorld({ fetch }) };
}

function json(value: unknown, status = 200): Response {
  return new Response(streamOf([utf8Bytes(JSON.stringify(value))]), { status });
}

function listOf(...ids: readonly string[]): Response {
  return json({ object: "list", data: ids.map((id) => ({ id })) });
}

function gatewayOver(world: ScriptedWorld, ...providers: readonly string[]) {
  const [first = ""] = providers.map((line) => line.split(":")[0]);
  const { app, reports } = testGateway(
    `providers: {${providers.join(", ")}}
routing: {routes: [{name: all, targets: [{provider: ${first}}]}]}
`,
    world,
  );

  async function get(path: string, init: RequestInit = {}) {
    const answer = await app(new Request(`http://gateway.test${path}`, init));
    return { status: answer.status, body: await answer.json() };
  }

  return {
    get,
    reports,
    async ids(): Promise<readonly string[]> {
      const { status, body } = await get("/v1/models");
      assertEquals(status, 200);
      assertValid("ListModelsResponse", body);
      return body.data.map(({ id }: { id: string }) => id);
    },
  };
}

const FETCHED = 'p: {type: compat, base_url: "http://up.test/v1", models: {mode: fetch}}';
const KEPT =
  'p: {type: compat, base_url: "http://up.test/v1", default_model: d, models: {mode: fetch, fetch: {ttl: 1m}}}';

Deno.test("models are sorted by ID, with their provider and creation time", async () => {
  const { get } = gatewayOver(
    upstream(() => listOf()).world,
    'b: {type: compat, base_url: "http://up.test", models: {mode: static, static: [z, "x/y"]}}',
    'a: {type: local, base_url: "http://up.test", default_model: m}',
  );
  const { body } = await get("/v1/models");
  const created = 1_700_000_000;
  assertEquals(body, {
    object: "list",
    data: [
      { id: "a/m", object: "model", created, owned_by: "a" },
      { id: "b/x/y", object: "model", created, owned_by: "b" },
      { id: "b/z", object: "model", created, owned_by: "b" },
    ],
  });
});

Deno.test("a provider without a model list shows the vendor's known models and the default model", async () => {
  const { ids } = gatewayOver(
    upstream(() => listOf()).world,
    "anthropic: {api_key: k, default_model: mine}",
    'other: {type: messages, base_url: "http://up.test", api_key: k}',
  );
  const found = await ids();
  assertEquals(found.includes("anthropic/mine"), true);
  assertEquals(found.includes("anthropic/claude-sonnet-4-5"), true);
  assertEquals(found.filter((id) => id.startsWith("other/")), []);
});

Deno.test("each provider type has its path for the model list, requested with the account's headers", async () => {
  const { seen, world } = upstream((url) =>
    url.endsWith("/api/tags")
      ? json({ models: [{ name: "l:latest" }, { model: "n" }, {}, { name: "l:latest" }] })
      : listOf("m", "m")
  );
  const { ids } = gatewayOver(
    world,
    'c: {type: compat, base_url: "http://c.test/v1", api_key: kc, organization: org, models: {mode: fetch}}',
    'l: {type: local, base_url: "http://l.test/api/", models: {mode: fetch}}',
    'm: {type: messages, base_url: "http://m.test/v1", api_key: km, models: {mode: fetch}}',
  );
  assertEquals(await ids(), ["c/m", "l/l:latest", "l/n", "m/m"]);
  assertEquals(seen.map(({ url }) => url), [
    "http://c.test/v1/models",
    "http://l.test/api/tags",
    "http://m.test/v1/models?limit=1000",
  ]);
  const [compat, , messages] = seen.map(({ headers }) => headers);
  assertEquals(compat?.get("openai-organization"), "org");
  assertEquals(compat?.get("authorization"), "Bearer kc");
  assertEquals(messages?.get("x-api-key"), "km");
});

Deno.test("concurrent requests share one fetch of a model list, which is repeated after its ttl", async () => {
  let models = ["one"];
  const { seen, world } = upstream(() => listOf(...models));
  const { ids } = gatewayOver(world, KEPT);
  assertEquals(await Promise.all([ids(), ids(), ids()]), [["p/one"], ["p/one"], ["p/one"]]);
  models = ["two"];
  await world.advance(59_999);
  assertEquals([await ids(), seen.length], [["p/one"], 1]);
  await world.advance(1);
  assertEquals([await ids(), seen.length], [["p/two"], 2]);
});

Deno.test("a failed fetch of a model list gives the known models, and is repeated after 30 s at the earliest", async () => {
  const failures: readonly (() => Response | Promise<Response>)[] = [
    () => json({ error: "x" }, 500),
    () => json({ data: "x" }),
    () => new Response(streamOf([new Uint8Array([0xff])])),
    () => Promise.reject(new TypeError("no route")),
  ];
  for (const failure of failures) {
    const { seen, world } = upstream(failure);
    const { ids } = gatewayOver(world, KEPT);
    assertEquals(await ids(), ["p/d"]);
    await world.advance(29_999);
    assertEquals([await ids(), seen.length], [["p/d"], 1]);
    await world.advance(1);
    assertEquals([await ids(), seen.length], [["p/d"], 2]);
  }
});

Deno.test("a fetch of a model list times out after 15 s", async () => {
  let isAborted = false;
  const { world } = upstream((_url, { signal }) =>
    new Promise((_resolve, reject) =>
      signal?.addEventListener("abort", () => {
        isAborted = true;
        reject(new DOMException("aborted", "AbortError"));
      })
    )
  );
  const { ids } = gatewayOver(world, KEPT);
  const asked = ids();
  await world.advance(14_999);
  assertEquals(isAborted, false);
  await world.advance(1);
  assertEquals([await asked, isAborted], [["p/d"], true]);
});

Deno.test("a model is found by its id, slashes raw or encoded, or by a name of one provider", async () => {
  const { world } = upstream(() => listOf("meta/llama:8b", "only", "both"));
  const { get } = gatewayOver(
    world,
    FETCHED,
    'q: {type: compat, base_url: "http://up.test", models: {mode: static, static: [both]}}',
  );
  for (
    const written of [
      "p/meta/llama:8b",
      "p%2Fmeta%2Fllama:8b",
      "p%2fmeta/llama%3A8b",
      "meta/llama:8b",
      "meta%2Fllama:8b",
    ]
  ) {
    const { status, body } = await get(`/v1/models/${written}`);
    assertEquals([status, body.id], [200, "p/meta/llama:8b"], written);
    assertValid("Model", body);
  }
  assertEquals((await get("/v1/models/only")).body.id, "p/only");
  for (const written of ["both", "none", "q/only", "p/meta", "p%252Fonly", "%ff"]) {
    const { status, body } = await get(`/v1/models/${written}`);
    assertEquals([status, body.error.code, body.error.param], [404, "model_not_found", "model"]);
    assertValid("ErrorResponse", body);
  }
});

Deno.test("a model that a static list has twice is listed once", async () => {
  const { get, ids } = gatewayOver(
    upstream(() => listOf()).world,
    'p: {type: local, base_url: "http://up.test", models: {mode: static, static: [b, a, b]}}',
  );
  assertEquals(await ids(), ["p/a", "p/b"]);
  assertEquals((await get("/v1/models/b")).status, 200);
});

Deno.test("a client that disconnects ends its wait for a model list, but not the shared request for it", async () => {
  const listing = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  const { seen, world } = upstream(() => {
    asked.resolve();
    return listing.promise;
  });
  const { get, ids, reports } = gatewayOver(world, FETCHED);
  const client = new AbortController();
  const left = get("/v1/models", { signal: client.signal });
  await asked.promise;
  client.abort();
  assertEquals((await left).status, 499);
  assertEquals(reports[0]?.failure?.kind, "client_cancelled");
  const next = ids();
  listing.resolve(listOf("m"));
  assertEquals(await next, ["p/m"]);
  assertEquals(seen.length, 1);
});
