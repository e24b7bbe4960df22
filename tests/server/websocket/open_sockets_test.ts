import { newOpenSockets } from "../../../src/server/websocket/open_sockets.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("each client may open as many sockets as the limit, and one more for each that is closed", () => {
  const sockets = newOpenSockets(2);
  const first = sockets.add("key ada");
  assert(first !== null && sockets.add("key ada") !== null);
  assertEquals([sockets.isFull("key ada"), sockets.add("key ada")], [true, null]);
  assertEquals(sockets.isFull("address 10.0.0.1"), false);
  first();
  assertEquals(sockets.isFull("key ada"), false);
});
