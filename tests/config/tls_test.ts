import { join } from "node:path";
import { load, reload } from "../../src/config/load.ts";
import { compile } from "../../src/gateway/compile.ts";
import { pem } from "../http_client/certificates.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { warningsOf, withProvider } from "./parse.ts";

/** A key that belongs to no certificate here. */
const OTHER_KEY = "-----BEGIN PRIVATE KEY-----\n" +
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg" +
  "rcKhxhYOi7N3dMAqMcw8YBY8XjG5k4Hhi3qHDPOO0RKhRANC\n";

/** A directory with a configuration file and the certificates for tests. */
async function directoryWith(tls: string, base = "https://models.example/v1") {
  const path = await Deno.makeTempDir();
  const file = join(path, "config.yaml");
  const write = (name: string, text: string) => Deno.writeTextFile(join(path, name), text);
  const keys = ["type: compat", `base_url: "${base}"`, "api_key: k", `tls: {${tls}}`];
  await write("config.yaml", withProvider("up", ...keys));
  for (const name of ["ca.pem", "client.pem", "named.pem", "server.key"]) {
    await write(name, pem(name));
  }
  await write("other.key", OTHER_KEY);
  return {
    file,
    write,
    async [Symbol.asyncDispose]() {
      await Deno.remove(path, { recursive: true });
    },
  };
}

Deno.test("the files of TLS settings are read next to the configuration file", async () => {
  const tls = "ca_file: ca.pem, cert_file: ./client.pem, key_file: server.key, server_name: a.test";
  await using directory = await directoryWith(tls);
  const loaded = await load(directory.file, {});
  assert(loaded.ok, loaded.ok ? "" : loaded.problems.join("\n"));
  assertEquals(loaded.config.providers.up?.tls, {
    ca: pem("ca.pem"),
    identity: { cert: pem("client.pem"), key: pem("server.key") },
    serverName: "a.test",
  });
  const transport = compile(loaded.config, 1).providers.get("up")?.transport;
  const { id = "", ...settings } = transport?.tls ?? {};
  assert(/^[\da-f]{64}$/.test(id));
  assertEquals<unknown>(settings, {
    caCerts: [pem("ca.pem")],
    identity: { cert: pem("client.pem"), key: pem("server.key") },
    serverName: "a.test",
  });
});

Deno.test("a provider is the same while the contents of its TLS files are, and another one after", async () => {
  await using directory = await directoryWith("ca_file: ca.pem");
  const first = await load(directory.file, {});
  const second = await reload(directory.file, {});
  await directory.write("ca.pem", pem("ca.pem") + pem("named.pem"));
  const third = await reload(directory.file, {});
  assert(first.ok && second.ok && third.ok);
  const one = compile(first.config, 1);
  const two = compile(second.config, 2, one);
  const three = compile(third.config, 3, two);
  const [a, b, c] = [one, two, three].map(({ providers }) => providers.get("up"));
  assert(a !== undefined && a === b && a !== c);
  assertEquals(a.accounts[0].digest, c?.accounts[0].digest);
  assert(a.transport.tls?.id !== c?.transport.tls?.id);
});

Deno.test("without a key the client certificate makes the account", async () => {
  const tls = "cert_file: client.pem, key_file: server.key";
  await using directory = await directoryWith(tls);
  const text = await Deno.readTextFile(directory.file);
  const accounts: (string | undefined)[] = [];
  for (const keyLine of ["    api_key: k\n", ""]) {
    for (const name of ["client.pem", "named.pem"]) {
      const changed = text.replace("    api_key: k\n", keyLine).replace("client.pem", name);
      await directory.write("config.yaml", changed);
      const loaded = await load(directory.file, {});
      assert(loaded.ok);
      accounts.push(compile(loaded.config, 1).providers.get("up")?.accounts[0].digest);
    }
  }
  const [keyed, keyedToo, one, two] = accounts;
  assertEquals(keyed, keyedToo);
  assert(one !== two && one !== keyed);
});

Deno.test("a file for TLS that cannot be used is a problem with its place", async () => {
  const missing = "names a file that does not exist";
  const cases: readonly (readonly [tls: string, ...problems: string[]])[] = [
    ["ca_file: none.pem", `ca_file: ${missing} (line 6, column 20)`],
    [
      "ca_file: none.pem, cert_file: none.pem, key_file: none.key",
      `ca_file: ${missing} (line 6, column 20)`,
      `cert_file: ${missing} (line 6, column 41)`,
      `key_file: ${missing} (line 6, column 61)`,
    ],
    ["ca_file: .", "ca_file: names a file that is not a regular file (line 6, column 20)"],
    [
      "ca_file: server.key",
      "ca_file: names a file without a usable certificate in PEM (line 6, column 20)",
    ],
    [
      "cert_file: client.pem, key_file: client.pem",
      "key_file: names a file without a usable private key that is not encrypted in PEM " +
      "(line 6, column 44)",
    ],
    [
      "cert_file: client.pem, key_file: other.key",
      "key_file: names a file without a usable private key that is not encrypted in PEM " +
      "(line 6, column 44)",
    ],
    [
      "cert_file: ca.pem, key_file: server.key",
      "key_file: names a key that does not belong to the certificate (line 6, column 40)",
    ],
    ["cert_file: client.pem", "cert_file: requires key_file (line 6, column 11)"],
    ["key_file: server.key", "key_file: requires cert_file (line 6, column 11)"],
    ["server_name: ''", "server_name: must not be blank (line 6, column 24)"],
    ["ca_flie: x", 'ca_flie: is not a known key; did you mean "ca_file"? (line 6, column 11)'],
  ];
  for (const [tls, ...problems] of cases) {
    await using directory = await directoryWith(tls);
    const loaded = await load(directory.file, {});
    assert(!loaded.ok, tls);
    assertEquals(loaded.problems, problems.map((problem) => `providers.up.tls.${problem}`), tls);
  }
});

Deno.test("a certificate that is broken in itself is no certificate", async () => {
  await using directory = await directoryWith("ca_file: ca.pem");
  const broken = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  for (const text of [broken, pem("ca.pem") + broken, "", "text"]) {
    await directory.write("ca.pem", text);
    const loaded = await load(directory.file, {});
    assert(!loaded.ok && loaded.problems.length === 1);
  }
});

Deno.test("a provider whose certificate file is missing at a reload is left out, and the other providers stay", async () => {
  await using directory = await directoryWith("ca_file: none.pem");
  const text = await Deno.readTextFile(directory.file);
  const both = text.replace("routing:", "  openai: {api_key: k}\nrouting:")
    .replace("- provider: up", "- provider: up\n        - provider: openai");
  await directory.write("config.yaml", both);
  const reloaded = await reload(directory.file, {});
  assert(reloaded.ok);
  assertEquals(reloaded.leftOut, ["up"]);
  assertEquals(Object.keys(reloaded.config.providers), ["openai"]);
});

Deno.test("a server name is refused where the environment sends the provider through a proxy", async () => {
  await using directory = await directoryWith("server_name: a.test");
  const problem =
    "providers.up.tls.server_name: cannot be used through the proxy of HTTPS_PROXY or " +
    "ALL_PROXY; add the host to NO_PROXY, or remove server_name (line 6, column 24)";
  for (const name of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]) {
    const environment = { [name]: "http://proxy.test" };
    const loaded = await load(directory.file, environment);
    assertEquals(loaded.ok ? [] : loaded.problems, [problem]);
    assert((await load(directory.file, { ...environment, NO_PROXY: "models.example" })).ok);
  }
  assert((await load(directory.file, { HTTP_PROXY: "http://proxy.test" })).ok);
});

Deno.test("TLS settings for an address without TLS are named as without effect", async () => {
  await using directory = await directoryWith("ca_file: ca.pem", "http://127.0.0.1:1/v1");
  const loaded = await load(directory.file, {});
  assertEquals(loaded.ok ? loaded.warnings : null, [
    "providers.up.tls: has no effect on a base_url that begins with http:// (line 6, column 5)",
  ]);
});

Deno.test("a key that goes to another machine without encryption is a warning, also within a private network", () => {
  const warning = "providers.up.base_url: is not encrypted, and the host is another machine: the " +
    "provider's key and every request can be read; use https (line 4, column 15)";
  const credentials = [
    "api_key: k",
    "headers: {Authorization: Bearer k}",
    "headers: {x-api-key: k}",
  ];
  const warningsFor = (base: string, ...keys: string[]) =>
    warningsOf(withProvider("up", "type: compat", `base_url: "${base}"`, ...keys));
  for (const host of ["models.example", "10.0.0.7:8000", "[fd00::1]", "ollama"]) {
    for (const key of credentials) assertEquals(warningsFor(`http://${host}/v1`, key), [warning]);
    assertEquals(warningsFor(`http://user:word@${host}/v1`), [warning]);
    assertEquals(warningsFor(`http://${host}/v1`), []);
    assertEquals(warningsFor(`http://${host}/v1`, "headers: {x-team: a}"), []);
    assertEquals(warningsFor(`https://${host}/v1`, "api_key: k"), []);
  }
  for (const host of ["127.0.0.1:8000", "localhost", "[::1]:8000", "a.localhost"]) {
    for (const key of credentials) assertEquals(warningsFor(`http://${host}/v1`, key), []);
  }
});
