import { assertEquals, assertMatch } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

const KEY = "A".repeat(43);
const STATE = `state: {encryption_keys: ["${KEY}"]}`;

Deno.test("nothing is recorded by default, and a file of records has a week and a gibibyte", () => {
  assertEquals(configOf(withSection()).record, {
    enabled: false,
    path: "record.db",
    calls: "none",
    keep: 7 * 24 * 3_600_000,
    max_bytes: 1024 ** 3,
    policy: "credentials",
  });
});

Deno.test("recording without an encryption key, with workers or into the state store is a problem", () => {
  const [line = ""] = problemsOf(withSection("record: {enabled: true}"));
  assertMatch(line, /^record\.enabled: requires state\.encryption_keys, .*openssl rand -base64 32/);
  assertEquals(problemsOf(withSection("record: {enabled: true}", STATE)), []);
  const workers = problemsOf(withSection(
    "record: {enabled: true}",
    "server: {workers: auto}",
    `state: {store: none, encryption_keys: ["${KEY}"]}`,
  ));
  assertMatch(workers.join("\n"), /^record\.enabled: requires server\.workers to be 1/);
  const state = (path: string) =>
    withSection(
      `record: {enabled: true, path: "./switchyard.db"}`,
      `state: {store: sqlite, encryption_keys: ["${KEY}"]${path}}`,
    );
  assertMatch(
    problemsOf(state("")).join(),
    /^record\.path: must not be the file of the state store/,
  );
  assertEquals(problemsOf(state(", sqlite: {path: other.db}")), []);
});

Deno.test("wrong words, a short time and a small file are problems", () => {
  for (
    const [settings, place] of [
      ["calls: never", "calls"],
      ["keep: 59m", "keep"],
      ["max_bytes: 1000", "max_bytes"],
      ["policy: mine", "policy"],
      ["sample: 0.5", "sample"],
    ]
  ) {
    const problems = problemsOf(withSection(`record: {${settings}}`));
    assertEquals(problems.length, 1, settings);
    assertMatch(problems.join(), new RegExp(`^record\\.${place}: `));
  }
  const key = "security: {enabled: true, api_key: {keys: [{name: a, value: k, record: some}]}}";
  assertMatch(problemsOf(withSection(key)).join(), /^security\.api_key\.keys\[0\]\.record: /);
});

Deno.test("the policy of records is a built-in one or the name of one of privacy, which then has an effect", () => {
  const privacy = "privacy: {rules: [{name: mail, find: [email], action: mask}], " +
    "policies: [{name: mine, rules: [mail]}]}";
  const text = withSection("record: {enabled: true, policy: mine}", STATE, privacy);
  assertEquals([problemsOf(text), warningsOf(text)], [[], []]);
  assertMatch(
    problemsOf(withSection("record: {policy: other}", privacy)).join(),
    /^record\.policy: .*credentials, none or the name of a privacy policy/,
  );
});

Deno.test("a choice that is likely a mistake is a warning", () => {
  const warnings = (...lines: readonly string[]) =>
    warningsOf(withSection(...lines)).map((line) => line.replace(/ \(line.*/, ""));
  assertEquals(warnings(STATE, "record: {enabled: true}"), []);
  assertEquals(
    warnings(
      STATE,
      "record: {enabled: true, calls: all, policy: none, keep: 721h}",
      "admin: {enabled: true}",
    ),
    [
      "record.enabled: is true without admin.password, so that the admin page shows no record",
      "record.calls: records the content of the calls of every client",
      "record.policy: writes credentials that clients send in their prompts",
      "record.keep: is longer than 30 days",
    ],
  );
  assertEquals(
    warnings(
      "record: {calls: heads}",
      "security: {enabled: true, api_key: {keys: [{name: a, value: k, record: all}]}, " +
        "groups: [{name: g, keys: [a], record: never}]}",
    ),
    [
      "record.calls: has no effect while record.enabled is false",
      "security.api_key.keys[0].record: has no effect while record.enabled is false",
    ],
  );
});
