import { Cancellation } from "../../../src/core/cancellation.ts";
import { newOpenSockets, type OpenSockets } from "../../../src/server/websocket/open_sockets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

function nextTurn(
  sockets: OpenSockets,
  client: string,
  cancellation = new Cancellation(),
): Promise<boolean> {
  return sockets.nextTurn(client, cancellation);
}

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
  const all = Array.from({ length: 3 }, () => nextTurn(sockets, "key ada").then(() => opened++));
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
  const turns = ["key ada", "key ada", "key bob"].map((client) => nextTurn(sockets, client));
  assertEquals(await turns[1], false);
  await world.advance(0);
  assertEquals(await Promise.all(turns), [true, false, true]);
  assert(leave !== null && sockets.add("key ada") !== null);
});

Deno.test("a client with one socket waits for one of another client that opens very many", async () => {
  const world = scriptedWorld();
  const sockets = newOpenSockets(250, world);
  const opened: string[] = [];
  const open = (client: string) => nextTurn(sockets, client).then(() => opened.push(client));
  const all = [...Array.from({ length: 100 }, () => open("key many")), open("key ada")];
  for (let turn = 0; turn < 3; turn++) await world.advance(0);
  await all.at(-1);
  assertEquals(opened.indexOf("key ada") <= 2, true);
  for (let turn = 0; turn < 100; turn++) await world.advance(0);
  await Promise.all(all);
});

Deno.test("a socket whose client leaves takes no turn and counts no more", async () => {
  const world = scriptedWorld();
  let timers = 0;
  const sockets = newOpenSockets(100, {
    after(ms, run) {
      timers++;
      return world.after(ms, run);
    },
  });
  const gone = new Cancellation();
  const first = nextTurn(sockets, "key ada");
  const left = Array.from({ length: 99 }, () => nextTurn(sockets, "key ada", gone));
  gone.clientDisconnected();
  assertEquals(new Set(await Promise.all(left)), new Set([false]));
  assertEquals(await first, true);
  const last = nextTurn(sockets, "key ada");
  await world.advance(0);
  assertEquals([await last, timers], [true, 2]);
});
