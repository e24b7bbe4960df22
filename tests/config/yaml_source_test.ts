import { parseConfig } from "../../src/config/load.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import {
  configOf,
  problemsOf,
  routingOver,
  warningsOf,
  withProvider,
  withSection,
} from "./parse.ts";

Deno.test("a text that is not YAML is reported with line and column", () => {
  const cases: Record<string, string> = {
    "a: 'b": "is not valid YAML: a quote, bracket, comma or colon is missing (line 1, column 6)",
    "a:\n\t- b: c\n": "is not valid YAML: a tab is used as indentation (line 2, column 1)",
    "a: @b":
      "is not valid YAML: text that begins with this character must be quoted (line 1, column 4)",
    "a: b: c":
      "is not valid YAML: a key must be a single short line that ends with a colon (line 1, column 4)",
    'a: "\\z"':
      'is not valid YAML: a \\ within "…" does not begin a valid escape (line 1, column 5)',
    "a: !secret b":
      "contains a tag; tags are not supported, and text that begins with ! must be quoted (line 1, column 4)",
    "a: 1\n---\nb: 2": "contains more than one YAML document (line 2, column 1)",
  };
  for (const [text, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(text), [`config: ${problem}`], text);
  }
});

Deno.test("the problem of an empty file names the required keys", () => {
  const problem = "config: is empty; it needs providers and routing.routes (line 1, column 1)";
  for (const text of ["", "\n", "# nothing yet\n", "---\n", "null"]) {
    assertEquals(
      problemsOf(text).map((line) => line.replace(/line \d+, column \d+/, "line 1, column 1")),
      [problem],
      text,
    );
  }
});

Deno.test("a top level that is no mapping is refused", () => {
  for (const text of ["- a", "text", "3", "true"]) {
    const problem = "config: must be a mapping with providers and routing (line 1, column 1)";
    assertEquals(problemsOf(text), [problem], text);
  }
});

Deno.test("a repeated key is refused at its second position", () => {
  assertEquals(problemsOf(withProvider("openai", "timeout: 1s", "timeout: 2s")), [
    "providers.openai.timeout: is set twice (line 4, column 5)",
  ]);
  const providers = `providers:\n  openai: {}\n  "openai": {}\n${routingOver("openai")}`;
  assertEquals(problemsOf(providers), ["providers.openai: is set twice (line 3, column 3)"]);
});

Deno.test("JSON is read, tabs and all", () => {
  const value = {
    server: { port: 1 },
    providers: { openai: { api_key: 'a\u2028"b'.slice(0, 1), headers: { "x-a": "\t/" } } },
    routing: { routes: [{ name: "ü", targets: [{ provider: "openai" }] }] },
  };
  for (const indent of [undefined, 2, "\t"]) {
    const config = configOf(JSON.stringify(value, null, indent));
    assertEquals(config.server.port, 1);
    assertEquals(config.providers["openai"]?.headers, { "x-a": "\t/" });
    assertEquals(config.routing.routes[0]?.name, "ü");
  }
});

Deno.test("a byte order mark and Windows line ends are accepted", () => {
  const text = `\ufeff${withSection("server:", "  port: 1")}`.replaceAll("\n", "\r\n");
  assertEquals(configOf(text).server.port, 1);
});

Deno.test("anchors, aliases and merges share settings", () => {
  const { providers } = configOf(`providers:
  openai: &common
    timeout: 1m
    headers: &headers {X-A: b}
  mine:
    <<: *common
    type: compat
    base_url: http://a
    timeout: 2m
  third:
    <<: [{type: local, base_url: http://b}, *common]
    headers: *headers
${routingOver("openai")}`);
  assertEquals(providers["mine"]?.timeout, 120_000);
  assertEquals(providers["mine"]?.headers, { "x-a": "b" });
  assertEquals(providers["third"]?.timeout, 60_000);
  assertEquals(providers["third"]?.headers, { "x-a": "b" });
});

Deno.test("a problem behind an alias is reported at the alias or at the anchored text", () => {
  const text = `providers:
  openai: &common {timeout: &time 5}
  anthropic: *common
  ollama: {timeout: *time}
${routingOver("openai")}`;
  const problem = "must be a duration with a unit, such as 30s";
  assertEquals(problemsOf(text), [
    `providers.openai.timeout: ${problem} (line 2, column 35)`,
    `providers.anthropic.timeout: ${problem} (line 2, column 35)`,
    `providers.ollama.timeout: ${problem} (line 4, column 21)`,
  ]);
});

Deno.test("an alias without its anchor, and a merge of what is no mapping, are refused", () => {
  assertEquals(problemsOf(withProvider("openai", "api_key: *nothing")), [
    "providers.openai.api_key: is an alias of an anchor that is not set before it (line 3, column 14)",
  ]);
  assertEquals(problemsOf(withProvider("openai", "<<: text")), [
    "providers.openai: contains a << whose value is not a mapping (line 3, column 9)",
  ]);
});

Deno.test("top-level keys that begin with x- are ignored without a warning", () => {
  const contents = [
    "text",
    "12345",
    "",
    "[1, {a: b}]",
    '{server: {port: many}, a: "${NOT_SET}", b: "${broken"}',
    "{a: 1, a: 2, __proto__: 3}",
    "{? [a] : b, <<: text, c: *nothing}",
    `${"[".repeat(40)}${"]".repeat(40)}`,
  ];
  for (const content of contents) {
    for (const key of ["x-", "x-anchors", "x-a b", "x-server"]) {
      const loaded = parseConfig(withSection(`${key}: ${content}`), {});
      assertEquals(loaded, parseConfig(withSection(), {}), `${key}: ${content}`);
    }
  }
  assertEquals(problemsOf(withSection("y-anchors: 1", "X-anchors: 1", "xanchors: 1")), [
    "y-anchors: is not a known key (line 1, column 1)",
    "X-anchors: is not a known key (line 2, column 1)",
    "xanchors: is not a known key (line 3, column 1)",
  ]);
  assertEquals(problemsOf(withSection("server: {x-port: 1}")), [
    'server.x-port: is not a known key; did you mean "port"? (line 1, column 10)',
  ]);
});

Deno.test("anchors, aliases and merges work from and between keys that begin with x-", () => {
  const { providers, logging } = configOf(`
x-times: &times {timeout: 1m, stream_idle_timeout: 577h}
x-common: &common
  <<: *times
  headers: &headers {X-A: 12}
x-top:
  x-more: {}
  logging: &logging {level: warn}
<<: {x-merged: 1, logging: *logging}
providers:
  openai: *common
  anthropic: {<<: [{headers: {}}, *common], timeout: 2m}
  ollama:
    headers: *headers
${routingOver("openai")}`);
  const shown = Object.values(providers).map(({ timeout, stream_idle_timeout, headers }) => {
    return [timeout, stream_idle_timeout, headers["x-a"]];
  });
  assertEquals(shown, [
    [60_000, 577 * 3_600_000, "12"],
    [120_000, 577 * 3_600_000, undefined],
    [120_000, 300_000, "12"],
  ]);
  assertEquals(logging.level, "warn");
});

Deno.test("a problem under an x- key is reported at the alias or merge that uses it", () => {
  const text = `x-key: &key "\${NOT_SET}"
x-broken: &broken {api_key: "\${", timeout: 5}
x-both: &both {a: *key, b: *broken}
x-unused: "\${ALSO_NOT_SET}"
providers:
  openai: {api_key: *key}
  anthropic: {<<: *broken}
  ollama: {<<: [{api_key: *key}]}
${routingOver("openai")}`;
  const literal = "holds a ${ without a variable name and }; write $${ for a literal ${";
  assertEquals(problemsOf(text), [
    `providers.anthropic.api_key: ${literal} (line 2, column 29)`,
    "providers.anthropic.timeout: must be a duration with a unit, such as 30s (line 2, column 44)",
  ]);
  const unset =
    "the variable NOT_SET is not set, so it is replaced by empty text (line 1, column 13)";
  assertEquals(warningsOf(text.replace("{<<: *broken}", "{}")), [
    `providers.openai.api_key: ${unset}`,
    `providers.ollama.api_key: ${unset}`,
  ]);
  assertEquals(
    warningsOf(`x-a: &a {b: &b {api_key: "\${NOT_SET}"}}\n${withProvider("openai", "<<: *b")}`),
    [`providers.openai.api_key: ${unset.replace("13", "26")}`],
  );
});

Deno.test("aliases of an ignored key count towards the values that a file may repeat", () => {
  const many = `x-many: &many [${Array(9_000).fill("a").join(", ")}]`;
  const repeating = (times: number) => {
    const models = "models: {mode: static, static: *many}";
    const provider = `{type: local, base_url: "http://127.0.0.1:1", ${models}}`;
    const providers = Array.from({ length: times }, (_, at) => `  p${at}: ${provider}\n`);
    return `${many}\nproviders:\n${providers.join("")}${routingOver("p0")}`;
  };
  assertEquals(configOf(repeating(11)).providers["p10"]?.models.static.length, 9_000);
  assertStringIncludes(problemsOf(repeating(12)).join(), "exceeds the limit of aliases");
});
