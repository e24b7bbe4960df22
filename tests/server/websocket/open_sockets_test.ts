import { newOpenSockets } from "../../../src/server/websocket/open_sockets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

Deno.test("each client may open as many sockets as the limit, and one more for each that is closed", () => {
  const sockets = newOpenSockets(2, scriptedWorld());
  const first = sockets.add("key ada");
  assert(first !== null && sockets.add("key ada") !== null);
  assertEquals([sockets.isFull("key ada"), sockets.add("key ada")], [true, null]);
  assertEquals(sockets.isFull("address 10.0.0.1"), false);
  first();
  assertEquals(sockets.isFull("key ada"), false);
});

Deno.test("one socket is opened in a turn of the event loop, and the first at once", async () => {
  const world = scriptedWorld();
  let opened = 0, timers = 0;
  const sockets = newOpenSockets(2, {
    after(ms, run) {
      timers++;
      return world.after(ms, run);
    },
  });
  const all = Array.from({ length: 3 }, () => sockets.nextTurn().then(() => opened++));
  await all[0];
  assertEquals(opened, 1);
  await world.advance(0);
  await Promise.all(all);
  assertEquals([opened, timers], [3, 3]);
});
