import { generateKeyPairSync } from "node:crypto";
import { load } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withProvider } from "./parse.ts";

function written(
  credential: string,
  baseUrl = "https://p/v1",
  ...more: readonly string[]
): string {
  return withProvider(
    "p",
    "type: compat",
    `base_url: ${baseUrl}`,
    `credential: {${credential}}`,
    ...more,
  );
}

/** Returns the problems without their positions. */
function problems(...args: Parameters<typeof written>): readonly string[] {
  return problemsOf(written(...args)).map((line) => line.replace(/ \(line.*/, ""));
}

const PLACE = "providers.p.credential";

Deno.test("each type has its ways, of which one is stated with all that it needs", () => {
  const cases: readonly (readonly [credential: string, ...problems: readonly string[]])[] = [
    ["type: file, path: /t"],
    ["type: file, path: /t, field: a, expires_field: b, header: api-key, prefix: ''"],
    ["type: file", `${PLACE}: needs one of path with type file`],
    ["type: file, path: /t, expires_field: b", `${PLACE}.expires_field: requires field`],
    ["type: entra, tenant: t, client_id: c, client_secret: s, scope: x, refresh_before: 10m"],
    ["type: entra, tenant: 1111, client_id: 2222, token_file: /t"],
    ["type: entra, source: managed"],
    ["type: entra, source: managed, client_id: c"],
    [
      "type: entra, tenant: t, client_secret: s",
      `${PLACE}.client_id: is required with type entra and client_secret`,
    ],
    [
      "type: entra, tenant: t, client_id: c",
      `${PLACE}: needs one of client_secret, token_file, source: managed with type entra`,
    ],
    [
      "type: entra, tenant: t, client_id: c, client_secret: s, token_file: /t",
      `${PLACE}: needs only one of client_secret, token_file, source: managed with type entra`,
    ],
    [
      "type: entra, source: managed, tenant: t",
      `${PLACE}.tenant: has no meaning with type entra and source: managed`,
    ],
    ["type: google, source: metadata, scope: s"],
    [
      "type: google, source: imds",
      `${PLACE}: needs one of key_file, source: metadata with type google`,
    ],
    ["type: google, key_file: /none", `${PLACE}.key_file: names a file that was not read`],
    ["type: aws, region: r, service: s, access_key_id: a, secret_access_key: b, session_token: c"],
    ["type: aws, region: r, service: s, source: imds"],
    ["type: aws, region: r, service: s, source: container"],
    ["type: aws, region: r, service: s, source: web_identity, role_arn: 'arn:r', token_file: /t"],
    [
      "type: aws, source: imds",
      `${PLACE}.region: is required with type aws and source: imds`,
      `${PLACE}.service: is required with type aws and source: imds`,
    ],
    [
      "type: aws, region: r, service: s, access_key_id: a",
      `${PLACE}.secret_access_key: is required with type aws and access_key_id`,
    ],
    [
      "type: aws, region: r, service: s, source: imds, header: x",
      `${PLACE}.header: has no meaning with type aws and source: imds`,
    ],
    [
      "type: file, path: /t, header: Content-Length",
      `${PLACE}.header: is set by the gateway and cannot be configured`,
    ],
    [
      "type: file, path: /t, refresh_before: 10m",
      `${PLACE}.refresh_before: has no meaning with type file and path`,
    ],
    [
      "type: aws, region: r, service: s, access_key_id: a, secret_access_key: b, refresh_before: 10m",
      `${PLACE}.refresh_before: has no meaning with type aws and access_key_id`,
    ],
    ["type: aws, region: r, service: s, source: imds, refresh_before: 10m"],
    ["type: command", `${PLACE}.type: must be file, entra, google or aws`],
  ];
  for (const [credential, ...expected] of cases) {
    assertEquals(problems(credential), expected, credential);
  }
});

Deno.test("what becomes a part of an address or of a header is checked", () => {
  const parts = [
    "tenant: a/../b",
    "client_id: 'a b'",
    "authority: 'ftp://x'",
    "authority: 'https://x?y'",
    "authority: 'http://x'",
  ];
  for (const part of parts) {
    const [name = ""] = part.split(":");
    const rest = ["tenant: t", "client_id: c", "client_secret: s"]
      .filter((member) => !member.startsWith(`${name}:`));
    const [first = ""] = problems(["type: entra", part, ...rest].join(", "));
    assert(first.startsWith(`${PLACE}.${name}: must`), first);
  }
  const loopback = "authority: 'http://127.0.0.1:1', tenant: t, client_id: c, client_secret: s";
  assertEquals(problems(`type: entra, ${loopback}`), []);
  const [region = ""] = problems("type: aws, region: attacker.example/, service: s, source: imds");
  assert(region.startsWith(`${PLACE}.region: must be`), region);
});

Deno.test("no problem shows a secret", () => {
  const lines = problems("type: entra, client_secret: 'my secret', session_token: 'other secret'");
  assert(lines.length > 0 && !lines.join().includes("secret'"), lines.join());
});

Deno.test("a provider has a key or a credential, not both", () => {
  for (const [key, value] of [["api_key", "k"], ["api_keys", "[{name: a, value: k}]"]]) {
    assertEquals(problems("type: file, path: /t", "https://p/v1", `${key}: ${value}`), [
      `providers.p.${key}: cannot be set together with credential; remove one of the two`,
    ]);
  }
});

Deno.test("paths begin at the configuration file, and a key file is read with it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const account = { type: "service_account", client_email: "sa@p", private_key: privateKey };
    await Deno.writeTextFile(`${folder}/config.yaml`, written("type: google, key_file: sa.json"));
    const texts = [
      JSON.stringify(account),
      JSON.stringify({ ...account, private_key: "none" }),
      JSON.stringify({ ...account, type: "external_account" }),
      "{",
    ];
    const results: unknown[] = [];
    for (const text of texts) {
      await Deno.writeTextFile(`${folder}/sa.json`, text);
      const loaded = await load(`${folder}/config.yaml`, {});
      results.push(
        loaded.ok ? loaded.config.providers.p?.api_keys[0]?.credential : loaded.problems[0],
      );
    }
    const unusable =
      `${PLACE}.key_file: names a file without a usable key of a service account (line 5, column 42)`;
    const [first, ...others] = results;
    assertEquals(first, { type: "google", key_file: `${folder}/sa.json`, account: "sa@p" });
    assertEquals(others, [unusable, unusable, unusable]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a signature for another service than that of the address is a warning", () => {
  const aws = "type: aws, region: us-east-1, source: imds, service";
  const mantle = "https://bedrock-mantle.us-east-1.api.aws/openai/v1";
  const runtime = "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1";
  const warned = (service: string, url: string) => warningsOf(written(`${aws}: ${service}`, url));
  assertEquals(warned("bedrock-mantle", mantle), []);
  assertEquals(warned("bedrock", runtime), []);
  const [text = ""] = warned("bedrock", mantle);
  assert(
    text.startsWith(
      `${PLACE}.service: is not the service of this address, which is bedrock-mantle`,
    ),
  );
  // A key of a pool may have any name.
  const pool = `api_keys: [{name: default, credential: {${aws}: bedrock}}]`;
  const [inPool = ""] = warningsOf(withProvider("p", "type: compat", `base_url: ${mantle}`, pool));
  assert(inPool.startsWith("providers.p.api_keys[0].credential.service: "), inPool);
});

Deno.test("a credential over http to another machine is a warning, as a key is", () => {
  const [warning = ""] = warningsOf(written("type: file, path: /t", "http://other/v1"));
  assert(warning.includes("is not encrypted"), warning);
});

Deno.test("a provider without a credential has no member for it", () => {
  const { providers } = configOf(withProvider("p", "type: compat", "base_url: https://p/v1"));
  assert(providers.p !== undefined && !("credential" in providers.p));
});

Deno.test("a key of api_keys has a value or a credential, and no two are for one account", () => {
  const pool = (...keys: readonly string[]) =>
    problemsOf(
      withProvider("p", "type: compat", "base_url: https://p/v1", `api_keys: [${keys.join(", ")}]`),
    ).map((line) => line.replace(/ \(line.*/, ""));
  const file = "credential: {type: file, path: /t}";
  assertEquals(pool(`{name: a, ${file}}`, "{name: b, value: k}"), []);
  const either = "providers.p.api_keys[0]: needs value or credential, one of both";
  assertEquals(pool("{name: a}"), [either]);
  assertEquals(pool(`{name: a, value: k, ${file}}`), [either]);
  assertEquals(pool("{name: a, credential: {type: file}}"), [
    "providers.p.api_keys[0].credential: needs one of path with type file",
  ]);
  assertEquals(pool(`{name: a, ${file}}`, `{name: b, ${file}}`), [
    "providers.p.api_keys[1].credential: is for the same account as an earlier key",
  ]);
});
