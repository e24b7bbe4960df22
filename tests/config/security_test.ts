import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

const MARKER = "sk-7f3a9c1e5b2d8064";

function security(rest: string): string {
  return `security: {enabled: true, api_key: {${rest}}}`;
}

Deno.test("problems in security and rate_limiting are reported with line and column", () => {
  const cases: Record<string, string> = {
    "security: {provider: oauth}":
      "security.provider: must be none, api_key or jwt (line 1, column 22)",
    "security: {isolate_clients: perhaps}":
      "security.isolate_clients: must be true or false (line 1, column 29)",
    "security: {enabled: true}":
      "security.api_key.keys: must contain at least one key while security.enabled is true (line 1, column 1)",
    "security: {enabled: 'true', api_key: {keys: []}}":
      "security.api_key.keys: must contain at least one key while security.enabled is true (line 1, column 45)",
    [security("keys: [{name: a, value: ' '}]")]:
      "security.api_key.keys[0].value: must not be blank while security.enabled is true (line 1, column 61)",
    [security("keys: [{name: a, value: ok}, {name: a, value: b}]")]:
      "security.api_key.keys[1].name: is already the name of an earlier key (line 1, column 73)",
    [security("keys: [{name: ' ', value: b}]")]:
      "security.api_key.keys[0].name: must not be blank (line 1, column 51)",
    [security("keys: [{value: b}]")]:
      "security.api_key.keys[0].name: is required (line 1, column 44)",
    [security("keys: [{name: a}]")]:
      "security.api_key.keys[0].value: is required unless sha256 is set (line 1, column 44)",
    [security("keys: [{name: a, value: 1e2}]")]:
      "security.api_key.keys[0].value: must be text; put it in quotes (line 1, column 61)",
    [security("keys: [{name: a, value: b, requests_per_minute: 0}]")]:
      "security.api_key.keys[0].requests_per_minute: must be at least 1 (line 1, column 85)",
    "security: {api_key: {prefix: ''}}":
      "security.api_key.prefix: must not be empty while header is Authorization (line 1, column 30)",
    "security: {api_key: {header: authorization, prefix: ''}}":
      "security.api_key.prefix: must not be empty while header is Authorization (line 1, column 53)",
    "security: {api_key: {prefix: 'Bearer '}}":
      "security.api_key.prefix: must be printable ASCII characters without blanks (line 1, column 30)",
    "security: {api_key: {header: 'a b'}}":
      "security.api_key.header: is not a valid header name (line 1, column 30)",
    "security: {api_key: {header: X-Gateway-SessionID}}":
      "security.api_key.header: must not be a header that is forwarded, because the keys would be forwarded too (line 1, column 30)",
    "security: {api_key: {header: Session_Id}}":
      "security.api_key.header: must not be a header that is forwarded, because the keys would be forwarded too (line 1, column 30)",
    "security: {api_key: {header: Anthropic-Beta}}":
      "security.api_key.header: must not be a header that is forwarded, because the keys would be forwarded too (line 1, column 30)",
    "security: {api_key: {header: Idempotency-Key}}":
      "security.api_key.header: must not be a header that is forwarded, because the keys would be forwarded too (line 1, column 30)",
    "rate_limiting: {requests_per_minute: 0}":
      "rate_limiting.requests_per_minute: must be at least 1 (line 1, column 38)",
    "rate_limiting: {burst_size: 0.5}":
      "rate_limiting.burst_size: must be a whole number (line 1, column 29)",
    "rate_limiting: {enabled: yes}":
      "rate_limiting.enabled: must be true or false (line 1, column 26)",
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withSection(line)), [problem], line);
  }
});

Deno.test("a key whose variable is not set is an error that names key and variable", () => {
  const text = withSection(security('keys: [{name: a, value: "${CLIENT_KEY}"}]'));
  assertEquals(problemsOf(text), [
    "security.api_key.keys[0].value: must not be blank while security.enabled is true (line 1, column 61)",
    "security.api_key.keys[0].value: the variable CLIENT_KEY is not set, so it is replaced by empty text (line 1, column 61)",
  ]);
  assertEquals(problemsOf(text, { CLIENT_KEY: "k" }), []);
});

Deno.test("disabled security and rate limits stay off, whatever else is set", () => {
  const keys = 'api_key: {keys: [{name: a, value: "${CLIENT_KEY}"}]}';
  const off = withSection(`security: {enabled: false, ${keys}}`);
  assertEquals(configOf(off).security.enabled, false);
  const none = withSection(`security: {enabled: true, provider: none, ${keys}}`);
  assertEquals(warningsOf(none, { CLIENT_KEY: "k" }), [
    "security.provider: is none, so no key is required although security.enabled is true (line 1, column 37)",
  ]);
});

Deno.test("a rate of a client key that is not enforced is a warning", () => {
  const keys =
    "api_key: {keys: [{name: a, value: k}, {name: b, value: l, requests_per_minute: 6}]}";
  const line = `security: {enabled: true, ${keys}}`;
  assertEquals(warningsOf(withSection(line)), [
    "security.api_key.keys[1].requests_per_minute: has no effect while rate_limiting.enabled is false (line 1, column 106)",
  ]);
  assertEquals(warningsOf(withSection(line, "rate_limiting: {enabled: true}")), []);
  assertEquals(warningsOf(withSection(line.replace("true", "false"))), []);
});

Deno.test("an empty prefix is accepted with a header other than Authorization", () => {
  const config = configOf(withSection("security: {api_key: {header: X-Key, prefix: ''}}"));
  assertEquals([config.security.api_key.header, config.security.api_key.prefix], ["X-Key", ""]);
});

Deno.test("a key that no header can carry is refused, and no key is ever shown", () => {
  for (const value of [`' ${MARKER}'`, `"${MARKER}\\n"`, `${MARKER}é`, `"${MARKER}\\u0000"`]) {
    const problems = problemsOf(withSection(security(`keys: [{name: a, value: ${value}}]`)));
    assertEquals(problems, [
      "security.api_key.keys[0].value: must be one line of printable ASCII characters without blanks around it (line 1, column 61)",
    ]);
  }
  const lines = [
    security(`keys: [{name: a, value: {${MARKER}: 1}}]`),
    security(`keys: [{name: a, ${MARKER}: 1}]`),
    security(`keys: [${MARKER}]`),
    security(`keys: ${MARKER}`),
    `security: {provider: ${MARKER}}`,
    `security: ${MARKER}`,
  ];
  for (const line of lines) {
    const problems = problemsOf(withSection(line)).join("\n");
    assert(problems !== "" && !problems.includes(MARKER), `${line}\n${problems}`);
  }
});

Deno.test("allowed hosts are names, allowed origins have a scheme and no path", () => {
  const host =
    "must be a host name such as gateway.example.com, without a scheme and a port (line 1, column 25)";
  for (const name of ["a:80", "http://a", "'*.a'", "a b", "''", "'[::1]'"]) {
    const line = `server: {allowed_hosts: [${name}]}`;
    const problem = `server.allowed_hosts[0]: ${host}`.replace("column 25", "column 26");
    assertEquals(problemsOf(withSection(line)), [problem], name);
  }
  const origin =
    "server.allowed_origins[0]: must be *, or a scheme, a host and an optional port without a path, such as https://*.example.com (line 1, column 28)";
  const wrong = [
    "a.example",
    "https://a/",
    "https://a/b",
    "'null'",
    "https://",
    "''",
    "https://a b",
  ];
  for (
    const name of [...wrong, "'*://a'", "https://u@a", "https://bücher.example", "'https://a:*8'"]
  ) {
    const line = `server: {allowed_origins: [${name}]}`;
    assertEquals(problemsOf(withSection(line)), [origin], name);
  }
  const right =
    "'*', https://a.example, 'https://*.a.example:8443', 'http://a:*', capacitor://localhost";
  const { allowed_origins } = configOf(
    withSection(`server: {allowed_origins: [${right}]}`),
  ).server;
  assertEquals(allowed_origins.length, 5);
});

Deno.test("a client key with the value of an earlier one is a warning that does not contain the value", () => {
  const keys = `[{name: a, value: ${MARKER}}, {name: b, value: ${MARKER}}, {name: c, value: d}]`;
  const warnings = warningsOf(withSection(security(`keys: ${keys}`)));
  assertEquals(warnings.length, 1);
  const text = "is already the value of an earlier key: the settings of that key apply";
  assert(warnings[0]?.startsWith(`security.api_key.keys[1].value: ${text} (line 1, `));
  assert(!warnings[0]?.includes(MARKER));
});
