import { Cancellation } from "../../src/core/cancellation.ts";
import { pause } from "../../src/core/pause.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

async function pausing(cancellation: Cancellation) {
  const world = scriptedWorld();
  let isOver = false;
  const over = pause(world, cancellation, 100).then(() => void (isOver = true));
  await world.advance(99);
  return { world, over, isOver: () => isOver };
}

Deno.test("a pause ends after its time and leaves no cancellation task behind", async () => {
  const cancellation = new Cancellation();
  const { world, over, isOver } = await pausing(cancellation);
  assertEquals(isOver(), false);
  await world.advance(1);
  await over;
  cancellation.cancel(null);
  assertEquals(world.waiting, 0);
});

Deno.test("a cancellation ends a pause and its timer", async () => {
  const cancellation = new Cancellation();
  const { world, over, isOver } = await pausing(cancellation);
  assertEquals(isOver(), false);
  cancellation.cancel(null);
  await over;
  assertEquals(world.waiting, 0);
});

Deno.test("a pause of an already cancelled call does not wait", async () => {
  const cancellation = new Cancellation();
  cancellation.clientDisconnected();
  const { world, isOver } = await pausing(cancellation);
  assertEquals(isOver(), true);
  assertEquals(world.waiting, 0);
});
