import { Cancellation } from "../../src/core/cancellation.ts";
import { upstreamCause } from "../../src/core/failure/failure.ts";
import { refuse } from "../../src/core/failure/result.ts";
import { newAttemptTimer, type Timeouts } from "../../src/upstream/attempt_timer.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

function timing(timeouts: Partial<Timeouts> = {}) {
  const world = scriptedWorld();
  const call = new Cancellation();
  const timer = newAttemptTimer(world, call, {
    timeoutMs: 100,
    mode: "ttft",
    idleMs: null,
    ...timeouts,
  });
  return { world, call, timer, reason: () => timer.cancellation.reason?.kind ?? null };
}

Deno.test("ttft: an attempt without a byte is cancelled as upstream_timeout", async () => {
  const { world, timer, reason } = timing();
  timer.readStarted();
  await world.advance(99);
  assertEquals(reason(), null);
  await world.advance(1);
  assertEquals(reason(), "upstream_timeout");
  assertEquals(world.waiting, 0);
});

Deno.test("ttft: the first byte ends the timeout", async () => {
  const { world, timer, reason } = timing();
  timer.readStarted();
  timer.bytesReceived();
  assertEquals(world.waiting, 0);
  await world.advance(1_000);
  assertEquals(reason(), null);
});

Deno.test("the first bytes of the body are reported, and no later ones", () => {
  let count = 0;
  const { timer } = timing({ onFirstByte: () => void count++, idleMs: 10 });
  timer.readStarted();
  assertEquals(count, 0);
  timer.bytesReceived();
  timer.readStarted();
  timer.bytesReceived();
  assertEquals(count, 1);
  timer.close();
});

Deno.test("total: bytes do not extend the timeout", async () => {
  const { world, timer, reason } = timing({ mode: "total", idleMs: 60 });
  await world.advance(50);
  timer.readStarted();
  timer.bytesReceived();
  timer.readStarted();
  await world.advance(50);
  assertEquals(reason(), "upstream_timeout");
});

Deno.test("a pending read without bytes for the idle timeout is cancelled as upstream_idle", async () => {
  const { world, timer, reason } = timing({ idleMs: 30 });
  timer.readStarted();
  await world.advance(90);
  timer.bytesReceived();
  timer.readStarted();
  await world.advance(29);
  assertEquals(reason(), null);
  await world.advance(1);
  assertEquals(reason(), "upstream_idle");
});

Deno.test("silence while no read is pending is not counted for the upstream", async () => {
  const { world, timer, reason } = timing({ idleMs: 30 });
  timer.readStarted();
  timer.bytesReceived();
  await world.advance(1_000);
  assertEquals(reason(), null);
});

Deno.test("a cancelled call cancels its attempt with the same reason", () => {
  const { call, timer } = timing();
  const draining = refuse("draining", "The gateway is shutting down.").failure;
  call.cancel(draining);
  assertEquals(timer.cancellation.isCancelled, true);
  assertEquals(timer.cancellation.reason, draining);
});

Deno.test("an attempt of a call that is already cancelled starts cancelled", () => {
  const call = new Cancellation();
  call.clientDisconnected();
  const timer = newAttemptTimer(scriptedWorld(), call, {
    timeoutMs: 100,
    mode: "ttft",
    idleMs: null,
  });
  assertEquals(timer.cancellation.reason?.kind, "client_cancelled");
});

Deno.test("a stopped attempt does not cancel its call, and a closed one leaves no timer", () => {
  const { world, call, timer } = timing({ idleMs: 30 });
  timer.cancellation.cancel(null);
  assertEquals(call.isCancelled, false);
  timer.close();
  assertEquals(world.waiting, 0);
});

Deno.test("a closed attempt is not cancelled with its call", () => {
  const { call, timer } = timing();
  timer.close();
  call.clientDisconnected();
  assertEquals(timer.cancellation.isCancelled, false);
});

Deno.test("a stream without content in time is cancelled, whatever other bytes arrive", async () => {
  for (const idleMs of [null, 1_000]) {
    const { world, timer, reason } = timing({ idleMs });
    timer.awaitContent(150);
    for (const at of [50, 100]) {
      await world.advance(50);
      timer.readStarted();
      timer.bytesReceived();
      assertEquals([at, reason()], [at, null]);
    }
    await world.advance(49);
    assertEquals(reason(), null);
    await world.advance(1);
    const failure = timer.cancellation.reason;
    assertEquals([failure?.kind, upstreamCause(failure)], ["upstream_timeout", "first_content"]);
    timer.close();
    assertEquals(world.waiting, 0);
  }
});

Deno.test("the limit to the first content also ends an attempt without a byte", async () => {
  const { world, timer, reason } = timing();
  timer.awaitContent(30);
  await world.advance(30);
  assertEquals([reason(), world.waiting], ["upstream_timeout", 0]);
});

Deno.test("the first content ends its limit, and a response without a limit has none", async () => {
  const { world, timer, reason } = timing();
  timer.awaitContent(150);
  timer.readStarted();
  timer.bytesReceived();
  timer.contentArrived();
  await world.advance(1_000);
  assertEquals([reason(), world.waiting], [null, 0]);
  const unlimited = timing();
  unlimited.timer.awaitContent(null);
  unlimited.timer.bytesReceived();
  assertEquals(unlimited.world.waiting, 0);
});
