import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { heldTurns } from "../support/held_turns.ts";
import { scriptedWorld } from "../support/world.ts";

Deno.test("health, readiness and metrics are served while calls wait for their turn to begin", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, JSON.stringify(COMPLETION)) });
  const { app, gateway } = testGateway(oneProvider("http://up.test"), world);
  const held = heldTurns("start");
  Object.assign(gateway.state, { turns: held.turns });
  const call = app(chatRequest());
  await held.waits(1);
  for (const path of ["/health", "/ready", "/metrics"]) {
    const { status } = await got(await app(new Request(`http://localhost${path}`)));
    assertEquals(status, 200, path);
  }
  const { status } = await got(await held.beginUntil(call));
  assertEquals(status, 200);
});

Deno.test("a handshake whose client leaves while it waits has no turn", async () => {
  const world = scriptedWorld();
  const { app } = testGateway(oneProvider("http://up.test"), world);
  const client = new AbortController();
  const open = (init: RequestInit = {}) =>
    app(new Request("http://localhost/v1/responses", init)).then(got);
  const first = open();
  const left = Array.from({ length: 20 }, () => open({ signal: client.signal }));
  await first;
  const last = open();
  await new Promise((resolve) => setTimeout(resolve, 0));
  client.abort();
  // No turn has begun since.
  for (const { status } of await Promise.all(left)) assertEquals(status, 499);
  await world.advance(0);
  await last;
  assertEquals(world.waiting <= 1, true);
});

Deno.test("of handshakes that arrive together one is answered in a turn of the event loop", async () => {
  const world = scriptedWorld();
  const { app } = testGateway(oneProvider("http://up.test"), world);
  let answered = 0;
  const calls = [1, 2].map(async () => {
    await got(await app(new Request("http://localhost/v1/responses")));
    answered++;
  });
  await calls[0];
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(answered, 1);
  await world.advance(0);
  await Promise.all(calls);
});
