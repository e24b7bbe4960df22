import { chatCurl, firstCall } from "../../src/cli/first_call.ts";
import { compile } from "../../src/gateway/compile.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

function generationOf(routes: string) {
  return compile(
    configOf(`
providers:
  openai: {api_key: k}
  mine: {type: compat, base_url: "http://x/v1", default_model: small}
  listed: {type: compat, base_url: "http://x/v1", models: {mode: static, static: [first]}}
routing:
  routes: [${routes}]
`),
    1,
  );
}

Deno.test("the example call has a placeholder without a known model, and a hint without a route", () => {
  const open = generationOf("{name: a, targets: [{provider: openai}]}");
  assertStringIncludes(firstCall(open, "http://h:1"), '"model":"openai/MODEL"');
  assertStringIncludes(firstCall(open, "http://h:1"), "in the place of MODEL");
  const closed = generationOf("{name: a, match: {path: /x}, targets: [{provider: openai}]}");
  assertStringIncludes(firstCall(closed, "http://h:1"), "switchyard explain");
});

Deno.test("a model with a quote stays one argument of the shell", () => {
  assertEquals(
    chatCurl("http://h:1", { model: "it's" }),
    `curl http://h:1/v1/chat/completions -d '{"model":"it'\\''s",` +
      `"messages":[{"role":"user","content":"Say hello."}]}'`,
  );
});
