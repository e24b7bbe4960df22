import { createHash, createHmac } from "node:crypto";
import { compile } from "../../src/gateway/compile.ts";
import type { Provider } from "../../src/wires/wire.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";

function provider(settings: string): Provider {
  const text = `providers: {p: {type: compat, base_url: "http://one/v1", ${settings}}}
routing: {routes: [{name: r, targets: [{provider: p}]}]}`;
  const made = compile(configOf(text), 1).providers.get("p");
  assert(made !== undefined);
  return made;
}

function digests(settings: string): readonly string[] {
  return provider(settings).accounts.map(({ digest }) => digest);
}

Deno.test("the account of a key is the same alone and in a pool, whatever its name and weight", () => {
  const fields = ["compat", "http://one/v1", "org", "k"];
  const digest = createHash("sha256").update(JSON.stringify(fields)).digest("hex");
  const lists = [
    "organization: org, api_key: k",
    "organization: org, api_keys: [{name: x, value: k}]",
    "organization: org, api_keys: [{name: x, value: k, weight: 7}, {name: y, value: l}]",
  ];
  assertEquals(lists.map((settings) => digests(settings)[0]), [digest, digest, digest]);
});

Deno.test("each key is another account, and a provider without a key has one too", () => {
  const two = digests("api_keys: [{name: a, value: k}, {name: b, value: l}]");
  assertEquals(new Set([...two, ...digests("api_key: m"), ...digests("headers: {}")]).size, 4);
});

Deno.test("the upstream of the slots is the account of a lone key, and stays when a pool changes", () => {
  const lone = provider("api_key: k");
  assertEquals(lone.upstream, lone.accounts[0].digest);
  const pools = [
    "api_keys: [{name: a, value: k}, {name: b, value: l}]",
    "api_keys: [{name: b, value: l}, {name: c, value: m}]",
  ];
  const [first, second] = pools.map((settings) => provider(settings).upstream);
  assertEquals(first, second);
  assert(first !== lone.upstream);
});

Deno.test("the keys of all accounts are secrets", () => {
  const { secrets } = provider("api_keys: [{name: a, value: sk-one}, {name: b, value: sk-two}]");
  assertEquals(secrets, ["sk-one", "sk-two"]);
});

Deno.test("a key serves the models that one of its patterns matches", () => {
  const patterns = 'api_keys: [{name: a, value: k, models: ["gpt-4o*", o1]}]';
  const [account] = provider(patterns).accounts;
  assertEquals(["gpt-4o", "gpt-4o-mini", "o1", "o1-mini", "gpt-4"].map(account.serves), [
    true,
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("a reader of a shared cache cannot try out the secret of a credential", () => {
  const keys = "region: r, service: s, access_key_id: a, secret_access_key: secret-1";
  const { settings, sharedNamespace, secrets } = provider(`credential: {type: aws, ${keys}}`);
  const unkeyed = createHmac("sha256", "").update(JSON.stringify(["p", settings])).digest("hex");
  assert(sharedNamespace !== unkeyed);
  assertEquals(secrets, ["secret-1"]);
});
