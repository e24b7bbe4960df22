import { type GatewayServer, openGateway } from "../../src/cli/gateway_server.ts";
import type { OpenedStore } from "../../src/store/state_store.ts";
import { openStateStore } from "../../src/store/open_store.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { newSwitchedStore, type SwitchedStore } from "../support/switched_store.ts";
import { startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { testClient, testTerminal } from "./test_terminal.ts";

function configText(baseUrl: string, state: string): string {
  return `
server: {port: 0}
state: {store: valkey${state}}
providers: {up: {type: compat, base_url: "${baseUrl}"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
}

/** Opens a gateway over this store. */
async function opened(
  store: SwitchedStore,
  { url = "http://127.0.0.1:1", state = "", more = "" } = {},
): Promise<{ readonly server: GatewayServer; readonly err: () => string }> {
  const terminal = testTerminal();
  const result: OpenedStore = { ok: true, store };
  const server = await openGateway(
    configOf(configText(url, state) + more),
    terminal,
    () => Promise.resolve(result),
  );
  return { server, err: () => terminal.written.err };
}

Deno.test("a store that cannot be opened ends the start with one sentence", async () => {
  const problem = "state.sqlite.path: the folder does not exist";
  const server = await openGateway(
    configOf(configText("http://127.0.0.1:1", "")),
    testTerminal(),
    () => Promise.resolve({ ok: false, problem }),
  );
  assert(!server.ok);
  assertEquals(server.trouble, problem);
});

Deno.test("the store is open before the gateway listens, and closed after its last request", async () => {
  using client = testClient();
  const store = newSwitchedStore(() => 0);
  const goOn = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await using upstream = startUpstream(async ({ json }) => {
    asked.resolve();
    await goOn.promise;
    await json(200, COMPLETION);
  });
  const { server } = await opened(store, { url: upstream.url });
  assert(server.ok);
  assertEquals(store.pings, 1);
  const answer = client.fetch(`${server.url}/v1/responses`, {
    method: "POST",
    body: JSON.stringify({ model: "m", input: "x" }),
  });
  await asked.promise;
  const closing = server.close();
  assert(!store.isClosed);
  goOn.resolve();
  assertEquals((await answer).status, 200);
  await (await answer).body?.cancel();
  await closing;
  assertEquals([store.isClosed, store.objects.stats().responses.entries], [true, 1]);
});

Deno.test("without its store the gateway starts, says so, and /ready is 200", async () => {
  using client = testClient();
  const store = newSwitchedStore(() => 0);
  store.leave();
  const { server, err } = await opened(store);
  assert(server.ok);
  const ready = await client.fetch(`${server.url}/ready`);
  assertEquals([ready.status, await ready.json()], [200, {
    status: "ready",
    providers: 1,
    state: "unavailable",
  }]);
  const metrics = await (await client.fetch(`${server.url}/metrics`)).text();
  assertMatch(metrics, /^gateway_state_up 0$/m);
  assertMatch(err(), /ERROR the state store is unavailable/);
  await server.close();
});

Deno.test("usage that the store has not confirmed at the end is in the log", async () => {
  using client = testClient();
  const store = newSwitchedStore(() => 0);
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  const key = "gk-usage-at-the-end-0123456789";
  const more = `security: {enabled: true, api_key: {keys: [{name: ada, value: ${key}}]}}`;
  const { server, err } = await opened(store, { url: upstream.url, more });
  assert(server.ok);
  store.leave();
  const answer = await client.fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }] }),
  });
  assertEquals([answer.status, (await answer.json()).object], [200, "chat.completion"]);
  await server.close();
  assertMatch(err(), /ERROR the usage of calls may be lost: the store does not answer.*calls=1/);
});

Deno.test("with state.required the gateway does not start without its store", async () => {
  const store = newSwitchedStore(() => 0);
  store.leave();
  const { server } = await opened(store, { state: ", required: true" });
  assert(!server.ok);
  assertMatch(server.trouble, /^state\.required: the state store does not answer/);
  assert(store.isClosed);
});

Deno.test("with state.required /ready is 503 while the store is unavailable", async () => {
  using client = testClient();
  const store = newSwitchedStore(() => 0);
  const { server } = await opened(store, { state: ", required: true" });
  assert(server.ok);
  const before = await client.fetch(`${server.url}/ready`);
  assertEquals([before.status, (await before.json()).state], [200, "ok"]);
  store.leave();
  const refused = await client.fetch(`${server.url}/v1/responses/resp_1`);
  assertEquals([refused.status, (await refused.json()).error.code], [503, "state_unavailable"]);
  const ready = await client.fetch(`${server.url}/ready`);
  assertEquals([ready.status, await ready.json()], [503, {
    status: "not_ready",
    state: "unavailable",
  }]);
  await server.close();
});

Deno.test("the metrics count failed operations, waiting and lost writes", async () => {
  using client = testClient();
  const store = newSwitchedStore(() => 0);
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  const { server } = await opened(store, { url: upstream.url, state: ", max_bytes: 3000" });
  assert(server.ok);
  const { url } = server;
  const metrics = async () => await (await client.fetch(`${url}/metrics`)).text();
  assertMatch(await metrics(), /^gateway_state_up 1$/m);

  async function create(input: string): Promise<string | null> {
    const reply = await client.fetch(`${url}/v1/responses`, {
      method: "POST",
      body: JSON.stringify({ model: "m", input }),
    });
    await reply.body?.cancel();
    return reply.headers.get("x-gateway-state");
  }

  store.leaveAt("response_store");
  assertEquals(await create("x".repeat(5_000)), "lost");
  const text = await metrics();
  assertMatch(text, /^gateway_state_failures_total\{operation="response_store"\} 1$/m);
  assertMatch(text, /^gateway_state_lost_writes_total\{reason="full"\} 1$/m);
  assertMatch(text, /^gateway_state_pending_writes 0$/m);
  assertMatch(text, /^gateway_state_up 0$/m);
  assertMatch(text, /^gateway_state_fallbacks_total\{operation="admit"\} 0$/m);
  await server.close();
});

Deno.test("state in memory opens no store, and /ready and the metrics are as they were", async () => {
  using client = testClient();
  const config = configOf(configText("http://127.0.0.1:1", "").replace("valkey", "memory"));
  const dependencies = { world: scriptedWorld(), log: { warn() {}, error() {} } };
  assertEquals(await openStateStore(config.state, dependencies), null);
  const server = await openGateway(config, testTerminal());
  assert(server.ok);
  const ready = await client.fetch(`${server.url}/ready`);
  assertEquals([ready.status, await ready.json()], [200, { status: "ready", providers: 1 }]);
  const metrics = await (await client.fetch(`${server.url}/metrics`)).text();
  assertMatch(metrics, /^gateway_state_up 1$/m);
  await server.close();
});
