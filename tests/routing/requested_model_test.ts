import { assertEquals } from "../support/assert.ts";
import { routed, servedBy } from "./routed.ts";

const ALL = "[{name: r, targets: [{provider: a}, {provider: b}, {provider: c}]}]";

Deno.test("a canonical model names provider and model; the upstream gets the bare one", async () => {
  const gateway = routed(ALL);
  assertEquals(servedBy(await gateway.ask({ body: { model: "c/gpt-4" } })), "c gpt-4 r");
  assertEquals(servedBy(await gateway.ask({ body: { model: "b/x/y" } })), "b x/y r");
  assertEquals(gateway.upstream, ["c/gpt-4", "b/x/y"]);
});

Deno.test("a slash behind anything but a provider is part of the model's name", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a}]}]");
  for (const model of ["meta-llama/Llama-3", "A/m", "/m", "a\\m", "org/a/m"]) {
    assertEquals((await gateway.ask({ body: { model } })).status, 200);
  }
  assertEquals(gateway.upstream, ["a/meta-llama/Llama-3", "a/A/m", "a//m", "a/a\\m", "a/org/a/m"]);
});

Deno.test("the headers win over the body, and may be canonical themselves", async () => {
  const gateway = routed(ALL);
  const ask = (model: string, headers: Record<string, string>) =>
    gateway.ask({ body: { model }, headers });
  assertEquals(servedBy(await ask("x", { "x-gateway-provider": "c" })), "c x r");
  assertEquals(
    servedBy(await ask("x", { "X-Gateway-Model": "y", "x-gateway-provider": "b" })),
    "b y r",
  );
  assertEquals(servedBy(await ask("b/x", { "x-gateway-model": "c/y" })), "c y r");
  assertEquals(servedBy(await ask("b/x", { "x-gateway-provider": "b" })), "b x r");
  assertEquals(gateway.upstream, ["c/x", "b/y", "c/y", "b/x"]);
});

Deno.test("a header and a canonical model that name different providers are refused", async () => {
  const gateway = routed(ALL);
  const headers = { "x-gateway-provider": "a" };
  for (
    const asked of [
      { headers, body: { model: "b/m" } },
      { headers: { ...headers, "x-gateway-model": "c/m" } },
    ]
  ) {
    const { status, error } = await gateway.ask(asked);
    assertEquals([status, error.type, error.param, error.code], [
      400,
      "invalid_request_error",
      "model",
      "invalid_value",
    ]);
  }
  assertEquals(gateway.upstream, []);
});

Deno.test("a repeated provider or model header is refused by name", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a}, {provider: b}]}]");
  for (
    const [headers, param] of [
      [{ "x-gateway-provider": "a, b" }, "provider"],
      [{ "x-gateway-provider": "a, a" }, "provider"],
      [{ "x-gateway-model": "a/m, b/m" }, "model"],
    ] as const
  ) {
    const { status, error } = await gateway.ask({ headers, body: { model: "m" } });
    assertEquals([status, error.param, error.code], [400, param, "invalid_value"]);
  }
  assertEquals(gateway.upstream, []);
});

Deno.test("an empty or absent model and auto leave the choice to the route", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a, model: set}]}]");
  for (const model of ["", "auto", null, "a/", "a/auto"]) {
    assertEquals(servedBy(await gateway.ask({ body: { model } })), "a set r");
  }
  const headers = { "x-gateway-model": "auto" };
  assertEquals(servedBy(await gateway.ask({ headers, body: { model: "other" } })), "a set r");
});

Deno.test("a target's own model wins, then the requested one, then the provider's default", async () => {
  const gateway = routed(`
    - {name: own, match: {path: /v1/chat, headers: {x-set: own}}, targets: [{provider: b, model: set}]}
    - {name: open, targets: [{provider: b}]}`);
  const headers = { "x-set": "own" };
  assertEquals(servedBy(await gateway.ask({ headers, body: { model: "auto" } })), "b set own");
  assertEquals(servedBy(await gateway.ask({ body: { model: "asked" } })), "b asked open");
  assertEquals(servedBy(await gateway.ask({ body: { model: "auto" } })), "b b-default open");
});

Deno.test("a request without a known model is refused with a request for one", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a}]}]");
  const { status, error } = await gateway.ask({ body: { model: "auto" } });
  assertEquals([status, error.param, error.code], [400, "model", "missing_required_parameter"]);
  assertEquals(gateway.upstream, []);
});
