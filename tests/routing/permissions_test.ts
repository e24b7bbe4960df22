import { assertEquals } from "../support/assert.ts";
import { routed, servedBy } from "./routed.ts";

const ROUTE = `
    - name: r
      targets: [{provider: a, model: gpt-4o}, {provider: b, model: claude-x}]
      fallback: [{provider: c, model: gpt-4o-mini}]`;

/** A gateway whose key `ada` has these settings, and a request with that key. */
function gatewayFor(settings: string, routes = ROUTE) {
  const gateway = routed(routes, {
    settings: `security:
  enabled: true
  api_key: {keys: [{name: ada, value: sk-ada, ${settings}}]}`,
  });
  return {
    gateway,
    ask: (model: string, headers: Readonly<Record<string, string>> = {}) =>
      gateway.ask({ body: { model }, headers: { authorization: "Bearer sk-ada", ...headers } }),
  };
}

type Ask = ReturnType<typeof gatewayFor>["ask"];

async function refusal(ask: Ask, ...args: Parameters<Ask>) {
  const { status, error } = await ask(...args);
  return [status, error.type, error.code, error.param];
}

const MODEL = [403, "permission_error", "model_not_allowed", "model"];
const PROVIDER = [403, "permission_error", "provider_not_allowed", "provider"];

Deno.test("a key uses only targets whose model matches one of its patterns, bare or with the provider", async () => {
  for (const pattern of ["gpt-4o", "gpt-*", "a/gpt-4o", "a/*", "*/gpt-4o", "*4o"]) {
    const { ask } = gatewayFor(`models: ["${pattern}"]`);
    for (let count = 0; count < 3; count++) {
      assertEquals(servedBy(await ask("auto")), "a gpt-4o r", pattern);
    }
  }
  for (const pattern of ["gpt-4", "A/gpt-4o", "4o", "b/gpt-4o", "gpt-4o/a"]) {
    assertEquals(await refusal(gatewayFor(`models: ["${pattern}"]`).ask, "auto"), MODEL, pattern);
  }
});

Deno.test("patterns are matched by the model of the target, not by the requested one", async () => {
  const { ask, gateway } = gatewayFor("models: [m-*]", "[{name: r, targets: [{provider: a}]}]");
  assertEquals(servedBy(await ask("m-1")), "a m-1 r");
  assertEquals(servedBy(await ask("a/m-1")), "a m-1 r");
  assertEquals(await refusal(ask, "other"), MODEL);
  assertEquals(gateway.upstream, ["a/m-1", "a/m-1"]);
});

Deno.test("targets that a key may not use are passed over, and so are fallbacks", async () => {
  const onlyFallback = gatewayFor("models: [gpt-4o-mini]");
  assertEquals(servedBy(await onlyFallback.ask("auto")), "c gpt-4o-mini r");
  const noFallback = { "x-gateway-no-fallback": "true" };
  assertEquals(await refusal(onlyFallback.ask, "auto", noFallback), MODEL);
  const providers = gatewayFor("providers: [b]");
  assertEquals(servedBy(await providers.ask("auto")), "b claude-x r");
  assertEquals(await refusal(gatewayFor("providers: [loc]").ask, "auto"), PROVIDER);
  assertEquals(onlyFallback.gateway.upstream, ["c/gpt-4o-mini"]);
});

Deno.test("a failed target does not fall back to one that the key may not use", async () => {
  const gateway = routed(ROUTE, {
    failing: { a: 501 },
    settings: "security: {enabled: true, api_key: {keys: [{name: k, value: s, models: [gpt-4o]}]}}",
  });
  const { status } = await gateway.ask({
    body: { model: "gpt-4o" },
    headers: { authorization: "Bearer s" },
  });
  assertEquals([status, gateway.upstream], [501, ["a/gpt-4o"]]);
});

Deno.test("a client that requests a provider it may not use is refused, by header or canonical model", async () => {
  const { ask, gateway } = gatewayFor("providers: [a]");
  assertEquals(await refusal(ask, "auto", { "x-gateway-provider": "b" }), PROVIDER);
  assertEquals(await refusal(ask, "b/claude-x"), PROVIDER);
  assertEquals(await refusal(ask, "auto", { "x-gateway-provider": "none-such" }), PROVIDER);
  assertEquals(servedBy(await ask("auto", { "x-gateway-provider": "a" })), "a gpt-4o r");
  assertEquals(gateway.upstream, ["a/gpt-4o"]);
});

Deno.test("a requested model that the route does not have stays 400, whatever the key may use", async () => {
  const { ask } = gatewayFor(
    "models: [gpt-4o]",
    "[{name: r, targets: [{provider: a, model: gpt-4o}]}]",
  );
  assertEquals((await refusal(ask, "unknown"))[2], "model_not_found");
});

Deno.test("a target that the key may use says why it does not serve, before those it may not use", async () => {
  const { gateway } = gatewayFor(
    "providers: [loc]",
    "[{name: r, targets: [{provider: a}, {provider: loc}]}]",
  );
  const { status, error } = await gateway.ask({
    body: { logprobs: true },
    headers: { authorization: "Bearer sk-ada" },
  });
  assertEquals([status, error.code, error.param], [400, "unsupported_feature", "logprobs"]);
});

Deno.test("routes match the name and the labels of the client key", async () => {
  const gateway = routed(
    `
    - {name: blue, match: {labels: {team: blue, tier: gold}}, targets: [{provider: a}]}
    - {name: bobs, match: {key: [bob, eve]}, targets: [{provider: b}]}
    - {name: rest, targets: [{provider: c}]}`,
    {
      settings: `security:
  enabled: true
  api_key:
    keys:
      - {name: ada, value: k-ada, labels: {team: blue, tier: gold}}
      - {name: cyd, value: k-cyd, labels: {team: blue}}
      - {name: bob, value: k-bob}
      - {name: eve, value: k-eve, labels: {team: blue, tier: gold}}`,
    },
  );
  const served = async (name: string) =>
    servedBy(await gateway.ask({ headers: { authorization: `Bearer k-${name}` } }));
  assertEquals(await Promise.all(["ada", "cyd", "bob", "eve"].map(served)), [
    "a m blue",
    "c m rest",
    "b m bobs",
    "a m blue",
  ]);
});
