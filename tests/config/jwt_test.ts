import { load } from "../../src/config/load.ts";
import { configFile } from "../cli/test_terminal.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { tokenSecurity } from "../support/token_issuer.ts";
import { problemsOf, warningsOf, withSection } from "./parse.ts";

/** Problems of an issuer that differs from a valid one, without their places in the file. */
function problems(issuer: Parameters<typeof tokenSecurity>[0]): readonly string[] {
  return problemsOf(withSection(tokenSecurity(issuer).trim()))
    .map((line) => line.replace(/^security\.jwt\.issuers\[0\]\./, "").replace(/ \(line .*$/, ""));
}

Deno.test("an issuer has no symmetric and no unknown algorithm, and names at least one", () => {
  assertEquals(problems({}), []);
  for (const name of ["HS256", "HS384", "HS512", "none", "ES256K", "RS1", "rs256"]) {
    const [problem = "", ...others] = problems({ algorithms: ["ES256", name] });
    assertEquals([problem.startsWith("algorithms[1]: "), others.length], [true, 0], name);
  }
  assertEquals(problems({ algorithms: [] }).length, 1);
  assertEquals(problems({ audience: [] }).length, 1);
  assertEquals(problems({ rules: [] }).length, 1);
});

Deno.test("keys come from one source, over TLS unless it is this machine", () => {
  const none = { jwks_url: undefined as never };
  assertEquals(problems(none), ["jwks_url: is required unless jwks_file is set"]);
  assertEquals(problems({ jwks_file: "keys.json" }), [
    "jwks_file: must not be set together with jwks_url",
  ]);
  for (const url of ["http://127.0.0.1:1/keys", "http://localhost/keys", "https://a.example/k"]) {
    assertEquals(problems({ jwks_url: url }), []);
  }
  for (const url of ["http://a.example/keys", "ftp://a.example/k", "file:///etc/keys"]) {
    assertEquals(problems({ jwks_url: url }), [
      "jwks_url: must begin with https, or with http on a loopback address",
    ]);
  }
  assertEquals(problems({ jwks_url: "https://a:b@c.example/" }), [
    "jwks_url: must not have credentials",
  ]);
});

Deno.test("a rule names a template of the file, and two issuers differ in name and in issuer", () => {
  const rules = [{ claim: "groups", values: ["*"], template: "developr" }];
  assertEquals(problems({ rules })[0]?.startsWith("rules[0].template: "), true);
  const one = {
    name: "corp",
    issuer: "https://a.example",
    jwks_url: "https://a.example/keys",
    audience: ["a"],
    algorithms: ["ES256"],
    rules: [{ claim: "sub", values: ["*"], template: "admin" }],
  };
  const twice = tokenSecurity({}, { jwt: { issuers: [one, one] } }).trim();
  assertEquals(problemsOf(withSection(twice)).map((line) => line.replace(/ \(line .*$/, "")), [
    "security.jwt.issuers[1].name: is already the name of an earlier issuer",
    "security.jwt.issuers[1].issuer: is already the issuer of an earlier issuer",
  ]);
  const empty = tokenSecurity({}, { jwt: { issuers: [] } }).trim();
  assertEquals(problemsOf(withSection(empty)).length, 1);
});

Deno.test("labels of claims and of templates are labels of clients", () => {
  const templates = [{ name: "admin", labels: { tier: "gold" } }, { name: "developer" }];
  const security = tokenSecurity({ labels: { team: "department" } }, { templates }).trim();
  const warned = (...lines: readonly string[]) =>
    warningsOf(withSection(security, ...lines)).map((line) => line.replace(/ \(line .*$/, ""));
  assertEquals(warned("observability: {key_labels: [team, tier]}"), []);
  assertEquals(warned("observability: {key_labels: [tier, unit]}"), [
    "security.jwt.issuers[0].labels.team: is used neither in match.labels of a route nor in " +
    "observability.key_labels",
    "observability.key_labels[1]: is a label that no client key has",
  ]);
});

Deno.test("a key set that is no regular file is a problem of the file, because its read may never end", async () => {
  const security = tokenSecurity({ jwks_url: undefined as never, jwks_file: "/dev/null" }).trim();
  using file = await configFile(withSection(security));
  const loaded = await load(file.path, {});
  assert(!loaded.ok);
  assertEquals(loaded.problems.map((line) => `${line}`.replace(/ \(line .*$/, "")), [
    "security.jwt.issuers[0].jwks_file: names a file that is not a regular file",
  ]);
});

Deno.test("issuers whose tokens are not accepted are a warning", () => {
  const warned = (provider: string) =>
    warningsOf(withSection(tokenSecurity({}, { provider }).trim()))
      .map((line) => line.replace(/ \(line .*$/, ""));
  assertEquals(warned("jwt"), []);
  assertEquals(warned("api_key"), [
    "security.jwt.issuers: have no effect while security.provider is api_key, so their tokens are refused",
  ]);
});
