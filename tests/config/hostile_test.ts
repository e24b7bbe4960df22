import fc from "fast-check";
import { parseConfig, parseReload } from "../../src/config/load.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { problemsOf, routingOver, warningsOf, withProvider, withSection } from "./parse.ts";

Deno.test("aliases that stand for billions of values are refused", () => {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const items = Array(10).fill(level === 0 ? "x" : `*a${level - 1}`);
    return `a${level}: &a${level} [${items.join(", ")}]\n`;
  });
  const problems = problemsOf(`${levels.join("")}${withSection()}`);
  assertStringIncludes(
    problems.join("\n"),
    "exceeds the limit of aliases: the aliases of this file repeat too many values",
  );
});

Deno.test("an anchor that holds itself is refused", () => {
  assertEquals(problemsOf(withProvider("openai", "headers: &a {X-A: *a}")), [
    "providers.openai.headers.X-A: is an alias of an anchor that is not set before it (line 3, column 23)",
  ]);
});

Deno.test("too deep nesting is refused", () => {
  for (
    const text of ["[".repeat(50_000), "{a: ".repeat(10_000), "[".repeat(100) + "]".repeat(100)]
  ) {
    const problems = problemsOf(text);
    assertEquals(problems.length, 1);
    assertStringIncludes(problems.join(), "config: is nested too deeply");
  }
});

Deno.test("a file larger than 1 MiB is refused without reading it", () => {
  assertEquals(problemsOf(`# ${"x".repeat(1024 * 1024)}`), [
    "config: is larger than 1 MiB (line 1, column 1)",
  ]);
});

Deno.test("a key that would change what objects are is refused", () => {
  const hidden = "is named __proto__, which is not allowed";
  assertEquals(problemsOf(withSection("__proto__: {server: 1}")), [
    `(key): ${hidden} (line 1, column 1)`,
  ]);
  assertEquals(problemsOf(withProvider("openai", "extra: {__proto__: 1}")), [
    `providers.openai.extra.(key): ${hidden} (line 3, column 13)`,
  ]);
  assertEquals(problemsOf(withProvider("constructor", "api_key: k")), [
    "providers.constructor.type: is required: compat, messages or local (known for openai, anthropic and ollama) (line 2, column 3)",
  ]);
  assertEquals(problemsOf(withSection("toString: 1")), [
    "toString: is not a known key (line 1, column 1)",
  ]);
  assertEquals(Object.hasOwn(Object.prototype, "server"), false);
});

Deno.test("numbers outside the safe range are refused", () => {
  for (const port of ["99999999999999999999", "1e309", ".nan", "9007199254740993"]) {
    assertEquals(problemsOf(withSection(`server: {port: ${port}}`)).length, 1, port);
  }
});

Deno.test("keys that are not text are refused", () => {
  assertEquals(problemsOf(withSection("? [a]\n: b")), [
    "config: contains a key that is not plain text (line 1, column 3)",
  ]);
});

const MARKER = "sk-7f3a9c1e5b2d8064";
const SECRETIVE = `server:
  port: 8080
providers:
  openai:
    api_key: ${MARKER}
    base_url: https://user:${MARKER}@api.example.com/v1
    timeout: 30s
    headers: {X-Tenant: "${MARKER}"}
  mine:
    type: local
    base_url: "http://${MARKER}:x@127.0.0.1:1?key=${MARKER}"
    api_key: '${MARKER}'
${routingOver("openai")}`;

interface Change {
  readonly at: number;
  readonly drop: number;
  readonly add: string;
}

/** Asserts that nothing which is said about the file after these changes holds a secret. */
function assertSecret(changes: readonly Change[]): void {
  let text = SECRETIVE;
  for (const { at, drop, add } of changes) {
    text = text.slice(0, at) + add + text.slice(at + drop);
  }
  const loaded = parseConfig(text, {});
  const reloaded = parseReload(text, {});
  const lines = [
    ...loaded.ok ? loaded.warnings : loaded.problems,
    ...reloaded.ok ? [...reloaded.warnings, ...reloaded.leftOut] : [],
    ...reloaded.problems,
  ];
  assert(!lines.join("\n").includes(MARKER), lines.join("\n"));
  assert(loaded.ok || loaded.problems.length > 0);
}

Deno.test("no broken file makes a secret appear", () => {
  const pieces = ["", "\n", " ", ":", ": ", "'", '"', "{", "}", "[", "]", "#", "&", "*", "!", "\t"];
  const more = [
    ...pieces,
    "- ",
    "? ",
    "|",
    ">",
    "${",
    "$",
    "%",
    "@",
    "\\",
    "<<: ",
    "---\n",
    "\u0000",
  ];
  const change = fc.record({
    at: fc.nat(SECRETIVE.length),
    drop: fc.nat(12),
    add: fc.constantFrom(...more),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), assertSecret),
    { numRuns: 200 },
  );
});

Deno.test("a changed line that makes a secret the ID of a provider does not make it appear", () => {
  for (const add of ["? ", " ? ", "  ? ", "{", "  "]) {
    assertSecret([{ at: 312, drop: 10, add }]);
  }
  assertSecret([
    { at: 54, drop: 6, add: " " },
    { at: 307, drop: 10, add: "? " },
    { at: 0, drop: 8, add: "#" },
  ]);
});

Deno.test("a secret in the place of a key, a word or a number is not shown", () => {
  const lines = [
    `${MARKER}: x`,
    `{${MARKER}}`,
    `headers: {${MARKER}}`,
    `type: ${MARKER}`,
    `timeout: ${MARKER}`,
    `temperature: ${MARKER}`,
    `base_url: ${MARKER}`,
    `unknown: ${MARKER}`,
    `api_key: "${MARKER}\\u0000"`,
    `api_key: [${MARKER}]`,
    `api_key: "\${${MARKER}}"`,
  ];
  for (const line of lines) {
    const problems = problemsOf(withProvider("openai", line)).join("\n");
    assert(problems !== "" && !problems.includes(MARKER), `${line}\n${problems}`);
  }
});

Deno.test("a warning about a key without effect holds neither its value nor a secret in its place", () => {
  const lines = [
    `extra: {${MARKER}: 1}`,
    `extra: {a: ${MARKER}}`,
    `compatibility_profile: ${MARKER}`,
    `api_version: ${MARKER}`,
    `models: {static: [${MARKER}]}`,
    `base_url: http://a?key=${MARKER}`,
  ];
  const warnings = warningsOf(withProvider("openai", ...lines.slice(1), "top_k: 1")).join("\n");
  assert(warnings.includes("top_k") && !warnings.includes(MARKER), warnings);
  for (const id of ["openai", "anthropic"]) {
    const [first = ""] = warningsOf(withProvider(id, `extra: {${MARKER}: 1}`));
    assertStringIncludes(first, `providers.${id}.extra.(key): has no effect: `);
  }
});
