import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import type { Got } from "../support/chat_call.ts";
import { routed, servedBy } from "./routed.ts";

/** A field that the local protocol cannot keep, and compat does. */
const LOGIT_BIAS = { logit_bias: { "1": 5 } };

function refused({ status, error }: Got): readonly unknown[] {
  return [status, error.type, error.param, error.code];
}

Deno.test("a requested provider that the route lacks is refused before any upstream call", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a}], fallback: [{provider: c}]}]");
  const expected = [400, "invalid_request_error", "provider", "provider_not_found"];
  assertEquals(refused(await gateway.ask({ headers: { "x-gateway-provider": "b" } })), expected);
  assertEquals(refused(await gateway.ask({ headers: { "x-gateway-provider": "zz" } })), expected);
  assertEquals(refused(await gateway.ask({ body: { model: "b/m" } })), expected);
  assertEquals(gateway.upstream, []);
});

Deno.test("a requested model that the route lacks is refused before any upstream call", async () => {
  const gateway = routed(`[{name: r, fallback: [{provider: c}],
    targets: [{provider: a, model: x}, {provider: b, model: y}]}]`);
  const expected = [400, "invalid_request_error", "model", "model_not_found"];
  assertEquals(refused(await gateway.ask({ body: { model: "z" } })), expected);
  assertEquals(refused(await gateway.ask({ body: { model: "a/y" } })), expected);
  const { error } = await gateway.ask({ body: { model: "z" } });
  assertStringIncludes(String(error.message), 'a target without a "model" serves every model');
  assertEquals(refused(await gateway.ask({ headers: { "x-gateway-model": "X" } })), expected);
  assertEquals(gateway.upstream, []);
});

Deno.test("a target without a model accepts each model", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a, model: x}, {provider: b}]}]");
  assertEquals(servedBy(await gateway.ask({ body: { model: "z" } })), "b z r");
  assertEquals(servedBy(await gateway.ask({ body: { model: "z" } })), "b z r");
});

Deno.test("a target of weight 0 gets no request, even if the request names it", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a, weight: 0}, {provider: b}]}]");
  for (let count = 0; count < 4; count++) assertEquals(servedBy(await gateway.ask()), "b m r");
  const { error } = await gateway.ask({ body: { model: "a/m" } });
  assertEquals(error.code, "provider_not_found");
});

Deno.test("a target that cannot carry the request is skipped", async () => {
  const gateway = routed("[{name: r, targets: [{provider: loc}, {provider: a}]}]");
  for (let count = 0; count < 3; count++) {
    assertEquals(servedBy(await gateway.ask({ body: LOGIT_BIAS })), "a m r");
  }
});

Deno.test("the refusal names the field if no target can carry the request", async () => {
  const gateway = routed(
    "[{name: r, targets: [{provider: loc}], fallback: [{provider: loc, model: n}]}]",
  );
  const answer = await gateway.ask({ body: LOGIT_BIAS });
  assertEquals(refused(answer), [
    400,
    "invalid_request_error",
    "logit_bias",
    "unsupported_feature",
  ]);
  assertEquals(answer.headers.get("x-gateway-route"), "r");
  assertEquals(gateway.upstream, []);
});

Deno.test("a request that no target can carry goes to the fallback that can", async () => {
  const routes =
    "[{name: r, targets: [{provider: loc}], fallback: [{provider: loc, model: n}, {provider: a}]}]";
  const gateway = routed(routes);
  assertEquals(servedBy(await gateway.ask({ body: LOGIT_BIAS })), "a m r");
  const headers = { "x-gateway-no-fallback": "true" };
  const answer = await gateway.ask({ body: LOGIT_BIAS, headers });
  assertEquals(refused(answer), [
    400,
    "invalid_request_error",
    "logit_bias",
    "unsupported_feature",
  ]);
});

Deno.test("fallbacks that cannot carry the request are left out, and the order of the rest is unchanged", async () => {
  const gateway = routed(
    "[{name: r, targets: [{provider: a}], fallback: [{provider: loc}, {provider: b}, {provider: c}]}]",
    { failing: { a: 501, b: 501 } },
  );
  assertEquals(servedBy(await gateway.ask({ body: LOGIT_BIAS })), "c m r");
  assertEquals(gateway.upstream, ["a/m", "b/m", "c/m"]);
});

Deno.test("a requested provider limits the fallbacks to it", async () => {
  const gateway = routed(
    `[{name: r, targets: [{provider: a}, {provider: b}],
       fallback: [{provider: b}, {provider: a, model: second}]}]`,
    { failing: { a: 501 } },
  );
  const { status, headers } = await gateway.ask({ body: { model: "a/first" } });
  assertEquals(status, 501);
  assertEquals([headers.get("x-gateway-provider"), headers.get("x-gateway-model")], [
    "a",
    "second",
  ]);
  assertEquals(gateway.upstream, ["a/first", "a/second"]);
});

Deno.test("a requested model does not limit the fallbacks", async () => {
  const gateway = routed(
    "[{name: r, targets: [{provider: a, model: x}], fallback: [{provider: b, model: y}]}]",
    { failing: { a: 501 } },
  );
  assertEquals(servedBy(await gateway.ask({ body: { model: "x" } })), "b y r");
  assertEquals(gateway.upstream, ["a/x", "b/y"]);
});

Deno.test("a fallback without a known model is left out", async () => {
  const gateway = routed(
    "[{name: r, targets: [{provider: a, model: x}], fallback: [{provider: c}, {provider: b}]}]",
    { failing: { a: 501 } },
  );
  assertEquals(servedBy(await gateway.ask({ body: { model: "auto" } })), "b b-default r");
});
