import { parseConfig, parseReload } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { problemsOf, routingOver, withProvider, withSection } from "./parse.ts";

const MARKER = "sk-7f3a9c1e5b2d8064";
const EMPTY = "has no value; add a value or remove the key";
const NO_TYPE =
  "type: is required: compat, messages or local (known for openai, anthropic and ollama)";

Deno.test("a secret written as the ID of a provider by mistake is not shown, but its line and column are", () => {
  const cases: Record<string, string> = {
    [`? '${MARKER}'`]: `(key).${NO_TYPE} (line 3, column 5)`,
    [`${MARKER}:`]: `(key).${NO_TYPE} (line 3, column 3)`,
    [`${MARKER}: text`]: `(key): must be a mapping (line 3, column ${MARKER.length + 5})`,
    [`${MARKER}: {timeout: 1s, api_key: k}`]:
      "(key).type: is required: compat, messages or local (known for openai, anthropic and ollama) (line 3, column 3)",
  };
  for (const [line, problem] of Object.entries(cases)) {
    const text = `providers:\n  openai: {}\n  ${line}\n${routingOver("openai")}`;
    assertEquals(problemsOf(text), [`providers.${problem}`], line);
  }
});

Deno.test("a reload that leaves out such a provider does not show it either", () => {
  const text = `providers:\n  openai: {}\n  ? ${MARKER}\n${routingOver("openai")}`;
  const loaded = parseReload(text, {});
  assert(loaded.ok);
  assertEquals(loaded.problems, [`providers.(key).${NO_TYPE} (line 3, column 5)`]);
  assertEquals(loaded.leftOut, ["(key)"]);
});

Deno.test("a provider is named when a route names it, when it is built in, or above a mapping", () => {
  const cases: Record<string, string> = {
    "eu-1.llama_3:": `eu-1.llama_3.${NO_TYPE} (line 2, column 3)`,
    "anthropic: 1": "anthropic: must be a mapping (line 2, column 14)",
    "spare: {type: messages, timeout: 1}":
      "spare.timeout: must be a duration with a unit, such as 30s (line 2, column 36)",
  };
  const named = "        - provider: eu-1.llama_3\n";
  for (const [line, problem] of Object.entries(cases)) {
    const routing = routingOver("openai") + (line.startsWith("eu") ? named : "");
    const text = `providers:\n  ${line}\n  openai: {}\n${routing}`;
    assertEquals(problemsOf(text), [`providers.${problem}`], line);
  }
});

Deno.test("names over 128 characters are cut in messages about the file", () => {
  for (const [length, shown] of [[128, "p".repeat(128)], [129, `${"p".repeat(128)}…`]] as const) {
    const id = "p".repeat(length);
    const named = `        - provider: ${id}\n`;
    const text = `providers:\n  ${id}:\n  openai: {}\n${routingOver("openai")}${named}`;
    assertEquals(problemsOf(text), [`providers.${shown}.${NO_TYPE} (line 2, column 3)`]);
  }
});

Deno.test("a word with nothing below it is shown where it is a known key, and nowhere else", () => {
  assertEquals(problemsOf(withProvider("openai", "timeout:", "? hunter", "headers: {? letters}")), [
    `providers.openai.timeout: ${EMPTY} (line 3, column 13)`,
    "providers.openai.(key): is not a known key (line 4, column 7)",
    `providers.openai.headers.(key): ${EMPTY} (line 5, column 17)`,
  ]);
  assertEquals(
    problemsOf(withSection("severs:", "? logging")),
    ['(key): is not a known key; did you mean "server"? (line 1, column 1)'],
  );
});

const SECRETIVE = `server:
  port: 8080
providers:
  openai:
    api_key: ${MARKER}
    headers: {X-Tenant: "${MARKER}"}
  mine:
    type: local
    base_url: http://127.0.0.1:1
    api_key: '${MARKER}'
${routingOver("openai")}`;

Deno.test("a broken line does not make a key of a secret that is shown", () => {
  const slips: readonly (readonly [line: string, broken: string])[] = [
    ["    api_key: '", "  ?  '"],
    ["    api_key: '", "  '"],
    ["    api_key: ", "    ? "],
    ["  openai:\n    api_key: ", "  ? "],
    ['{X-Tenant: "', '{"'],
    ['{X-Tenant: "', '"'],
  ];
  for (const [line, broken] of slips) {
    const text = SECRETIVE.replace(line, broken);
    assert(text !== SECRETIVE);
    const started = parseConfig(text, {});
    const reloaded = parseReload(text, {});
    const texts = JSON.stringify([started, reloaded.problems, reloaded.ok && reloaded.leftOut]);
    assert(!started.ok && !texts.includes(MARKER), `${broken}\n${texts}`);
  }
});
