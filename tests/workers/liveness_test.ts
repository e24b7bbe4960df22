import { newLiveness } from "../../src/workers/liveness.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

/** The check of a process that responds while `isResponding`. */
function newChecked() {
  const world = scriptedWorld();
  const state = { isResponding: true, pings: 0, reason: "" };
  const liveness = newLiveness({
    world,
    ping() {
      state.pings++;
      if (state.isResponding) liveness.heard();
    },
    hung: (reason) => void (state.reason = reason),
  });
  liveness.begin();
  return { world, state, liveness };
}

Deno.test("a process that responds receives a ping every 5 s and never counts as hung", async () => {
  const { world, state, liveness } = newChecked();
  await world.advance(600_000);
  assertEquals([state.pings, state.reason], [121, ""]);
  liveness.end();
  assertEquals(world.waiting, 0);
});

Deno.test("a process counts as hung 30 s after the first message without a response, and receives no further ping", async () => {
  const { world, state } = newChecked();
  state.isResponding = false;
  await world.advance(5_000 + 29_999);
  assertEquals(state.reason, "");
  await world.advance(1);
  assertEquals([state.reason, world.waiting], ["no response for 30 s", 0]);
});

Deno.test("any message of a process shows that it responds", async () => {
  const { world, state, liveness } = newChecked();
  state.isResponding = false;
  await world.advance(34_999);
  liveness.heard();
  await world.advance(29_999);
  assertEquals(state.reason, "");
  liveness.end();
});
