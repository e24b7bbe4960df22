import { assertEquals } from "../support/assert.ts";
import type { Got } from "../support/chat_call.ts";
import { type Asked, routed, servedBy } from "./routed.ts";

/** Two routes: the first has the match conditions, the second takes the rest. */
function matching(conditions: string) {
  return routed(`
    - {name: first, match: ${conditions}, targets: [{provider: a}]}
    - {name: rest, targets: [{provider: b}]}`);
}

async function takes(conditions: string, asked: Asked): Promise<boolean> {
  const { headers } = await matching(conditions).ask(asked);
  return headers.get("x-gateway-route") === "first";
}

function assertNoRoute({ status, error, headers }: Got) {
  assertEquals(status, 502);
  assertEquals(Object.keys(error), ["message", "type"], "param and code are left out");
  assertEquals(error.type, "routing_error");
  assertEquals(headers.get("x-gateway-route"), null);
  assertEquals(headers.get("x-gateway-provider"), null);
}

Deno.test("a path matches as a literal prefix, with or without a star at its end", async () => {
  for (const path of ["*", "/", "/v1/chat", "/v1/chat/*", "/v1/chat/completions", "/v1/c*"]) {
    assertEquals(await takes(`{path: "${path}"}`, {}), true, path);
  }
  for (
    const path of ["/v1/embeddings", "/v1/chat/completions/", "/v1/Chat", "/v1/chat.completions"]
  ) {
    assertEquals(await takes(`{path: "${path}"}`, {}), false, path);
  }
});

Deno.test("every header must be there with exactly its value, its name in any case", async () => {
  const both = "{headers: {X-Team: Red, x-app: one}}";
  assertEquals(await takes(both, { headers: { "x-team": "Red", "X-App": "one" } }), true);
  assertEquals(await takes(both, { headers: { "x-team": "Red" } }), false);
  assertEquals(await takes(both, { headers: { "x-team": "red", "x-app": "one" } }), false);
  assertEquals(await takes(both, { headers: { "x-team": "Red ones", "x-app": "one" } }), false);
  assertEquals(await takes(both, {}), false);
});

Deno.test("all conditions of a route must hold together", async () => {
  const all = "{path: /v1/chat, headers: {x-team: red}, models: [m]}";
  const headers = { "x-team": "red" };
  assertEquals(await takes(all, { headers }), true);
  assertEquals(await takes(all, { headers, body: { model: "n" } }), false);
  assertEquals(await takes(all, {}), false);
});

Deno.test("a model pattern matches the whole name, and a star matches any text", async () => {
  const models = '{models: [exact, "gpt-4*", "*-mini", "x*y*z", "a.b", "org/*"]}';
  const hits = ["exact", "gpt-4", "gpt-4o", "gpt-4/turbo", "o1-mini", "xyz", "x1y2z", "a.b"];
  for (const model of [...hits, "org/llama", "gpt-4\no"]) {
    assertEquals(await takes(models, { body: { model } }), true, model);
  }
  for (const model of ["Exact", "exact2", "gpt-3", "mini-o1", "xz", "axb", "organ", "my-gpt-4"]) {
    assertEquals(await takes(models, { body: { model } }), false, model);
  }
});

// Tried in every way these would take days, and the run would not end.
Deno.test("a long name does not hold up a pattern of several stars", async () => {
  const models = '{models: ["*gpt*mini*x*y"]}';
  assertEquals(await takes(models, { body: { model: "gptmini".repeat(100_000) } }), false);
  assertEquals(await takes(models, { body: { model: `${"gptminix".repeat(50_000)}y` } }), true);
});

Deno.test("the stars of a pattern do not share characters", async () => {
  for (
    const [glob, model, isTaken] of [
      ["ab*ba", "aba", false],
      ["ab*ba", "abba", true],
      ["a*b*b", "ab", false],
      ["a*b*b", "abb", true],
      ["**", "", true],
      ["*a*", "bab", true],
      ["*a*a*", "bab", false],
    ] as const
  ) {
    assertEquals(await takes(`{models: ["${glob}"]}`, { body: { model } }), isTaken, glob);
  }
});

Deno.test("a pattern for canonical names takes no bare one", async () => {
  assertEquals(await takes('{models: ["*/m"]}', { body: { model: "m" } }), false);
  assertEquals(await takes('{models: ["*/m"]}', { body: { model: "a/m" } }), true);
  const headers = { "x-gateway-provider": "a" };
  assertEquals(await takes('{models: ["*/m"]}', { headers }), true);
});

Deno.test("a route can match requests that leave the model open", async () => {
  for (const conditions of ["{models: [auto]}", "{headers: {x-gateway-model: auto}}"]) {
    const gateway = routed(`
      - {name: open, match: ${conditions}, targets: [{provider: b}]}
      - {name: rest, targets: [{provider: a}]}`);
    assertEquals(servedBy(await gateway.ask({ body: { model: "auto" } })), "b b-default open");
    assertEquals(servedBy(await gateway.ask({ body: { model: "b/auto" } })), "b b-default open");
    assertEquals(servedBy(await gateway.ask({ body: { model: "m" } })), "a m rest");
  }
});

Deno.test("models are compared with the requested model: bare, canonical, from header or body", async () => {
  const models = "{models: [gpt-4]}";
  assertEquals(await takes(models, { body: { model: "a/gpt-4" } }), true);
  assertEquals(
    await takes(models, { body: { model: "x" }, headers: { "x-gateway-model": "gpt-4" } }),
    true,
  );
  assertEquals(
    await takes(models, { body: { model: "gpt-4" }, headers: { "x-gateway-model": "x" } }),
    false,
  );
  assertEquals(await takes("{models: [a/gpt-4]}", { body: { model: "a/gpt-4" } }), true);
});

Deno.test("request type, model and provider can be matched by names of their own", async () => {
  assertEquals(await takes("{headers: {x-gateway-request-type: chat_completions}}", {}), true);
  assertEquals(await takes("{headers: {x-gateway-request-type: responses}}", {}), false);
  assertEquals(await takes("{headers: {x-gateway-model: m}}", {}), true);
  assertEquals(await takes("{headers: {x-gateway-model: m}}", { body: { model: "a/m" } }), true);
  assertEquals(await takes("{headers: {x-gateway-provider: a}}", { body: { model: "a/m" } }), true);
  assertEquals(
    await takes("{headers: {X-Gateway-Provider: a}}", { headers: { "x-gateway-provider": "a" } }),
    true,
  );
  assertEquals(await takes("{headers: {x-gateway-provider: a}}", {}), false);
});

Deno.test("a client cannot forge another request type", async () => {
  const headers = { "x-gateway-request-type": "responses" };
  assertEquals(await takes("{headers: {x-gateway-request-type: responses}}", { headers }), false);
  assertEquals(
    await takes("{headers: {x-gateway-request-type: chat_completions}}", { headers }),
    true,
  );
});

Deno.test("the first matching route in file order is authoritative", async () => {
  const gateway = routed(`
    - {name: one, match: {models: [other]}, targets: [{provider: a}]}
    - {name: two, targets: [{provider: b, model: only}]}
    - {name: three, targets: [{provider: c}]}`);
  const answer = await gateway.ask({ body: { model: "c/m" } });
  assertEquals([answer.error.code, answer.headers.get("x-gateway-route")], [
    "provider_not_found",
    "two",
  ]);
  assertEquals(gateway.upstream, []);
});

Deno.test("a request that matches no route gets a routing error without param and code", async () => {
  const gateway = routed("[{name: one, match: {path: /v1/embeddings}, targets: [{provider: a}]}]");
  assertNoRoute(await gateway.ask());
  assertNoRoute(await gateway.ask({ headers: { "x-gateway-provider": "a" } }));
  assertEquals(gateway.upstream, []);
});

Deno.test("a forced route is the only route considered, and its own conditions still apply", async () => {
  const gateway = routed(`
    - {name: one, targets: [{provider: a}]}
    - {name: two, match: {models: [m]}, targets: [{provider: b}]}`);
  const headers = { "x-gateway-route": "two" };
  assertEquals((await gateway.ask({ headers })).headers.get("x-gateway-route"), "two");
  assertNoRoute(await gateway.ask({ headers, body: { model: "n" } }));
  assertNoRoute(await gateway.ask({ headers: { "x-gateway-route": "Two" } }));
  assertNoRoute(await gateway.ask({ headers: { "x-gateway-route": "none" } }));
  assertEquals((await gateway.ask({ headers: { "x-gateway-route": "" } })).status, 200);
});

/** As the runtime gives UTF-8 in a header: one character for each byte. */
function inBytes(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

Deno.test("names and values beyond ASCII match as clients write them, in UTF-8", async () => {
  const team = "{headers: {x-team: größe}}";
  assertEquals(await takes(team, { headers: { "x-team": inBytes("größe") } }), true);
  assertEquals(await takes("{headers: {x-team: é}}", { headers: { "x-team": "é" } }), true);
  const model = { headers: { "x-gateway-model": inBytes("café") } };
  assertEquals(await takes("{models: [café]}", model), true);
  const gateway = routed("[{name: größe, targets: [{provider: a}]}]");
  await gateway.ask({
    headers: { ...model.headers, "x-gateway-route": inBytes("größe") },
  });
  assertEquals(gateway.upstream, ["a/café"]);
});
