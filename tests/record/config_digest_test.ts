import { configDigest } from "../../src/record/config_digest.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { parsedConfig } from "../support/parsed_config.ts";

/** Returns a configuration with a secret wherever one can be. */
function configWith(secret: string, model = "m"): string {
  const bytes = new TextEncoder().encode(secret.padEnd(32, "x")).toBase64();
  return `
state: {encryption_keys: ["${bytes}"], store: valkey, valkey: {url: "valkey://127.0.0.1:6379/0", password: ${secret}}}
security: {enabled: true, api_key: {keys: [{name: ada, value: ${secret}}]}}
admin: {enabled: true, password: ${secret}}
privacy: {secret: "${bytes}"}
providers:
  plain:
    type: compat
    base_url: "https://me:${secret}@up.example/v1?api_key=${secret}"
    api_key: ${secret}
    headers: {X-Team-Token: ${secret}}
    default_model: ${model}
  cloud:
    type: compat
    base_url: https://cloud.example/v1
    credential: {type: entra, tenant: t, client_id: c, client_secret: ${secret}}
  signed:
    type: compat
    base_url: https://signed.example/v1
    credential: {type: aws, region: r, service: s, access_key_id: a, secret_access_key: ${secret}, session_token: ${secret}}
routing: {routes: [{name: main, targets: [{provider: plain}]}]}
`;
}

Deno.test("the digest of a configuration is the same with other secrets, and another with another model", () => {
  const digestOf = (text: string) => configDigest(parsedConfig(text));
  const digest = digestOf(configWith("first-secret"));
  assertEquals(digestOf(configWith("other-secret")), digest);
  assert(digestOf(configWith("first-secret", "n")) !== digest);
});
