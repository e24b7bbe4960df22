import { environmentConfig, ollamaUrl } from "../../src/cli/environment.ts";
import { firstModel } from "../../src/routing/first_model.ts";
import { compile } from "../../src/gateway/compile.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";

const BLANK = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", OLLAMA_HOST: "" };

async function offered(variables: Readonly<Record<string, string>>) {
  const { loaded, about } = await environmentConfig({ ...BLANK, ...variables });
  assert(loaded.ok);
  return { config: loaded.config, warnings: loaded.warnings, about };
}

Deno.test("one API key in the environment makes one provider that serves each model", async () => {
  const { config, warnings, about } = await offered({ OPENAI_API_KEY: "sk-x" });
  assertEquals(Object.keys(config.providers), ["openai"]);
  assertEquals(config.providers.openai?.api_keys[0]?.value, "sk-x");
  assertEquals(config.routing.routes.map(({ match }) => match.models), [undefined]);
  assertEquals(warnings, []);
  assertEquals(firstModel(compile(config, 1)), "openai/gpt-4o-mini");
  assert(about.includes("openai (OPENAI_API_KEY)") && !about.includes("sk-x"));
});

Deno.test("with several providers each model names its own", async () => {
  const variables = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", OLLAMA_HOST: "box:1" };
  const { config, about } = await offered(variables);
  assertEquals(config.routing.routes.map(({ match }) => match.models), [
    ["openai/*", "anthropic/*", "ollama/*"],
  ]);
  assertEquals(config.providers.ollama?.base_url, "http://box:1");
  assertStringIncludes(about, "A model must name its provider: openai/gpt-4o-mini");
});

Deno.test("providers of the environment declare what their hosts can do", async () => {
  const variables = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", OLLAMA_HOST: "box:1" };
  const { config, warnings } = await offered(variables);
  const { openai, anthropic, ollama } = config.providers;
  assertEquals(warnings, []);
  assertEquals(openai?.capabilities.embeddings_base64, true);
  assertEquals(openai?.capabilities.hosted_tools.includes("web_search"), true);
  for (const provider of [anthropic, ollama]) {
    assertEquals(provider?.capabilities.structured_outputs, true);
    assertEquals(provider?.capabilities.reasoning_effort, true);
  }
  assertEquals(anthropic?.capabilities.adaptive_thinking, true);
  assertEquals(openai?.capabilities.conversations, false);
});

Deno.test("a key may hold what looks like a variable", async () => {
  const { config } = await offered({ ANTHROPIC_API_KEY: "${HOME}$" });
  assertEquals(config.providers.anthropic?.api_keys[0]?.value, "${HOME}$");
});

Deno.test("an environment without providers prints what to do", async () => {
  const { loaded } = await environmentConfig(BLANK);
  assert(!loaded.ok);
  assertEquals(loaded.problems.length, 1);
  for (const word of ["--config", "OPENAI_API_KEY", "OLLAMA_HOST", "switchyard demo"]) {
    assertStringIncludes(loaded.problems.join(""), word);
  }
});

Deno.test("OLLAMA_HOST may be a host, a host with a port or a URL", () => {
  const cases: readonly (readonly [written: string, url: string])[] = [
    ["box", "http://box:11434"],
    [" box:8000 ", "http://box:8000"],
    ["box:80", "http://box"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:9", "http://127.0.0.1:9"],
    [":9", "http://127.0.0.1:9"],
    ["::1", "http://[::1]:11434"],
    ["[::]:9", "http://[::1]:9"],
    ["http://box", "http://box"],
    ["https://box/ollama/", "https://box/ollama"],
    ["http://0.0.0.0:9", "http://127.0.0.1:9"],
    ['"box:8000"', "http://box:8000"],
  ];
  for (const [written, url] of cases) assertEquals(ollamaUrl(written), url);
});

Deno.test("an OLLAMA_HOST that is no address is reported without its value", async () => {
  const { loaded } = await environmentConfig({ ...BLANK, OLLAMA_HOST: "a b c" });
  assert(!loaded.ok);
  assertStringIncludes(loaded.problems.join(""), "providers.ollama.base_url");
  assert(!loaded.problems.join("").includes("a b c"));
});
