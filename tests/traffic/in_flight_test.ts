import { newInFlight } from "../../src/traffic/in_flight.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("idle() resolves when the last call and the last connection have finished", async () => {
  const inFlight = newInFlight();
  inFlight.start("call");
  inFlight.startConnection("socket");
  let isIdle = false;
  const idle = inFlight.idle().then(() => void (isIdle = true));
  inFlight.finish("call");
  inFlight.finish("call");
  inFlight.finish("unknown");
  await Promise.resolve();
  assertEquals([inFlight.count, isIdle], [1, false]);
  inFlight.finish("socket");
  await idle;
  assertEquals([inFlight.count, isIdle], [0, true]);
});

Deno.test("cancelAll() cancels calls, connections and later calls as draining, and counts the calls", () => {
  const inFlight = newInFlight();
  const cancellations = [inFlight.start("a"), inFlight.start("b"), inFlight.startConnection("c")];
  assertEquals(inFlight.cancelAll(), 2);
  cancellations.push(inFlight.start("later"));
  const reasons = cancellations.map(({ reason }) => reason?.kind);
  assertEquals(reasons, ["draining", "draining", "draining", "draining"]);
});

Deno.test("draining calls the tasks that are still subscribed, once, and later ones before it returns", () => {
  const inFlight = newInFlight();
  const ran: string[] = [];
  inFlight.onDrain(() => ran.push("kept"));
  inFlight.onDrain(() => ran.push("unsubscribed"))();
  assertEquals(inFlight.isDraining, false);
  inFlight.drain();
  inFlight.drain();
  inFlight.onDrain(() => ran.push("later"));
  assertEquals(ran, ["kept", "later"]);
  assertEquals(inFlight.isDraining, true);
});
