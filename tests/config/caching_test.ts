import { tokenSecurity } from "../support/token_issuer.ts";
import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

const DEFAULT = {
  enabled: false,
  ttl: 3_600_000,
  max_size: 1000,
  max_entry_bytes: 16_777_216,
  max_bytes: 67_108_864,
  per_key: false,
  shared: false,
};

Deno.test("the cache is off by default and has default limits", () => {
  assertEquals(configOf(withSection()).caching, DEFAULT);
  assertEquals(configOf(withSection("caching: {enabled: true, ttl: 90s, per_key: true}")).caching, {
    ...DEFAULT,
    enabled: true,
    ttl: 90_000,
    per_key: true,
  });
});

Deno.test("the settings of the cache may come from variables", () => {
  const line = "caching: {enabled: '${ON}', max_bytes: '${ALL}', max_entry_bytes: '${ONE}'}";
  const { caching } = configOf(withSection(line), { ON: "true", ALL: "200", ONE: "200" });
  assertEquals(caching, { ...DEFAULT, enabled: true, max_bytes: 200, max_entry_bytes: 200 });
});

Deno.test("a shared cache is a problem while state.store is none", () => {
  const text = "caching.shared: requires a state store, and state.store is none; " +
    "set it to sqlite or valkey (line 2, column 19)";
  const problemsWith = (store: string, shared: string) =>
    problemsOf(withSection(`state: {store: ${store}}`, `caching: {shared: ${shared}}`));
  assertEquals(problemsWith("none", "true"), [text]);
  assertEquals(problemsWith("none", '"true"'), [text]);
  assertEquals(problemsWith("none", "false"), []);
  assertEquals(problemsWith("memory", "true"), []);
});

Deno.test("problems in caching are reported with line and column", () => {
  const cases: Record<string, string> = {
    "caching: {enabled: perhaps}": "enabled: must be true or false (line 1, column 20)",
    "caching: {per_key: perhaps}": "per_key: must be true or false (line 1, column 20)",
    "caching: {ttl: 60}": "ttl: must be a duration with a unit, such as 30s (line 1, column 16)",
    "caching: {ttl: 0s}": "ttl: must be longer than 0s (line 1, column 16)",
    "caching: {max_size: -1}": "max_size: must be at least 0 (line 1, column 21)",
    "caching: {max_bytes: 1.5}": "max_bytes: must be a whole number (line 1, column 22)",
    "caching: {max_entry_bytes: 0}": "max_entry_bytes: must be at least 1 (line 1, column 28)",
    "caching: {maxsize: 1}":
      'maxsize: is not a known key; did you mean "max_size"? (line 1, column 11)',
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withSection(line)), [`caching.${problem}`], line);
  }
});

Deno.test("max_entry_bytes above max_bytes is refused", () => {
  const cases: Record<string, string> = {
    "caching: {max_entry_bytes: 11, max_bytes: 10}":
      "max_entry_bytes: must be at most max_bytes (line 1, column 28)",
    "caching: {max_entry_bytes: 67108865}":
      "max_entry_bytes: must be at most max_bytes, whose default is 67108864 (line 1, column 28)",
    "caching: {max_entry_bytes: 16777216, max_bytes: 16777215}":
      "max_entry_bytes: must be at most max_bytes (line 1, column 28)",
    "caching: {max_entry_bytes: '${SIZE}', max_bytes: 10}":
      "max_entry_bytes: must be at most max_bytes (line 1, column 28)",
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withSection(line), { SIZE: "11" }), [`caching.${problem}`], line);
  }
  assertEquals(problemsOf(withSection("caching: {max_entry_bytes: 10, max_bytes: 10}")), []);
});

Deno.test("max_bytes below the default of max_entry_bytes caps it", () => {
  for (const [line, most] of [["max_bytes: 16777215", 16_777_215], ["max_bytes: 1", 1]] as const) {
    const { caching } = configOf(withSection(`caching: {${line}}`));
    assertEquals(caching, { ...DEFAULT, max_entry_bytes: most, max_bytes: most });
  }
  assertEquals(
    configOf(withSection("caching: {max_bytes: 16777217}")).caching.max_entry_bytes,
    16_777_216,
  );
});

Deno.test("max_size 0 is allowed", () => {
  assertEquals(configOf(withSection("caching: {enabled: true, max_size: 0}")).caching, {
    ...DEFAULT,
    enabled: true,
    max_size: 0,
  });
});

Deno.test("caching.per_key without client keys is a warning", () => {
  const text = "has no effect while no client keys are required (see security.enabled)";
  const line = "caching: {enabled: true, per_key: true}";
  assertEquals(warningsOf(withSection(line)), [`caching.per_key: ${text} (line 1, column 35)`]);
  const keys = "security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}";
  assertEquals(warningsOf(withSection(line, keys)), []);
  assertEquals(warningsOf(withSection(line, tokenSecurity())), []);
  assertEquals(warningsOf(withSection("caching: {per_key: false}")), []);
});
