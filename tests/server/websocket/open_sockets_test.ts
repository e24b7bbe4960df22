import { newOpenSockets } from "../../../src/server/websocket/open_sockets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

Deno.test("each client may open as many sockets as the limit, and one more for each that is closed", () => {
  const sockets = newOpenSockets(2, scriptedWorld());
  const first = sockets.add("key ada");
  assert(first !== null && sockets.add("key ada") !== null);
  assertEquals(sockets.add("key ada"), null);
  assert(sockets.add("address 10.0.0.1") !== null);
  first();
  assert(sockets.add("key ada") !== null);
});

Deno.test("one socket is opened in a turn of the event loop, and the first at once", async () => {
  const world = scriptedWorld();
  let opened = 0, timers = 0;
  const sockets = newOpenSockets(3, {
    after(ms, run) {
      timers++;
      return world.after(ms, run);
    },
  });
  const all = Array.from({ length: 3 }, () => sockets.nextTurn("key ada").then(() => opened++));
  await all[0];
  assertEquals(opened, 1);
  await world.advance(0);
  await Promise.all(all);
  assertEquals([opened, timers], [3, 3]);
});

Deno.test("sockets that wait for their turn count in the limit of their client", async () => {
  const world = scriptedWorld();
  const sockets = newOpenSockets(2, world);
  const leave = sockets.add("key ada");
  const turns = ["key ada", "key ada", "key bob"].map(sockets.nextTurn);
  assertEquals(await turns[1], false);
  await world.advance(0);
  assertEquals(await Promise.all(turns), [true, false, true]);
  assert(leave !== null && sockets.add("key ada") !== null);
});
