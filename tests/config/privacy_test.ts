import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

function problems(...privacy: readonly string[]): readonly string[] {
  return problemsOf(withSection("privacy:", ...privacy.map((line) => `  ${line}`)))
    .map((line) => line.replace(/ \(line .*$/, ""));
}

function rule(settings: string): readonly string[] {
  return problems(`rules: [{name: a, action: mask, ${settings}}]`);
}

Deno.test("there are no rules by default", () => {
  assertEquals<unknown>(configOf(withSection()).privacy, {
    rules: [],
    policies: [],
    max_search_time: 2_000,
  });
});

Deno.test("a rule has one of find, words and pattern, and what belongs to a pattern only with one", () => {
  assertEquals(rule(""), ["privacy.rules[0]: must set find, words or pattern"]);
  assertEquals(rule("find: [email], words: [a]"), [
    "privacy.rules[0].words: must not be set together with find",
  ]);
  assertEquals(rule("find: [email], contains: [a], check: luhn, max_length: 3"), [
    "privacy.rules[0].contains: is only for a rule with pattern",
    "privacy.rules[0].check: is only for a rule with pattern",
    "privacy.rules[0].max_length: is only for a rule with pattern",
  ]);
});

Deno.test("a pattern must be one of RE2 and must not match the empty text", () => {
  for (const pattern of ["'(?=a)b'", "'a('", String.raw`'(a)\1'`]) {
    assertEquals(rule(`pattern: ${pattern}`), [
      "privacy.rules[0].pattern: is no pattern of RE2, which has no lookarounds and back references",
    ]);
  }
  assertEquals(rule("pattern: 'a*'"), [
    "privacy.rules[0].pattern: must not match the empty text",
  ]);
});

Deno.test("bounds of rules are checked", () => {
  assertEquals(rule("pattern: a, max_length: 1025"), [
    "privacy.rules[0].max_length: must be at most 1024",
  ]);
  assertEquals(rule("find: [email], label: A"), [
    "privacy.rules[0].label: must be 2 to 12 letters from a to z",
  ]);
  assertEquals(rule("words: ['--']"), ["privacy.rules[0].words[0]: must have a letter or a digit"]);
  const words = Array.from({ length: 10_001 }, (_, index) => `w${index}`).join(", ");
  assertEquals(rule(`words: [${words}]`), [
    "privacy.rules: must have at most 10000 words together",
  ]);
});

Deno.test("answers cannot be replaced, and a secret has 32 bytes", () => {
  assertEquals(problems("rules: [{name: a, find: [email], action: replace, phase: response}]"), [
    "privacy.rules[0].action: must not be replace with phase response",
  ]);
  assertEquals(problems("secret: short"), ["privacy.secret: must be 32 bytes in base64"]);
});

Deno.test("names are unique, and each named rule and policy exists", () => {
  assertEquals(
    problems(
      "rules: [{name: mail, find: [email], action: mask}, {name: mail, find: [card], action: mask}]",
      "policies: [{name: p, rules: [mial]}, {name: p, rules: [mail]}]",
      "default: q",
    ),
    [
      "privacy.rules[1].name: is already the name of an earlier rule",
      'privacy.policies[0].rules[0]: is not the name of a privacy rule; did you mean "mail"?',
      "privacy.policies[1].name: is already the name of an earlier policy",
      "privacy.default: is not the name of a privacy policy",
    ],
  );
  const security =
    "security: {enabled: true, api_key: {keys: [{name: k, value: v, privacy: x}]}, " +
    "groups: [{name: g, keys: [k], privacy: x}], templates: [{name: t, privacy: x}]}";
  assertEquals(problemsOf(withSection(security)).map((line) => line.replace(/ \(line .*$/, "")), [
    "security.api_key.keys[0].privacy: is not the name of a privacy policy",
    "security.groups[0].privacy: is not the name of a privacy policy",
    "security.templates[0].privacy: is not the name of a privacy policy",
  ]);
});

const RULE = "{name: a, find: [email], action: replace}";

Deno.test("rules in no policy, policies that nothing selects, and tokens that differ are warnings", () => {
  assertEquals(
    warningsOf(withSection(`privacy: {rules: [${RULE}], policies: []}`)).map(String)
      .map((line) => line.replace(/ \(line .*$/, "")),
    ["privacy.rules[0].name: has no effect: no policy has this rule"],
  );
  assertEquals(
    warningsOf(
      withSection(
        "server: {workers: 2}",
        "state: {store: none}",
        `privacy: {rules: [${RULE}], policies: [{name: p, rules: [a]}]}`,
      ),
    ).map((line) => line.replace(/ \(line .*$/, "")).filter((line) => line.startsWith("privacy")),
    [
      "privacy.rules: replace values, and without privacy.secret and state.encryption_keys each process makes other tokens",
      "privacy.policies[0].name: has no effect: neither privacy.default nor record.policy nor a key, template or group selects this policy",
    ],
  );
});
