import { drain } from "../../../src/cli/drain.ts";
import { assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { heldStream, saying, wordStreams } from "../../support/word_stream.ts";
import { scriptedWorld } from "../../support/world.ts";

const CONFIG = oneProvider("http://up.test");

Deno.test("a gateway that ends closes idle sockets at once", async () => {
  await using served = socketGateway(CONFIG, wordStreams(() => saying("yes")));
  await using used = await served.open();
  await using unused = await served.open();
  await used.turn(create());
  served.gateway.state.inFlight.drain();
  assertEquals([await used.closed, await unused.closed], [1001, 1001]);
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
});

Deno.test("the running turn is finished first; queued turns are refused", async () => {
  const held = heldStream();
  const upstream = wordStreams(held.answer);
  await using served = socketGateway(CONFIG, upstream);
  await using client = await served.open();
  client.send(create());
  client.send(create({ stream_id: "waits" }));
  held.say("one");
  await client.next();
  served.gateway.state.inFlight.drain();
  held.finish();
  assertEquals((await client.rest()).output, "one");
  const { end, error } = await client.rest();
  assertEquals<unknown>([end.stream_id, end.status, error.code], ["waits", 503, "draining"]);
  assertEquals(await client.closed, 1001);
  assertEquals(upstream.sent.length, 1);
});

Deno.test("when the time is over the turn gets its failure, then the socket is closed", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  await using client = await served.open();
  client.send(create());
  held.say("one");
  await client.next();
  await drainFor(served, 0);
  const { ending, events, response } = await client.rest();
  assertEquals([ending, response.status], ["response.failed", "failed"]);
  assertEquals<unknown>(events.map(({ sequence_number: number }) => number), [1, 2, 3, 4, 5]);
  assertEquals(await client.closed, 1001);
  const report = await served.reported(2);
  assertEquals([report.failure?.kind, report.brokeOff], ["draining", true]);
});

Deno.test("a turn without a first event at the end of the drain time gets an error", async () => {
  const arrived = Promise.withResolvers<void>();
  const upstream = wordStreams(({ signal }) => {
    arrived.resolve();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  });
  await using served = socketGateway(CONFIG, upstream);
  await using client = await served.open();
  client.send(create());
  await arrived.promise;
  await drainFor(served, 0);
  const { end, error } = await client.rest();
  assertEquals<unknown>([end.status, error.code], [503, "draining"]);
  assertEquals(await client.closed, 1001);
});

Deno.test("only calls are reported as cancelled, not the sockets on which they ran", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  await using busy = await served.open();
  await using idle = await served.open();
  busy.send(create());
  held.say("one");
  await busy.next();
  assertEquals(await drainFor(served, 0), [{ calls: 1 }]);
  assertEquals((await busy.rest()).ending, "response.failed");
  assertEquals([await busy.closed, await idle.closed], [1001, 1001]);
});

Deno.test("without a cancelled call none is reported, and sockets get their time to close", async () => {
  await using served = socketGateway(CONFIG);
  await using client = await served.open();
  assertEquals(await drainFor(served, 0), []);
  assertEquals(await client.closed, 1001);
});

/**
 * Shuts the gateway down like the program, with this timeout in milliseconds. Returns its warnings.
 */
async function drainFor({ gateway }: SocketGateway, drain_timeout: number): Promise<unknown[]> {
  const warnings: unknown[] = [];
  const { inFlight } = gateway.state;
  const { server } = gateway.generation.config;
  const world = scriptedWorld();
  const ending = drain(
    {
      inFlight,
      world,
      log: { warn: (_text, fields) => void warnings.push(fields) },
      shutDown: () => inFlight.idle(),
    },
    { ...server, drain_delay: 0, drain_timeout },
  );
  await world.advance(drain_timeout);
  await ending;
  return warnings;
}
