import { assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

/** Requests models with a key that has these settings. */
function gatewayFor(settings: string) {
  const { app } = testGateway(
    `security: {enabled: true, api_key: {keys: [{name: ada, value: sk-ada${settings}}]}}
providers:
  a: {type: compat, base_url: "http://a", models: {mode: static, static: [gpt-4o, gpt-4o-mini, o3]}}
  b: {type: compat, base_url: "http://b", models: {mode: static, static: [claude-x, o3]}}
routing: {routes: [{name: r, targets: [{provider: a}]}]}
`,
    scriptedWorld(),
  );

  async function get(path: string, more: Readonly<Record<string, string>> = {}) {
    const headers = { authorization: "Bearer sk-ada", ...more };
    const answer = await app(new Request(`http://x/v1/models${path}`, { headers }));
    return { status: answer.status, body: await answer.json() };
  }

  return { get, ids: async (more = {}) => idsIn((await get("", more)).body) };
}

function idsIn({ data }: { readonly data: readonly { readonly id: string }[] }): readonly string[] {
  return data.map(({ id }) => id);
}

const MESSAGES_API = { "anthropic-version": "2023-06-01" };

Deno.test("the list of models has only those that the key may use, in both shapes", async () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "": ["a/gpt-4o", "a/gpt-4o-mini", "a/o3", "b/claude-x", "b/o3"],
    ", models: [gpt-4o]": ["a/gpt-4o"],
    ', models: ["gpt-4o*", "b/*"]': ["a/gpt-4o", "a/gpt-4o-mini", "b/claude-x", "b/o3"],
    ", providers: [b]": ["b/claude-x", "b/o3"],
    ", providers: [a], models: [o3]": ["a/o3"],
    ", models: [none]": [],
  };
  for (const [settings, ids] of Object.entries(cases)) {
    const gateway = gatewayFor(settings);
    assertEquals(await gateway.ids(), ids, settings);
    assertEquals(await gateway.ids(MESSAGES_API), ids, settings);
  }
});

Deno.test("a model that the key may not use does not exist for it, in both shapes", async () => {
  const { get } = gatewayFor(', models: ["a/o3"]');
  for (const path of ["/gpt-4o", "/a/gpt-4o", "/b/o3"]) {
    const { status, body } = await get(path);
    assertEquals([status, body.error.code, body.error.param], [404, "model_not_found", "model"]);
    const messages = await get(path, MESSAGES_API);
    assertEquals([messages.status, messages.body.error.type], [404, "not_found_error"]);
  }
  // The bare name has one provider for this key.
  assertEquals((await get("/o3")).body.id, "a/o3");
  assertEquals((await get("/o3", MESSAGES_API)).body.id, "a/o3");
});
