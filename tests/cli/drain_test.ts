import { drain } from "../../src/cli/drain.ts";
import { newInFlight } from "../../src/traffic/in_flight.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { configOf, withSection } from "../config/parse.ts";

/** A drain in a scripted world, and what has happened so far. */
function draining(settings: string) {
  const { server } = configOf(withSection(`server: {${settings}}`));
  const world = scriptedWorld();
  const inFlight = newInFlight();
  const happened: string[] = [];
  const closed = Promise.withResolvers<void>();
  const hurry = Promise.withResolvers<void>();
  return {
    world,
    hurry: hurry.resolve,
    inFlight,
    happened,
    lastConnectionCloses: closed.resolve,
    start() {
      const shutDown = () => {
        happened.push("shut down");
        return closed.promise;
      };
      const log = { warn: (text: string) => void happened.push(text) };
      void drain({ inFlight, world, log, shutDown }, server, hurry.promise)
        .then(() => happened.push("over"));
      return world.advance(0);
    },
  };
}

const CUT = "calls were cut off: server.drain_timeout has passed";

Deno.test("a drain is over when the last connection is closed", async () => {
  const drained = draining("");
  drained.inFlight.start("1");
  await drained.start();
  assertEquals(drained.inFlight.isDraining, true);
  assertEquals(drained.happened, ["shut down"]);
  await drained.world.advance(29_999);
  drained.inFlight.finish("1");
  drained.lastConnectionCloses();
  await drained.world.advance(0);
  assertEquals(drained.happened, ["shut down", "over"]);
});

Deno.test("requests are still accepted during drain_delay", async () => {
  const drained = draining("drain_delay: 4s");
  await drained.start();
  assertEquals([drained.inFlight.isDraining, ...drained.happened], [true]);
  await drained.world.advance(3_999);
  assertEquals(drained.inFlight.start("1").reason, null);
  assertEquals(drained.happened, []);
  await drained.world.advance(1);
  assertEquals(drained.happened, ["shut down"]);
});

Deno.test("a drain in a hurry waits for the calls in flight, and no longer for drain_delay", async () => {
  const drained = draining("drain_delay: 1h");
  drained.inFlight.start("1");
  await drained.start();
  assertEquals(drained.happened, []);
  drained.hurry();
  await drained.world.advance(0);
  assertEquals(drained.happened, ["shut down"]);
  drained.inFlight.finish("1");
  drained.lastConnectionCloses();
  await drained.world.advance(0);
  assertEquals(drained.happened, ["shut down", "over"]);
});

Deno.test("calls that outlast drain_timeout are cut off, and their last bytes may still be sent", async () => {
  const drained = draining("drain_delay: 1s, drain_timeout: 10s");
  const cancellation = drained.inFlight.start("1");
  await drained.start();
  await drained.world.advance(10_999);
  assertEquals(cancellation.reason, null);
  await drained.world.advance(1);
  assertEquals([cancellation.reason?.kind, cancellation.isClientGone], ["draining", false]);
  assertEquals(drained.happened, ["shut down", CUT]);
  drained.inFlight.finish("1");
  await drained.world.advance(4_999);
  assertEquals(drained.happened, ["shut down", CUT]);
  drained.lastConnectionCloses();
  await drained.world.advance(0);
  assertEquals(drained.happened, ["shut down", CUT, "over"]);
});

Deno.test("a drain does not wait for a client that never reads its last bytes", async () => {
  const drained = draining("drain_timeout: 0s");
  drained.inFlight.start("1");
  await drained.start();
  assertEquals(drained.happened, ["shut down", CUT]);
  await drained.world.advance(5_000);
  assertEquals(drained.happened, ["shut down", CUT, "over"]);
});

Deno.test("a connection without a call is not waited for to the end, one with a late call is", async () => {
  const drained = draining("");
  await drained.start();
  await drained.world.advance(4_999);
  drained.inFlight.start("late");
  await drained.world.advance(5_000);
  assertEquals(drained.happened, ["shut down"]);
  drained.inFlight.finish("late");
  await drained.world.advance(5_000);
  assertEquals(drained.happened, ["shut down", "over"]);
});
