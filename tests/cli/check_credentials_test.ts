import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startUpstream } from "../support/upstream.ts";
import { configFile, ran } from "./test_terminal.ts";

function config(credential: string): string {
  return `
providers:
  one: {type: compat, base_url: "https://one/v1", credential: {${credential}}}
  two: {type: compat, base_url: "https://two/v1", credential: {${credential}}}
routing: {routes: [{name: all, targets: [{provider: one}, {provider: two}]}]}
`;
}

Deno.test("check names the identity of a credential, and with --credentials its end but never its value", async () => {
  await using login = startUpstream((exchange) =>
    exchange.json(200, { access_token: "token-1", expires_in: 3_600 })
  );
  using file = await configFile(config(
    `type: entra, tenant: t-1, client_id: c-1, client_secret: secret-1, authority: "${login.url}"`,
  ));
  const offline = await ran(["check", "--config", file.path]);
  assertEquals([offline.code, login.requests.length], [0, 0]);
  assertMatch(offline.out, /credential: entra, tenant t-1, client_id c-1/);
  const fetched = await ran(["check", "--config", file.path, "--credentials"]);
  assertEquals([fetched.code, login.requests.length], [0, 1]);
  assertMatch(
    fetched.out,
    /\nCredential of one, two \(entra, .*\): valid until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.\n$/,
  );
  assert(!/token-1|secret-1/.test(offline.out + fetched.out + fetched.err));
});

Deno.test("check --credentials fails with the reason if a credential is not available", async () => {
  using file = await configFile(config("type: file, path: missing"));
  const { code, out } = await ran(["check", "--config", file.path, "--credentials"]);
  assertEquals(code, 1);
  assertMatch(out, /: not available, the file does not exist\.\n$/);
});
