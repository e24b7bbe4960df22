import { expand } from "../../src/config/expand.ts";
import { assertEquals } from "../support/assert.ts";
import {
  configOf,
  problemsOf,
  routingOver,
  warningsOf,
  withProvider,
  withSection,
} from "./parse.ts";

const VARIABLES = { A: "one", EMPTY: "", NESTED: "${A}", DOLLAR: "$&$1" };

Deno.test("variables, defaults and escapes are replaced once, from left to right", () => {
  const expected: Record<string, string> = {
    "${A}": "one",
    "x${A}y${A}z": "xoneyonez",
    "${A:-two}": "one",
    "${B:-two}": "two",
    "${B:-}": "",
    "${EMPTY}": "",
    "${EMPTY:-two}": "two",
    "${B:-a:-b $ c}": "a:-b $ c",
    "${NESTED}": "${A}",
    "${DOLLAR}": "$&$1",
    "$A": "$A",
    "$": "$",
    "a$": "a$",
    "$$": "$$",
    "$${A}": "${A}",
    "$$${A}": "$${A}",
    "$${": "${",
    "{A}": "{A}",
  };
  for (const [text, result] of Object.entries(expected)) {
    assertEquals(expand(text, VARIABLES), { text: result, missing: [], problem: null }, text);
  }
});

Deno.test("a variable without value and default is empty and is named once", () => {
  const expanded = expand("${B}${C}${B}", VARIABLES);
  assertEquals(expanded, { text: "", missing: ["B", "C"], problem: null });
});

Deno.test("a name that every object has is no variable", () => {
  assertEquals(expand("${constructor}", {}).missing, ["constructor"]);
});

Deno.test("a ${ that names no variable is a problem that does not show the text", () => {
  for (const text of ["${", "${A", "${}", "${1}", "${a-b}", "${A-two}", "${ A }"]) {
    assertEquals(
      expand(text, VARIABLES).problem,
      "holds a ${ without a variable name and }; write $${ for a literal ${",
      text,
    );
  }
  assertEquals(
    expand("${B:-${A}}", VARIABLES).problem,
    "holds a default with another ${ inside, which is not expanded",
  );
});

Deno.test("a variable may give a number or a boolean, quoted or not", () => {
  const variables = { PORT: "9001", ON: "True", RATE: " 1.5 " };
  const config = configOf(
    withSection(
      "server:",
      "  port: ${PORT}",
      "retry:",
      '  enabled: "${ON}"',
      "  multiplier: ${RATE}",
      "circuit_breaker: { enabled: '${OFF:-false}', failure_threshold: \"7\" }",
    ),
    variables,
  );
  assertEquals(config.server.port, 9001);
  assertEquals(config.retry.enabled, true);
  assertEquals(config.retry.multiplier, 1.5);
  assertEquals(config.circuit_breaker.enabled, false);
  assertEquals(config.circuit_breaker.failure_threshold, 7);
});

Deno.test("a key that looks like a number stays the text it is", () => {
  for (const key of ["0123", "1e5", "true", "null", "~"]) {
    const config = configOf(withProvider("openai", "api_key: ${KEY}"), { KEY: key });
    assertEquals(config.providers["openai"]?.api_keys[0]?.value, key);
  }
});

Deno.test("keys are never expanded", () => {
  const text = `providers:\n  openai: {}\n  "\${A}": {}\n${routingOver("openai")}`;
  assertEquals(problemsOf(text, { A: "other" }), [
    "providers.(key): must be an ID of letters, digits, dots, underscores and hyphens that begins with a letter or digit (line 3, column 3)",
  ]);
});

Deno.test("a variable that is not set is a warning with its key and its place", () => {
  assertEquals(warningsOf(withProvider("openai", "api_key: ${OPENAI_API_KEY}")), [
    "providers.openai.api_key: the variable OPENAI_API_KEY is not set, so it is replaced by empty text (line 3, column 14)",
  ]);
  const config = configOf(withProvider("openai", "api_key: ${OPENAI_API_KEY}"));
  assertEquals(config.providers["openai"]?.api_keys, []);
});

Deno.test("a variable that is not set is named next to the problem it makes", () => {
  assertEquals(problemsOf(withSection("server:", "  port: ${PORT}")), [
    "server.port: must be a number (line 2, column 9)",
    "server.port: the variable PORT is not set, so it is replaced by empty text (line 2, column 9)",
  ]);
});

Deno.test("a variable in a flow mapping without quotes is explained", () => {
  assertEquals(problemsOf("providers:\n  openai: {api_key: ${KEY}}\n"), [
    "config: contains a ${…} that must be quoted here (line 2, column 22)",
  ]);
});
