import { decodeHeaderText } from "../../src/core/header_fields.ts";
import { parseExplainedHeaders } from "../../src/routing/explain.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { tokenSecurity } from "../support/token_issuer.ts";
import { configFile, ran } from "./test_terminal.ts";

const FILE = `
security:
  enabled: true
  time_zone: Europe/Berlin
  api_key:
    keys:
      - name: ada
        value: sk-secret-of-ada
        tokens_per_minute: 200000
        max_concurrent: 20
        models: ["openai/gpt-4o*"]
        endpoints: [chat_completions]
        budgets: [{per: day, usd: 20}, {per: month, usd: 300, tokens: 50000000}]
        expires: 2999-06-30
        labels: {team: blue}
      - {name: bob, value: sk-secret-of-bob}
      - {name: gone, value: sk-secret-of-gone, disabled: true}
      - {name: late, value: sk-secret-of-late, expires: 2020-01-01}
      - {name: eve, value: sk-secret-of-eve, models: [nothing]}
  groups:
    - {name: research, keys: [ada], tokens_per_minute: 9}
providers:
  openai: {api_key: k}
  anthropic: {api_key: k}
routing:
  routes:
    - {name: blue, match: {labels: {team: blue}}, targets: [{provider: openai, model: gpt-4o}]}
    - name: mixed
      match: {key: [ada, eve]}
      targets: [{provider: openai, model: gpt-4o}, {provider: anthropic, model: claude-x}]
    - {name: rest, targets: [{provider: anthropic, model: claude-x}]}
`;

async function explained(...args: readonly string[]) {
  using file = await configFile(FILE);
  return await ran(["explain", "--config", file.path, ...args]);
}

Deno.test("explain prints what a key may use and the route it gets, never its secret", async () => {
  const { code, out } = await explained("--key", "ada", "--model", "gpt-4o");
  assertEquals(code, 0);
  assertEquals(
    out.slice(0, out.indexOf("Request:")),
    `Client key ada:
  models: openai/gpt-4o*
  providers: all
  endpoints: chat_completions
  labels: team=blue
  limits: 200000 tokens per minute, 20 requests at once, 20 USD per day, 300 USD and 50000000 tokens per month
  limits of group research: 9 tokens per minute
  expires: 2999-06-30, 00:00 in Europe/Berlin
`,
  );
  assertStringIncludes(out, "Route blue: serves the request");
  const all = await explained("--key", "bob");
  assertStringIncludes(
    all.out,
    "  models: all\n  providers: all\n  endpoints: all\n  limits: none\n",
  );
  assertStringIncludes(all.out, "Route blue: skipped, the client key has no label team=blue");
  assertStringIncludes(
    all.out,
    "Route mixed: skipped, the client key is not among those it matches",
  );
  assertStringIncludes(all.out, "Route rest: serves the request");
  assertEquals([out, all.out].some((text) => text.includes("sk-secret")), false);
});

Deno.test("explain shows the targets that a key may not use, and is not served without another", async () => {
  const { code, out } = await explained("--key", "eve", "--model", "auto");
  assertEquals(code, 1);
  assertStringIncludes(out, "openai/gpt-4o skipped: This client key may not use this model");
  assertStringIncludes(out, "Refused: no target of the route can serve this request.");
});

Deno.test("explain refuses for a key what the gateway refuses it", async () => {
  for (const name of ["gone", "late"]) {
    const { code, out } = await explained("--key", name, "--model", "m");
    assertEquals(code, 1);
    assertStringIncludes(out, "Refused: this client key is disabled or has expired.");
  }
  const endpoint = await explained("--key", "ada", "--model", "m", "--path", "/v1/embeddings");
  assertEquals(endpoint.code, 1);
  assertStringIncludes(endpoint.out, "Refused: This client key may not use this endpoint");
});

Deno.test("explain refuses what the limits of the end user refuse, and a key without the end user that it requires", async () => {
  using file = await configFile(`
security:
  enabled: true
  api_key:
    keys:
      - {name: web, value: s, max_concurrent: 9, end_users: {header: X-Person, template: person}}
      - {name: strict, value: t, end_users: {header: X-Person, required: true}}
  templates: [{name: person, budgets: [{per: day, usd: 1}]}]
providers: {openai: {api_key: k}}
routing: {routes: [{name: all, targets: [{provider: openai, model: gpt-unknown}]}]}
`);
  const asked = (...args: readonly string[]) =>
    ran(["explain", "--config", file.path, "--model", "auto", ...args]);
  const without = await asked("--key", "web");
  assertEquals(without.code, 0, without.out);
  const named = await asked("--key", "web", "--header", "X-Person=ada");
  assertEquals(named.code, 1, named.out);
  assertStringIncludes(
    named.out,
    "openai/gpt-unknown skipped: This client key has a budget in USD",
  );
  const wrong = await asked("--key", "web", "--header", `X-Person=${"a".repeat(257)}`);
  assertEquals(wrong.code, 1);
  assertStringIncludes(wrong.out, "must be 1 to 256 characters");
  const twice = await asked("--key", "web", "--header", "X-Person=a", "--header", "x-person=b");
  assertEquals(twice.code, 1);
  assertMatch(twice.out, /Refused: \S*x-person\S* must be sent once/);
  const written = await asked("--key", "web", "--header", "X-Person=日本");
  assertStringIncludes(written.out, "skipped: This client key has a budget in USD");
  const strict = await asked("--key", "strict");
  assertEquals(strict.code, 1);
  assertStringIncludes(strict.out, "Refused: Send the end user in the header x-person.");
  assertEquals((await asked("--key", "strict", "--header", "X-Person=ada")).code, 0);
  const checked = await ran(["check", "--config", file.path]);
  assertStringIncludes(checked.out, "client key web, route all: openai/gpt-unknown has no price");
  assertEquals(checked.out.includes("client key strict"), false);
});

Deno.test("a header of explain is the text that is written, as a client sends it in UTF-8", () => {
  for (const text of ["ada", "日本", "Ã¼", "ü"]) {
    const headers = parseExplainedHeaders([`X-Person: ${text}`], "");
    assert(typeof headers !== "string");
    assertEquals(decodeHeaderText(headers.get("x-person") ?? ""), text);
  }
});

Deno.test("explain shows the target that stays with the end user, not that of the key", async () => {
  using file = await configFile(`
security:
  enabled: true
  api_key: {keys: [{name: web, value: s, end_users: {header: X-Person}}]}
providers: {a: {type: compat, base_url: "http://a"}, b: {type: compat, base_url: "http://b"}}
routing: {routes: [{name: all, strategy: sticky, targets: [{provider: a}, {provider: b}]}]}
`);
  const targets = new Set<string>();
  for (let at = 0; at < 20; at++) {
    const args = ["--key", "web", "--model", "m", "--header", `X-Person=person-${at}`];
    const { out } = await ran(["explain", "--config", file.path, ...args]);
    targets.add(/The client key stays with (\w+)/.exec(out)?.[1] ?? out);
  }
  assertEquals([...targets].toSorted(), ["a", "b"]);
});

Deno.test("an unknown key is a problem with the most similar name", async () => {
  const { code, err } = await explained("--key", "adda", "--model", "m");
  assertEquals([code, err], [1, "There is no client key adda; did you mean ada?\n"]);
  using off = await configFile(FILE.replace("enabled: true", "enabled: false"));
  const { err: unused } = await ran(["explain", "--config", off.path, "--key", "ada"]);
  assertEquals(unused, "No client keys are required: security.enabled is false.\n");
});

Deno.test("check prints the key and label conditions of routes, and warns of targets without a price", async () => {
  using file = await configFile(FILE);
  const { code, out } = await ran(["check", "--config", file.path]);
  assertEquals(code, 0);
  assertStringIncludes(out, "Route blue: any path, any model, label team=blue");
  assertStringIncludes(out, "Route mixed: any path, any model, client key ada, eve");
  assertEquals(out.includes("has no price"), false);
  using unpriced = await configFile(
    FILE.replaceAll("gpt-4o", "gpt-unknown").replaceAll(
      "model: claude-x",
      "model: claude-x-unknown",
    )
      .replace(
        "- {name: bob, value: sk-secret-of-bob}",
        `
      - {name: bob, value: sk-secret-of-bob, max_concurrent: 1, budgets: [{per: day, usd: 1}]}
      - {name: tok, value: sk-secret-of-tok, max_concurrent: 1, budgets: [{per: day, tokens: 1}]}`,
      ),
  );
  const lines = (await ran(["check", "--config", unpriced.path])).out.split("\n")
    .filter((line) => line.includes("has no price"));
  const why = "has no price in pricing, so the budget in USD refuses it";
  assertEquals(lines, [
    `Warning: client key ada, route blue: openai/gpt-unknown ${why}`,
    `Warning: client key ada, route mixed: openai/gpt-unknown ${why}`,
    `Warning: client key bob, route rest: anthropic/claude-x-unknown ${why}`,
  ]);
});

Deno.test("check warns of targets without a price for templates of tokens with a budget in USD", async () => {
  const security = tokenSecurity({}, {
    templates: [
      { name: "admin" },
      { name: "developer", max_concurrent: 1, budgets: [{ per: "day", usd: 1 }] },
    ],
  });
  using file = await configFile(`${security}
providers: {openai: {api_key: k}}
routing:
  routes:
    - {name: key, match: {key: [nightly]}, targets: [{provider: openai, model: gpt-unknown}]}
    - {name: token, match: {key: ["corp/*"]}, targets: [{provider: openai, model: gpt-unknown}]}
`);
  const lines = (await ran(["check", "--config", file.path])).out.split("\n")
    .filter((line) => line.includes("has no price"));
  assertEquals(lines, [
    "Warning: template developer, route token: openai/gpt-unknown has no price in pricing, " +
    "so the budget in USD refuses it",
  ]);
});

Deno.test("a group with a budget in USD counts for the warning about prices, local runtimes do not", async () => {
  using file = await configFile(`
security:
  enabled: true
  api_key: {keys: [{name: ada, value: s, max_concurrent: 1}]}
  groups: [{name: g, keys: [ada], budgets: [{per: day, usd: 1}]}]
providers:
  ollama: {}
  openai: {}
routing:
  routes:
    - name: r
      targets: [{provider: ollama, model: llama}, {provider: openai, model: new, weight: 0}]
      fallback: [{provider: openai, model: newer}]
`);
  const { out } = await ran(["check", "--config", file.path]);
  assertEquals(out.split("\n").filter((line) => line.includes("price")), [
    "Warning: client key ada, route r: openai/newer has no price in pricing, so the budget in USD refuses it",
  ]);
});
