import { assert, assertEquals } from "../support/assert.ts";
import { startDashboard } from "../support/dashboard.ts";
import { startUpstream } from "../support/upstream.ts";
import { type OutboundGateway, outboundGateway } from "./outbound_gateway.ts";
import { answering, chat, eventsIn, listModels, sharingConfig } from "./dashboard_events.ts";

const ON = { enabled: true, share_prompts: true, share_responses: true };

/** Resolves when `count` events were dropped. */
async function droppedAtLeast(gateway: OutboundGateway, count: number): Promise<void> {
  while (await gateway.dropped() < count);
}

Deno.test("an unreachable dashboard fails no call; its events are dropped and counted", async () => {
  await using upstream = startUpstream(answering);
  const gone = startDashboard();
  await gone.close();
  await using gateway = await outboundGateway(sharingConfig(upstream.url, gone.url, ON));
  assertEquals(await listModels(gateway, 120), new Set([200]));
  assertEquals(await chat(gateway), 200);
  gateway.reload(sharingConfig(upstream.url, gone.url, { enabled: false }));
  // A chat call and a list of models are two events each.
  await droppedAtLeast(gateway, 242);
  assertEquals(await gateway.dropped(), 242);
});

Deno.test("a silent dashboard fails no call; events above the queue limit are dropped", async () => {
  await using upstream = startUpstream(answering);
  const held = Promise.withResolvers<Response>();
  await using dashboard = startDashboard({
    collector: (_request, count) => count === 1 ? held.promise : new Response(),
  });
  const config = sharingConfig(upstream.url, dashboard.url, { enabled: true });
  await using gateway = await outboundGateway(config);
  assertEquals(await listModels(gateway, 1_020), new Set([200]));
  assertEquals(await chat(gateway), 200);
  assertEquals(eventsIn(await dashboard.collection(1)).length, 100);
  assertEquals(await gateway.dropped(), 21);
  assert(gateway.terminal.written.err.includes('reason="the queue is full"'));
  held.resolve(new Response());
  await gateway.close();
  assertEquals(dashboard.collected.flatMap(eventsIn).length, 1_000);
});

Deno.test("a redirect of the dashboard is not followed, and no batch is sent twice", async () => {
  await using upstream = startUpstream(answering);
  await using other = startDashboard();
  await using dashboard = startDashboard({
    collector: () => new Response(null, { status: 307, headers: { location: other.url } }),
  });
  const config = sharingConfig(upstream.url, dashboard.url, { enabled: true });
  await using gateway = await outboundGateway(config);
  assertEquals(await listModels(gateway, 99), new Set([200]));
  assertEquals(await chat(gateway), 200);
  await droppedAtLeast(gateway, 100);
  assertEquals([dashboard.collected.length, other.requests.length], [1, 0]);
});

Deno.test("an invalid response or error of the dashboard fails no call", async () => {
  await using upstream = startUpstream(answering);
  await using garbage = startUpstream(async (exchange) => {
    await exchange.write("garbage\r\n\r\n");
  });
  await using failing = startDashboard({ collector: () => new Response("{", { status: 500 }) });
  for (const board of [garbage, failing]) {
    const gateway = await outboundGateway(
      sharingConfig(upstream.url, board.url, { enabled: true }),
    );
    assertEquals(await listModels(gateway, 100), new Set([200]));
    assertEquals(await chat(gateway), 200);
    gateway.reload(sharingConfig(upstream.url, board.url, { enabled: false }));
    await droppedAtLeast(gateway, 101);
    await gateway.close();
  }
});

Deno.test("an endless response of the dashboard is read up to a limit and its events count as delivered", async () => {
  await using upstream = startUpstream(answering);
  await using endless = startUpstream(async (exchange) => {
    await exchange.head(200);
    while (await exchange.chunk("x".repeat(1_000)));
  });
  const config = sharingConfig(upstream.url, endless.url, { enabled: true });
  await using gateway = await outboundGateway(config);
  assertEquals(await listModels(gateway, 100), new Set([200]));
  await endless.next();
  await gateway.close();
  assertEquals(endless.requests.length, 1);
});
