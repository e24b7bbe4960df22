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

Deno.test("the prefix of client keys reaches curl as it is, whatever a shell would make of it", async () => {
  for (const prefix of ["Bearer", '"$HOME`id`\\', "it's!"]) {
    const generation = generationOf("{name: a, targets: [{provider: openai}]}");
    const { config } = generation;
    const { security } = config;
    const withKeys = {
      ...generation,
      clientKeys: [{}] as unknown as typeof generation.clientKeys,
      config: { ...config, security: { ...security, api_key: { ...security.api_key, prefix } } },
    };
    const [command = ""] = firstCall(withKeys, "http://h:1").split("\n");
    const { code, stdout } = await new Deno.Command("sh", {
      args: ["-c", `curl() { printf '%s\\n' "$@"; }\n${command}`],
      env: { SWITCHYARD_KEY: "secret" },
    }).output();
    assertEquals(code, 0, command);
    const words = new TextDecoder().decode(stdout).split("\n");
    assertEquals(words.slice(0, 2), ["-H", `${security.api_key.header}: ${prefix} secret`]);
  }
});
