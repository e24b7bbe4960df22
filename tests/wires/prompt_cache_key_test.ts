import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { hasPromptCacheKey, withPromptCacheKey } from "../../src/wires/prompt_cache_key.ts";
import { newPayload } from "../../src/wires/payload.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { chatRequest, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { simulated } from "../support/simulated.ts";
import { scriptedWorld } from "../support/world.ts";

const HI = { role: "user", content: "Hi" };

function keyIn(text: string, session = "s"): JsonObject[string] | undefined {
  const request = { method: "POST", path: "/responses", payload: newPayload(() => text) } as const;
  const { payload, cachedAs } = withPromptCacheKey(request, session);
  assertEquals(cachedAs?.text(), text);
  const body = parseJson(payload?.text() ?? "");
  assert(isObject(body));
  return body.prompt_cache_key;
}

Deno.test("a made key is equal for a session, differs between sessions and shows nothing of them", () => {
  const made = keyIn('{"model":"m"}', "session-of-ada");
  assertMatch(String(made), /^sy_[\w-]{32}$/);
  assertEquals(keyIn(' {"input": "$& $1", "model":"m"}', "session-of-ada"), made);
  assert(keyIn('{"model":"m"}', "session-of-bob") !== made && !String(made).includes("ada"));
});

Deno.test("a key of the client is never replaced, and its name in a text is no key", () => {
  assertEquals(keyIn('{"model":"m","prompt_cache_key":"own"}'), "own");
  assertEquals(keyIn('{"prompt_cache_key":null,"model":"m"}'), null);
  assertMatch(String(keyIn('{"model":"m","user":"prompt_cache_key"}')), /^sy_/);
  assertMatch(String(keyIn('{"model":"m","metadata":{"prompt_cache_key":"x"}}')), /^sy_/);
});

Deno.test("only chat completions and responses have keys of a prompt cache", () => {
  const request = (path: string) => ({ method: "POST", path, payload: null } as const);
  assert(hasPromptCacheKey("compat", request("/chat/completions")));
  assert(hasPromptCacheKey("responses", request("/responses")));
  assert(!hasPromptCacheKey("compat", request("/embeddings")));
  assert(!hasPromptCacheKey("messages", request("/v1/messages")));
});

function keyedGateway(setting: string, more = "") {
  const upstream = simulated();
  const provider = (id: string) =>
    `  ${id}: {type: compat, base_url: "http://sim.test/compat/v1", api_key: k${setting}}\n`;
  const { app } = testGateway(
    `
providers:
${provider("compat")}${provider("native")}
  messages: {type: messages, base_url: "http://sim.test/messages", api_key: k${setting}}
routing:
  routes:
    - name: main
      targets:
        - {provider: compat}
        - {provider: native, upstream_request_type: responses}
        - {provider: messages}
${more}
`,
    scriptedWorld(upstream),
  );

  async function post(path: string, body: JsonObject, headers: Record<string, string> = {}) {
    const init = { method: "POST", headers: { host: "localhost", ...headers } };
    const url = `http://localhost/v1/${path}`;
    const response = await got(
      await app(new Request(url, { ...init, body: JSON.stringify(body) })),
    );
    assertEquals(response.status, 200, response.text);
    return upstream.sent.at(-1)?.body.prompt_cache_key;
  }

  return { app, post, sent: upstream.sent };
}

const SESSION = { "x-gateway-sessionid": "s" };

/** A request of each client API, to a provider. */
const REQUESTS: readonly (readonly [path: string, body: (to: string) => JsonObject])[] = [
  ["chat/completions", (to) => ({ model: `${to}/sim-echo`, messages: [HI] })],
  ["responses", (to) => ({ model: `${to}/sim-echo`, input: "Hi" })],
  ["messages", (to) => ({ model: `${to}/sim-echo`, messages: [HI], max_tokens: 64 })],
];

Deno.test("each client's requests to chat completions and responses get the key of their session, if the provider is set so", async () => {
  const keyed = keyedGateway(", prompt_cache_key: session");
  const plain = keyedGateway("");
  const keys = new Set<unknown>();
  for (const [path, bodyFor] of REQUESTS) {
    for (const provider of ["compat", "native"]) {
      const key = await keyed.post(path, bodyFor(provider), SESSION);
      assertMatch(String(key), /^sy_[\w-]{32}$/);
      keys.add(key);
      assertEquals(await keyed.post(path, bodyFor(provider)), undefined, "no session");
      assertEquals(await plain.post(path, bodyFor(provider), SESSION), undefined);
      if (path === "messages") continue;
      const own = { ...bodyFor(provider), prompt_cache_key: "own" };
      assertEquals(await keyed.post(path, own, SESSION), "own");
    }
  }
  assertEquals(keys.size, 1);
});

Deno.test("two client keys with the same session get different keys", async () => {
  const { post } = keyedGateway(", prompt_cache_key: session", twoKeys());
  const body = { model: "compat/sim-echo", messages: [HI] };
  const made = [];
  for (const name of ["ada", "bob"]) {
    made.push(await post("chat/completions", body, { ...SESSION, ...keyOf(name) }));
  }
  assertEquals(new Set(made).size, 2);
});

Deno.test("a made key does not part the entries of the response cache", async () => {
  const { app, sent } = keyedGateway(", prompt_cache_key: session", "caching: {enabled: true}");
  const ask = async (name: string) => {
    const body = { model: "compat/sim-echo" };
    const response = await got(await app(chatRequest({ headers: { "session-id": name }, body })));
    return response.headers.get("x-gateway-cache-status");
  };
  assertEquals([await ask("a"), await ask("b")], ["MISS", "HIT"]);
  assertEquals(sent.length, 1);
});
