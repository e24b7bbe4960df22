import { createHash } from "node:crypto";
import { compile } from "../../src/gateway/compile.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";

function config(one: string, two: string | null) {
  return configOf(`
providers:
  one: {type: compat, base_url: "http://one/v1"${one}}
${two === null ? "" : `  two: {type: messages, base_url: "http://two"${two}}`}
routing: {routes: [{name: main, targets: [{provider: one}]}]}
`);
}

Deno.test("a provider stays the same while its definition does, whatever else changes", () => {
  const first = compile(config(", headers: {a: x, b: y}", ""), 1);
  const second = compile(config(", headers: {b: y, a: x}", ", default_model: m"), 2, first);
  const third = compile(config(", headers: {a: x, b: y}", ", default_model: m"), 3, second);
  assertEquals(
    [first, second, third].map(({ providers }) => providers.get("one")?.namespace),
    ["one@1", "one@1", "one@1"],
  );
  assert(third.providers.get("one") === first.providers.get("one"));
  assert(third.routes[0]?.targets[0]?.provider === first.providers.get("one"));
  assertEquals(
    [first, second, third].map(({ providers }) => providers.get("two")?.namespace),
    ["two@1", "two@2", "two@2"],
  );
});

Deno.test("a provider that was removed and added again has another cache namespace", () => {
  const first = compile(config("", ""), 1);
  const second = compile(config("", null), 2, first);
  const third = compile(config("", ""), 3, second);
  assertEquals(second.providers.has("two"), false);
  assertEquals(third.providers.get("two")?.namespace, "two@3");
});

Deno.test("a change and its return are two changes", () => {
  const first = compile(config("", null), 1);
  const second = compile(config(", api_key: k", null), 2, first);
  const third = compile(config("", null), 3, second);
  assertEquals(third.providers.get("one")?.namespace, "one@3");
  assertEquals(
    third.providers.get("one")?.accounts[0].digest,
    first.providers.get("one")?.accounts[0].digest,
  );
});

Deno.test("without a key the static headers make the account, in whatever order and case", () => {
  const headers = [
    "",
    ", headers: {a: x, b: y}",
    ", headers: {B: y, A: x}",
    ", headers: {a: y, b: x}",
  ];
  const accounts = headers.map((more) =>
    compile(config(more, null), 1).providers.get("one")?.accounts[0].digest
  );
  assertEquals(accounts[1], accounts[2]);
  assertEquals(new Set(accounts).size, 3);
  const keyed = headers.map((more) =>
    compile(config(`, api_key: k${more}`, null), 1).providers.get("one")?.accounts[0].digest
  );
  assertEquals(new Set(keyed).size, 1);
});

Deno.test("a password in an address is a secret, also with a literal % and as it is sent", () => {
  for (const [written, meant] of [["s%65cret", "secret"], ["100%sure", "100%sure"]] as const) {
    const text = `
providers: {one: {type: compat, base_url: "http://user:${written}@one"}}
routing: {routes: [{name: main, targets: [{provider: one}]}]}
`;
    const secrets = compile(configOf(text), 1).providers.get("one")?.secrets;
    assertEquals(secrets, [meant, btoa(`user:${meant}`)]);
  }
});

function provider(baseUrl: string, more = "") {
  const text = `
providers: {one: {type: compat, base_url: "${baseUrl}"${more}}}
routing: {routes: [{name: main, targets: [{provider: one}]}]}
`;
  const made = compile(configOf(text), 1).providers.get("one");
  assert(made !== undefined);
  return made;
}

Deno.test("a base URL is split into its path and its query", () => {
  const parts = (url: string) => {
    const { base, query } = provider(url);
    return [base, query];
  };
  assertEquals(parts("http://one/v1/"), ["http://one/v1", ""]);
  assertEquals(parts("http://one/v1/?"), ["http://one/v1", ""]);
  assertEquals(parts("http://one/v1/?a=b/&c=d?e/"), ["http://one/v1", "a=b/&c=d?e/"]);
});

Deno.test("an address without a query keeps its account; another query is another account", () => {
  const [{ digest: account }] = provider("http://one/v1").accounts;
  // Bindings and breakers of a running gateway compare it across a reload.
  const fields = ["compat", "http://one/v1", "", ""];
  const digest = createHash("sha256").update(JSON.stringify(fields)).digest("hex");
  assertEquals([account, provider("http://one/v1/?").accounts[0].digest], [digest, digest]);
  const accounts = ["http://one/v1", "http://one/v1?a=1", "http://one/v1?a=2"]
    .map((url) => provider(url).accounts[0].digest);
  assertEquals(new Set(accounts).size, 3);
});

Deno.test("the secret of a header is what follows its scheme, or all of it, and a basic password", () => {
  const headers = (written: string) => provider("http://one", `, headers: {${written}}`).secrets;
  assertEquals(headers('Authorization: "Bearer  sk-one"'), ["sk-one"]);
  assertEquals(headers("cf-aig-authorization: bearer sk-one"), ["sk-one"]);
  assertEquals(headers("authorization: sk-one"), ["sk-one"]);
  assertEquals(headers('x-key: "sk-one and two"'), ["sk-one and two"]);
  const basic = btoa("user:pass:word");
  assertEquals(headers(`authorization: Basic ${basic}`), [basic, "pass:word"]);
});

Deno.test("long query parameters of a base URL are secrets, encoded and decoded", () => {
  assertEquals(provider("http://one?alt=json&v=1234567").secrets, []);
  assertEquals(provider("http://one?key=abc%2Fdefgh&flag").secrets, ["abc/defgh", "abc%2Fdefgh"]);
  assertEquals(provider("http://one?key=12345678").secrets, ["12345678"]);
});

Deno.test("a key that its type does not use makes neither another account nor another definition", () => {
  const text = (more: string) => `
providers: {one: {type: messages, base_url: "http://one"${more}}}
routing: {routes: [{name: main, targets: [{provider: one}]}]}
`;
  const first = compile(configOf(text("")), 1);
  const more = ", organization: o, top_k: 4, extra: {a: b}, capabilities: {conversations: true}";
  const second = compile(configOf(text(more)), 2, first);
  assert(second.providers.get("one") === first.providers.get("one"));
});

Deno.test("a generation is no longer in memory after the next reload", async () => {
  const program = new URL("held_generations.ts", import.meta.url).pathname;
  const args = ["run", "--no-check", "-A", "--v8-flags=--expose-gc", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  assertEquals(new TextDecoder().decode(stdout), "1\n");
});
