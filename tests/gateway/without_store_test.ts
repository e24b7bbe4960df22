import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { nativeConfig, nativeGateway } from "../support/native_gateway.ts";
import { NO_STORE } from "../support/no_store.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const ONE = NO_STORE + nativeConfig({ up: {} });

Deno.test("a gateway without a store is ready, and has no state to report there", async () => {
  const { app } = testGateway(ONE, scriptedWorld());
  const ready = await app(new Request("http://localhost/ready"));
  assertEquals([ready.status, await ready.json()], [200, { status: "ready", providers: 1 }]);
});

Deno.test("the gauges of a gateway without a store are up and empty", async () => {
  const calls = nativeGateway(ONE, () => ({ body: {} }));
  const lines = (await calls.scrape()).split("\n");
  assertEquals(lines.includes("gateway_state_up 1"), true);
  assertEquals(lines.includes("gateway_state_pending_writes 0"), true);
  const entries = lines.filter((line) => /^gateway_state_(?:entries|bytes)\{/.test(line));
  assertEquals(entries.length, 14);
  for (const line of entries) assertStringIncludes(line, "} 0");
});

Deno.test("a gateway without a store counts the rate of a client in its process", async () => {
  const limit = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 1}\n";
  const calls = nativeGateway(limit + ONE, () => ({ body: {} }));
  assertEquals((await calls.get("/models")).status, 200);
  assertEquals((await calls.get("/models")).status, 429);
});

Deno.test("a reload does not give a gateway a store: a change of state needs a restart", async () => {
  const calls = nativeGateway(ONE, () => ({ body: {} }));
  calls.reload(nativeConfig({ up: {} }));
  assertEquals((await calls.get("/responses/x")).error.code, "state_disabled");
});
