import { chatCurl, firstCall } from "../../src/cli/first_call.ts";
import { generationOf } from "../support/example_generation.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

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
