import { Cancellation } from "../../src/core/cancellation.ts";
import { refuse } from "../../src/core/failure/result.ts";
import { newAttemptTimer } from "../../src/upstream/attempt_timer.ts";
import { openBody, readAll } from "../../src/upstream/body.ts";
import { type LoopTurns, NO_TURNS } from "../../src/traffic/loop_turns.ts";
import { assertEquals } from "../support/assert.ts";
import { heldTurns } from "../support/held_turns.ts";
import { scriptedWorld } from "../support/world.ts";

/** Opens a body of four pieces of 8 KiB, which writes what happens into `order`. */
function openScripted(cancellation: Cancellation, order: string[], turns: LoopTurns) {
  let left = 4;
  const timer = newAttemptTimer(scriptedWorld(), cancellation, {
    timeoutMs: 1_000,
    mode: "total",
    idleMs: null,
  });
  const source = {
    read() {
      order.push("read");
      return Promise.resolve(left-- === 0 ? null : new Uint8Array(8 * 1024));
    },
    cancel: () => Promise.resolve(),
  };
  const body = openBody({ status: 200, headers: new Headers(), body: source }, timer, { turns });
  return { body, timer };
}

Deno.test("each piece of a body is returned in its turn, those after the first 16 KiB as the rest of a body", async () => {
  const order: string[] = [];
  const { body, timer } = openScripted(new Cancellation(), order, {
    next(kind) {
      order.push(kind);
      return Promise.resolve().then(() => void order.push("go"));
    },
  });
  for (let piece = 0; piece < 5; piece++) {
    const { ok } = await body.read();
    order.push(`${ok}`);
  }
  timer.close();
  const [start, rest] = ["start", "rest"].map((kind) => `read ${kind} go true`);
  assertEquals(order.join(" "), `${start} ${start} ${rest} ${rest} read true`);
});

Deno.test("a call that is cancelled while a piece of its response waits has no turn", async () => {
  const cancellation = new Cancellation();
  const held = heldTurns("start");
  const { body, timer } = openScripted(cancellation, [], held.turns);
  const reading = body.read();
  await held.waits(1);
  cancellation.clientDisconnected();
  assertEquals(held.waiting(), 0);
  assertEquals((await reading).ok, false);
  timer.close();
});

Deno.test("a call that is cancelled while a piece of its response waits for its turn gets the reason", async () => {
  const cancellation = new Cancellation();
  const reason = refuse("overloaded", "full");
  const { body, timer } = openScripted(cancellation, [], {
    next: () => Promise.resolve().then(() => cancellation.cancel(reason.failure)),
  });
  assertEquals(await body.read(), reason);
  timer.close();
});

Deno.test("the beginning of a body that is too large is read before the response is cancelled, unless its call is", async () => {
  const cancellation = new Cancellation();
  const { body, timer } = openScripted(cancellation, [], NO_TURNS);
  const over: boolean[] = [];
  let unusual = 0;
  const result = await readAll(body, 20 * 1024, {
    onBeginning(beginning) {
      over.push(beginning.length === 16 * 1024, body.isOver());
      cancellation.cancel(null);
      over.push(body.isOver());
      return Promise.resolve();
    },
    usualBytes: 10 * 1024,
    onUnusual: () => unusual++,
  });
  assertEquals([result.ok, unusual, ...over], [false, 1, true, false, true]);
  timer.close();
});
