import { checkTree } from "../../src/config/check.ts";
import { clientKeyWarnings } from "../../src/config/client_key_warnings.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { tokenSecurity } from "../support/token_issuer.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

function problems(security: string): readonly string[] {
  return problemsOf(withSection(`security: ${security}`))
    .map((line) => line.replace(/ \(line .*$/, ""));
}

Deno.test("a client key has what its template sets, except for what it sets itself", () => {
  const { keys } = configOf(withSection(`
security:
  enabled: true
  api_key:
    keys:
      - {name: a, value: s, template: dev}
      - name: b
        value: t
        template: dev
        models: [m]
        requests_per_minute: 1
        budgets: [{per: day, usd: 1}]
        adopt_unknown: false
        labels: {team: red}
      - {name: c, value: u}
  templates:
    - name: dev
      models: ["gpt-*"]
      providers: [openai]
      requests_per_minute: 60
      max_concurrent: 5
      budgets: [{per: month, tokens: 9}]
      adopt_unknown: true
      labels: {team: blue, tier: silver}`)).security.api_key;
  const [a, b, c] = keys;
  assertEquals<unknown>(a, {
    name: "a",
    value: "s",
    template: "dev",
    previous: [],
    models: ["gpt-*"],
    providers: ["openai"],
    requests_per_minute: 60,
    max_concurrent: 5,
    budgets: [{ per: "month", tokens: 9 }],
    disabled: false,
    adopt_unknown: true,
    labels: { team: "blue", tier: "silver" },
  });
  assertEquals<unknown>(
    [b?.models, b?.requests_per_minute, b?.max_concurrent, b?.budgets, b?.labels],
    [["m"], 1, 5, [{ per: "day", usd: 1 }], { team: "red", tier: "silver" }],
  );
  assertEquals([b?.adopt_unknown, c?.models, c?.adopt_unknown], [false, undefined, undefined]);
});

Deno.test("templates have unique names and known providers, and only known ones are named", () => {
  assertEquals(problems("{templates: [{name: t}, {name: t, providers: [none]}]}"), [
    "security.templates[1].name: is already the name of an earlier template",
    "security.templates[1].providers[0]: is not a configured provider",
  ]);
  assertEquals(
    problems(
      "{api_key: {keys: [{name: a, value: s, template: ops}]}, templates: [{name: developer}]," +
        " groups: [{name: g, templates: [sre], budgets: []}]}",
    ),
    [
      "security.api_key.keys[0].template: is not the name of a template",
      "security.groups[0].templates[0]: is not the name of a template",
    ],
  );
  assertEquals(problems("{templates: [{name: t, budgets: [{per: day}]}]}"), [
    "security.templates[0].budgets[0]: must set usd, tokens or both",
  ]);
});

Deno.test("a group has keys, templates or both", () => {
  assertEquals(problems("{groups: [{name: g}]}"), [
    "security.groups[0].keys: must have a key, or templates one template",
  ]);
  const { groups } = configOf(withSection(
    "security: {templates: [{name: t}], groups: [{name: g, templates: [t]}]}",
  )).security;
  assertEquals<unknown>(groups, [{ name: "g", keys: [], templates: ["t"], budgets: [] }]);
});

Deno.test("a previous secret has a value or a digest, and the day of its end", () => {
  const key = (previous: string) =>
    `{enabled: true, api_key: {keys: [{name: a, value: s, previous: [${previous}]}]}}`;
  const place = "security.api_key.keys[0].previous";
  assertEquals(problems(key("{value: t}")), [`${place}[0].until: is required`]);
  assertEquals(problems(key("{until: 2027-01-31}")), [
    `${place}[0].value: is required unless sha256 is set`,
  ]);
  assertEquals(problems(key("{value: ' ', until: 2027-01-31}")), [
    `${place}[0].value: must not be blank while security.enabled is true`,
  ]);
  const three = Array.from({ length: 3 }, (_, at) => `{value: t${at}, until: 2027-01-31}`);
  assertEquals(problems(key(three.join(", "))).length, 1);
});

Deno.test("a previous secret that is accepted for long, or not any more, is a warning, and so is one that another key has", () => {
  const { config } = checked({
    api_key: {
      keys: [
        { name: "a", value: "s", previous: [{ value: "old", until: "2026-12-01" }] },
        { name: "b", value: "old", previous: [{ value: "t", until: "2027-06-30" }] },
      ],
    },
  });
  assertEquals(
    clientKeyWarnings(config, Date.parse("2027-01-01")).map(({ path, text }) => [
      path.slice(3).join("."),
      text.split(":")[0],
    ]),
    [
      ["1.value", "is already the value of an earlier key"],
      ["0.previous.0.until", "has begun, so this secret is refused"],
      ["1.previous.0.until", "is more than 90 days away"],
    ],
  );
});

function checked(security: object) {
  const result = checkTree({
    providers: { up: { type: "compat", base_url: "http://up" } },
    routing: { routes: [{ name: "r", targets: [{ provider: "up", model: "m" }] }] },
    security: { enabled: true, ...security },
  }, []);
  assert(result.ok);
  return result;
}

Deno.test("a slash in the name of a key is a warning", () => {
  const security = "security: {enabled: true, api_key: {keys: [{name: a/b, value: s}]}}";
  assertEquals(warningsOf(withSection(security)).map((line) => line.replace(/ \(line .*$/, "")), [
    "security.api_key.keys[0].name: has a slash, as names of clients with tokens have: " +
    "a later version refuses it",
  ]);
});

Deno.test("a group whose budget clients with tokens may exceed is a warning that names their template", () => {
  const warnings = (developer: object) => {
    const security = tokenSecurity({}, {
      templates: [{ name: "admin" }, { name: "developer", ...developer }],
      groups: [{ name: "g", templates: ["developer"], budgets: [{ per: "day", tokens: 9 }] }],
    }).trim();
    return warningsOf(withSection(security)).map((line) => line.replace(/ \(line .*$/, ""));
  };
  assertEquals(warnings({ max_concurrent: 5 }), []);
  assertEquals(warnings({}), [
    "security.groups[0].budgets: can be exceeded without limit, because running requests are never " +
    "ended: set max_concurrent of developer",
  ]);
});

Deno.test("a key with the name of a client with a token is a warning with what both share", () => {
  const keys = ["corp/ada", "corporation/ada"].map((name) => ({ name, value: `key of ${name}` }));
  const security = tokenSecurity({}, { api_key: { keys } }).trim();
  assertEquals(warningsOf(withSection(security)).map((line) => line.replace(/ \(line .*$/, "")), [
    "security.api_key.keys[0].name: may also be the name of a client with a token of issuer corp: " +
    "log lines, usage and match.key of routes do not tell them apart",
    "security.api_key.keys[1].name: has a slash, as names of clients with tokens have: " +
    "a later version refuses it",
  ]);
});

Deno.test("more end users of all keys than are counted is a warning", () => {
  const warnings = (second: number) =>
    warningsOf(withSection(`security:
  enabled: true
  api_key:
    keys:
      - {name: a, value: s, end_users: {header: X-User, max: 60000}}
      - {name: b, value: t, end_users: {header: X-User, max: ${second}}}
`)).map((line) => line.replace(/ \(line .*$/, ""));
  assertEquals(warnings(40_000), []);
  assertEquals(warnings(40_001), [
    "security.api_key.keys: have 100001 end users by end_users.max, and limits of 100000 are counted in all",
  ]);
});

Deno.test("a template that puts no client into a group is a warning, also that of end users", () => {
  const warnings = (template: string) =>
    warningsOf(withSection(`security:
  enabled: true
  api_key:
    keys:
      - {name: a, value: s, template: given, end_users: {header: X-User, template: user}}
  templates: [{name: given, max_concurrent: 1}, {name: user, max_concurrent: 1}]
  groups: [{name: g, templates: [given, ${template}], tokens_per_minute: 9}]
`)).map((line) => line.replace(/ \(line .*$/, ""));
  assertEquals(warnings("given"), []);
  assertEquals(warnings("user"), [
    "security.groups[0].templates[1]: is the template of no client key and of no token, so by it no client is in the group; end users are in none",
  ]);
});
