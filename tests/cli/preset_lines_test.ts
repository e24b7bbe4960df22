import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { configFile, ran } from "./test_terminal.ts";

const FILE = `
providers:
  claude: {type: messages, base_url: "http://claude", api_key: k}
  up: {type: compat, base_url: "http://up", api_key: k}
models:
  coder:
    targets: [{provider: claude, model: opus}, {provider: up, model: big}]
    parameters: {effort: high, temperature: 0.5}
    max_output: 100
    system: Secret words.
    response_model: requested
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;

Deno.test("check shows a named model before the routes, what it adds, and which target cannot carry it", async () => {
  using file = await configFile(FILE);
  const { code, out } = await ran(["check", "--config", file.path]);
  assertEquals(code, 0, out);
  assertStringIncludes(out, "Route model:coder: any path, model coder\n");
  assertStringIncludes(
    out,
    '  where the request has none: effort "high", temperature 0.5; at most 100 tokens; instructions; ' +
      "responses name the requested model",
  );
  assertStringIncludes(out, "models.coder: claude/opus is skipped: ");
  assertStringIncludes(out, "providers.claude.capabilities.reasoning_effort");
  assertEquals(out.indexOf("Route model:coder") < out.indexOf("Route main"), true);
  assertEquals(out.includes("Secret words"), false);
});

Deno.test("check fails if no target of a named model can carry its parameters", async () => {
  using file = await configFile(FILE.replace(", {provider: up, model: big}", ""));
  const { code, err } = await ran(["check", "--config", file.path]);
  assertEquals(code, 1);
  assertStringIncludes(err, "models.coder: claude/opus is skipped: ");
});

Deno.test("explain shows which named model serves a name, and why a target does not", async () => {
  using file = await configFile(FILE);
  const { code, out } = await ran(["explain", "--config", file.path, "--model", "coder"]);
  assertEquals(code, 0, out);
  assertStringIncludes(out, "Route model:coder: serves the request");
  assertStringIncludes(out, "-      claude/opus skipped: ");
  assertStringIncludes(out, "100%   up/big");
  assertStringIncludes(out, "Route main: skipped, route model:coder comes first");
  const other = await ran(["explain", "--config", file.path, "--model", "up/coder"]);
  assertStringIncludes(other.out, "Route model:coder: skipped, the model is not the named one");
});

Deno.test("check says what Codex sends for a named model with a name that it knows", async () => {
  for (const [name, isOwn] of [["gpt-5.6-sol", true], ["coder", false]] as const) {
    using file = await configFile(FILE.replace("coder", name));
    const { out } = await ran(["check", "--config", file.path]);
    assertEquals([name, out.includes("  for Codex, which sends")], [name, isOwn]);
  }
});
