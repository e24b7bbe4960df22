import { openGateway } from "../../src/cli/gateway_server.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { startUpstream } from "../support/upstream.ts";
import { testClient, testTerminal } from "./test_terminal.ts";

Deno.test("a gateway with the store none starts without any server or file, even if a store is required", async () => {
  using client = testClient();
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  const server = await openGateway(
    configOf(`
server: {port: 0}
state: {store: none, required: true}
providers: {up: {type: compat, base_url: "${upstream.url}"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`),
    testTerminal(),
  );
  assert(server.ok);
  try {
    const send = (path: string, init: RequestInit = {}) =>
      client.fetch(`${server.url}${path}`, init);
    const body = JSON.stringify({ model: "m", input: "x" });
    const made = await (await send("/v1/responses", { method: "POST", body })).json();
    assertEquals([made.status, made.store], ["completed", false]);
    const gone = await send(`/v1/responses/${made.id}`);
    assertEquals([gone.status, (await gone.json()).error.code], [400, "state_disabled"]);
    const ready = await send("/ready");
    assertEquals([ready.status, await ready.json()], [200, { status: "ready", providers: 1 }]);
  } finally {
    await server.close();
  }
});
