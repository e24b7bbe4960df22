import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { plainConfig } from "./chat_call.ts";
import { delivered } from "./delivered.ts";
import { heldUpstream } from "./held_upstream.ts";
import { HELLO, ROLE, sse } from "./streamed.ts";

/**
 * The runtime's fetch holds the signal weakly: once garbage is collected an abort reaches no body.
 * Here it never does, so that only what the gateway does itself can stop the upstream.
 */
function deaf(settings: string, stream: boolean) {
  const upstream = heldUpstream();
  const world = scriptedWorld({
    fetch: (url, init) => upstream.fetch(url, { ...init, signal: null }),
  });
  const gateway = testGateway(plainConfig("compat", "http://upstream.test", settings), world);
  const client = new AbortController();
  const response = gateway.app(chatRequest({ body: { stream }, signal: client.signal }));
  return { upstream, world, gateway, client, response };
}

Deno.test("a client that disconnects mid-stream ends an upstream body that ignores its signal", async () => {
  const { upstream, world, gateway, response } = deaf("", true);
  upstream.answer();
  upstream.send(sse(ROLE, HELLO));
  const reader = (await response).body?.getReader();
  assertEquals((await reader?.read())?.done, false);
  await reader?.cancel();
  await world.advance(0);
  assert(upstream.isBrokenOff);
  assertEquals(endOf(await gateway.reported(1)), "client_gone");
  assertEquals(world.waiting, 0, "no clock is left running");
});

Deno.test("a client that disconnects mid-body ends an upstream body that ignores its signal", async () => {
  const { upstream, world, gateway, client, response } = deaf("", false);
  upstream.answer("application/json");
  upstream.send('{"id":');
  await world.advance(0);
  client.abort();
  assertEquals((await response).status, 499);
  assert(upstream.isBrokenOff);
  assertEquals(endOf(await gateway.reported(1)), "client_gone");
});

Deno.test("stream_idle_timeout ends a stream whose upstream ignores the signal", async () => {
  const { upstream, world, gateway, response } = deaf(", stream_idle_timeout: 5s", true);
  upstream.answer();
  upstream.send(sse(ROLE, HELLO));
  const text = new Response((await response).body).text();
  await world.advance(5_000);
  assertEquals(delivered(await text).ending, "broken");
  assertEquals(endOf(await gateway.reported(1)), "stream_idle");
  assert(upstream.isBrokenOff);
});

Deno.test("timeout_mode total ends a body whose upstream ignores the signal", async () => {
  const { upstream, world, gateway, response } = deaf(", timeout: 9s, timeout_mode: total", false);
  upstream.answer("application/json");
  upstream.send('{"id":');
  await world.advance(9_000);
  assertEquals((await response).status, 504);
  assertEquals(endOf(await gateway.reported(1)), "upstream_timeout");
  assert(upstream.isBrokenOff);
});
