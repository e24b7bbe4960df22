import { checkTree } from "../../src/config/check.ts";
import { NOTHING_OUTSIDE } from "../../src/config/tls_rules.ts";
import { clientKeyWarnings } from "../../src/config/client_key_warnings.ts";
import { parseReload } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

const DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** A `security` section with these keys and more members. */
function keys(list: string, more = ""): string {
  return `security: {enabled: true, api_key: {keys: [${list}]}${more}}`;
}

/** The first problem of a file with this line, without its place. */
function problemOf(...lines: readonly string[]): string {
  const problems = problemsOf(withSection(...lines));
  assertEquals(problems.length, 1, problems.join("\n"));
  return problems[0]?.replace(/ \(line .*$/, "") ?? "";
}

function warnings(...lines: readonly string[]): readonly string[] {
  return warningsOf(withSection(...lines)).map((line) => line.replace(/ \(line .*$/, ""));
}

const KEY = "security.api_key.keys[0]";

Deno.test("a key without further settings may use everything and has no limit", () => {
  const { api_key, groups, time_zone } =
    configOf(withSection(keys("{name: a, value: s}"))).security;
  assertEquals<unknown>(api_key.keys, [
    {
      name: "a",
      value: "s",
      previous: [],
      budgets: [],
      disabled: false,
      labels: {},
    },
  ]);
  assertEquals<unknown>([groups, time_zone], [[], "UTC"]);
});

Deno.test("all settings of keys and groups are read", () => {
  const { security, observability } = configOf(withSection(
    `
security:
  enabled: true
  time_zone: Europe/Berlin
  api_key:
    keys:
      - name: a
        sha256: ${DIGEST}
        requests_per_minute: 600
        tokens_per_minute: 200000
        max_concurrent: 20
        models: ["openai/gpt-4o*", "claude-*"]
        providers: [openai]
        endpoints: [chat_completions, models]
        budgets: [{per: day, usd: 20}, {per: month, usd: 0.5, tokens: 50000000}]
        expires: 2027-06-30
        disabled: true
        adopt_unknown: true
        labels: {team: blue, cost_centre: 7}
  groups:
    - {name: g, keys: [a], budgets: [{per: week, tokens: 5}], tokens_per_minute: 9}
observability: {key_labels: [team]}`,
  ));
  assertEquals<unknown>(security.api_key.keys, [{
    name: "a",
    sha256: DIGEST,
    previous: [],
    requests_per_minute: 600,
    tokens_per_minute: 200_000,
    max_concurrent: 20,
    models: ["openai/gpt-4o*", "claude-*"],
    providers: ["openai"],
    endpoints: ["chat_completions", "models"],
    budgets: [{ per: "day", usd: 20 }, { per: "month", usd: 0.5, tokens: 50_000_000 }],
    expires: "2027-06-30",
    disabled: true,
    adopt_unknown: true,
    labels: { team: "blue", cost_centre: "7" },
  }]);
  assertEquals<unknown>(security.groups, [
    {
      name: "g",
      keys: ["a"],
      templates: [],
      budgets: [{ per: "week", tokens: 5 }],
      tokens_per_minute: 9,
    },
  ]);
  assertEquals(observability.key_labels, ["team"]);
});

Deno.test("a wrong setting of a key is a problem at its path", () => {
  const cases: Readonly<Record<string, string>> = {
    [`value: s, sha256: ${DIGEST}`]: "sha256: must not be set together with value",
    "value: s, models: []": "models: must not be empty",
    "value: s, providers: [openia]":
      'providers[0]: is not a configured provider; did you mean "openai"?',
    "value: s, endpoints: [chat]":
      "endpoints[0]: must be chat_completions, responses, conversations, embeddings, models, messages, completions, moderations, images, audio, files, batches or rerank",
    "value: s, budgets: [{per: year, usd: 1}]": "budgets[0].per: must be hour, day, week or month",
    "value: s, budgets: [{per: day}]": "budgets[0]: must set usd, tokens or both",
    "value: s, budgets: [{per: day, usd: 0}]": "budgets[0].usd: must be at least 0.000001",
    "value: s, budgets: [{per: day, tokens: 0}]": "budgets[0].tokens: must be at least 1",
    "value: s, budgets: [{per: day, usd: 1}, {per: day, tokens: 1}]":
      "budgets[1].per: is already the period of an earlier budget",
    "value: s, tokens_per_minute: 0": "tokens_per_minute: must be at least 1",
    "value: s, max_concurrent: 0": "max_concurrent: must be at least 1",
    "value: s, expires: 2027-02-29": "expires: must be a date such as 2027-06-30",
    "value: s, expires: soon": "expires: must be a date such as 2027-06-30",
    "value: s, labels: {9a: x}":
      "labels.(key): must be 1 to 50 letters, digits and underscores, and begin with a letter",
    "value: s, labels: {a: ''}": "labels.a: must not be blank",
    [`value: s, labels: {a: ${"x".repeat(101)}}`]: "labels.a: must have at most 100 characters",
  };
  for (const [written, problem] of Object.entries(cases)) {
    assertEquals(problemOf(keys(`{name: a, ${written}}`)), `${KEY}.${problem}`);
  }
});

Deno.test("a digest that is not one is a problem that does not show it", () => {
  const secret = "sk-7f3a9c1e5b2d8064";
  const problem = problemOf(keys(`{name: a, sha256: ${secret}}`));
  assertEquals(problem, `${KEY}.sha256: must be 64 hexadecimal digits`);
  assert(!problem.includes(secret));
});

Deno.test("a group must have its own name, known keys and complete budgets", () => {
  const group = (list: string) => problemOf(keys("{name: ada, value: s}", `, groups: [${list}]`));
  assertEquals(
    group("{name: g, keys: [adda]}"),
    'security.groups[0].keys[0]: is not the name of a client key; did you mean "ada"?',
  );
  assertEquals(
    group("{name: g, keys: [ada]}, {name: g, keys: [ada]}"),
    "security.groups[1].name: is already the name of an earlier group",
  );
  assertEquals(
    group("{name: g, keys: [ada], budgets: [{per: day, usd: 1}, {per: day, usd: 2}]}"),
    "security.groups[0].budgets[1].per: is already the period of an earlier budget",
  );
  assertEquals(
    group("{name: g, keys: []}"),
    "security.groups[0].keys: must have a key, or templates one template",
  );
});

Deno.test("the time zone must be known, and the labels of logs are bounded and listed once", () => {
  assertEquals(
    problemOf("security: {time_zone: Mars}"),
    "security.time_zone: must be the name of a time zone such as UTC or Europe/Berlin",
  );
  assertEquals(
    problemOf("observability: {key_labels: [a, b, a]}"),
    "observability.key_labels[2]: is listed twice",
  );
  assertEquals(
    problemOf("observability: {key_labels: [a, b, c, d, e, f, g, h, i]}"),
    "observability.key_labels: must have at most 8 items",
  );
});

Deno.test("a route that matches an unknown key is a problem", () => {
  const problems = problemsOf(`providers: {openai: {}}
${keys("{name: ada, value: s}")}
routing: {routes: [{name: r, match: {key: [bob]}, targets: [{provider: openai}]}]}
`);
  assertEquals(problems.map((line) => line.replace(/ \(line .*$/, "")), [
    "routing.routes[0].match.key[0]: is not the name of a client key",
  ]);
});

Deno.test("a budget without max_concurrent is a warning that says it has no bound", () => {
  const text = "can be exceeded without limit, because running requests are never ended: set " +
    "max_concurrent";
  const budgets = "budgets: [{per: day, tokens: 5}]";
  assertEquals(warnings(keys(`{name: a, value: s, ${budgets}}`)), [`${KEY}.budgets: ${text}`]);
  assertEquals(warnings(keys(`{name: a, value: s, ${budgets}, max_concurrent: 5}`)), []);
  const grouped = `, groups: [{name: g, keys: [a, b], ${budgets}}]`;
  const list = "{name: a, value: s}, {name: b, value: t, max_concurrent: 1}";
  assertEquals(warnings(keys(list, grouped)), [`security.groups[0].budgets: ${text} of a`]);
});

Deno.test("an expired key, a group without limits and a label that nothing uses are warnings", () => {
  const expired = configOf(withSection(keys("{name: a, value: s, expires: 2026-05-01}")));
  const before = Date.UTC(2026, 3, 30, 23, 59), on = Date.UTC(2026, 4, 1);
  assertEquals(clientKeyWarnings(expired, before), []);
  assertEquals(clientKeyWarnings(expired, on).map(({ text }) => text), [
    "has begun, so the key is refused",
  ]);
  assertEquals(warnings(keys("{name: a, value: s}", ", groups: [{name: g, keys: [a]}]")), [
    "security.groups[0]: has no effect without budgets, tokens_per_minute, privacy and record",
  ]);
  const policy =
    "privacy: {rules: [{name: w, find: [email], action: mask}], policies: [{name: strict, rules: [w]}]}";
  const groups = ", groups: [{name: g, keys: [a], privacy: strict}]";
  assertEquals(warnings(keys("{name: a, value: s}", groups), policy), []);
  assertEquals(
    warnings(keys("{name: a, value: s, labels: {team: x}}"), "observability: {key_labels: [tem]}"),
    [
      `${KEY}.labels.team: is used neither in match.labels of a route nor in observability.key_labels`,
      "observability.key_labels[0]: is a label that no client key has",
    ],
  );
});

Deno.test("a digest of an earlier value is a warning, because the later key is never found", () => {
  assertEquals(
    warnings(keys(`{name: a, value: test}, {name: b, sha256: ${DIGEST.toUpperCase()}}`)),
    [
      "security.api_key.keys[1].sha256: is already the value of an earlier key: " +
      "the settings of that key apply",
    ],
  );
});

Deno.test("a route whose keys and labels no client can have is a warning", () => {
  const file = (security: string, match: string) =>
    warningsOf(`providers: {openai: {api_key: k}}
${security}
routing: {routes: [{name: r, match: {${match}}, targets: [{provider: openai}]}]}
`).map((line) => line.replace(/ \(line .*$/, ""));
  const list = keys("{name: ada, value: s, labels: {team: x}}, {name: bob, value: t}");
  const place = "routing.routes[0].match:";
  assertEquals(file(list, "key: [ada], labels: {team: x}"), []);
  assertEquals(file(list, "key: [bob], labels: {team: x}"), [
    `${place} never matches, because no client key has these labels`,
  ]);
  assertEquals(
    file("security: {api_key: {keys: [{name: ada, value: s}]}}", "key: [ada]"),
    [`${place} never matches, because no client keys are required`],
  );
});

Deno.test("a route for certain keys or labels does not hide the routes after it", () => {
  for (const match of ["key: [ada]", "labels: {team: x}"]) {
    assertEquals(
      warningsOf(`providers: {openai: {api_key: k}}
${keys("{name: ada, value: s, labels: {team: x}}", "}\nobservability: {key_labels: [team]")}
routing:
  routes:
    - {name: r, match: {${match}}, targets: [{provider: openai}]}
    - {name: s, targets: [{provider: openai}]}
`),
      [],
    );
  }
});

Deno.test("a reload without a broken provider keeps the keys that name it", () => {
  const loaded = parseReload(
    `providers: {openai: {}, other: {timeout: never}}
${keys("{name: a, value: s, providers: [other]}")}
routing: {routes: [{name: r, targets: [{provider: openai}, {provider: other}]}]}
`,
    {},
  );
  assert(loaded.ok, JSON.stringify(loaded));
  assertEquals(loaded.config.security.api_key.keys[0]?.providers, ["other"]);
});

Deno.test("a check without a clock finds nothing expired", () => {
  const checked = checkTree({
    providers: { openai: {} },
    routing: {
      routes: [{ name: "r", targets: [{ provider: "openai" }] }],
    },
  }, []);
  assert(checked.ok);
  assertEquals(clientKeyWarnings(checked.config, NOTHING_OUTSIDE.wallMs), []);
});
