import { newSocketWriter } from "../../../src/server/websocket/socket_writer.ts";
import { assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

const KIB = 1024;

/** A socket that takes nothing by itself. */
function fakeSocket() {
  const sent: string[] = [];
  let floods = 0;
  const unread: number[] = [];
  const socket = {
    readyState: Number(WebSocket.OPEN),
    bufferedAmount: 0,
    send: (data: unknown) => void sent.push(String(data)),
  };
  const world = scriptedWorld();
  return {
    socket,
    sent,
    world,
    writer: newSocketWriter(
      socket,
      world,
      { soon: (task) => void world.after(1, task), cancel() {} },
      {
        onSend() {},
        onOverflow: () => floods++,
        onUnread: (bytes) => void unread.push(bytes),
      },
    ),
    unread,
    floods: () => floods,
  };
}

function never(): boolean {
  return false;
}

/** Whether a promise is settled, and with what. */
function watched<T>(promise: Promise<T>): { value: T | "waits" } {
  const watch: { value: T | "waits" } = { value: "waits" };
  void promise.then((value) => watch.value = value);
  return watch;
}

Deno.test("there is room until much waits; then the writer waits until less does", async () => {
  const { socket, world, writer, sent } = fakeSocket();
  socket.bufferedAmount = 64 * KIB;
  assertEquals(await writer.send("one", never), true);
  socket.bufferedAmount++;
  const second = watched(writer.send("two", never));
  await world.advance(500);
  assertEquals<unknown>([second.value, sent], ["waits", ["one", "two"]]);
  socket.bufferedAmount = 0;
  await world.advance(20);
  assertEquals(second.value, true);
  assertEquals(world.waiting, 0);
});

Deno.test("a writer that waits learns that the socket is closed, and sends no more", async () => {
  const { socket, world, writer, sent } = fakeSocket();
  socket.bufferedAmount = 300 * KIB;
  const first = watched(writer.send("one", never));
  await world.advance(20);
  socket.readyState = WebSocket.CLOSING;
  await world.advance(20);
  assertEquals(first.value, false);
  assertEquals(await writer.send("two", never), false);
  writer.sendNow("three");
  assertEquals(sent, ["one"]);
  assertEquals(world.waiting, 0);
});

Deno.test("a message out of order is sent immediately, until far too many bytes are unread", () => {
  const { socket, writer, sent, floods } = fakeSocket();
  socket.bufferedAmount = 4 * KIB * KIB;
  writer.sendNow("one");
  assertEquals([sent.length, floods()], [1, 0]);
  socket.bufferedAmount++;
  writer.sendNow("two");
  assertEquals([sent.length, floods()], [1, 1]);
});

Deno.test("unread bytes of messages out of order are counted above 64 KiB, until the client has read them", async () => {
  const { socket, world, writer, unread } = fakeSocket();
  socket.bufferedAmount = 64 * KIB;
  writer.sendNow("one");
  assertEquals([unread, world.waiting], [[], 0]);
  socket.bufferedAmount = 70 * KIB;
  writer.sendNow("two");
  socket.bufferedAmount = 90 * KIB;
  writer.sendNow("three");
  assertEquals([unread, world.waiting], [[70 * KIB, 90 * KIB], 1]);
  await world.advance(500);
  assertEquals([unread.length, world.waiting], [2, 1]);
  socket.bufferedAmount = 10;
  await world.advance(500);
  assertEquals([unread, world.waiting], [[70 * KIB, 90 * KIB, 0], 0]);
  socket.bufferedAmount = 80 * KIB;
  writer.sendNow("four");
  socket.readyState = WebSocket.CLOSED;
  await world.advance(500);
  assertEquals([unread.slice(3), world.waiting], [[80 * KIB, 0], 0]);
});

Deno.test("an urgent message waits for no room, and what is unread then is counted", async () => {
  const { socket, world, writer, unread } = fakeSocket();
  socket.bufferedAmount = 300 * KIB;
  let isUrgent = false;
  const sending = watched(writer.send("one", () => isUrgent));
  await world.advance(100);
  assertEquals<unknown>([sending.value, unread], ["waits", []]);
  isUrgent = true;
  await world.advance(20);
  assertEquals<unknown>([sending.value, unread], [true, [300 * KIB]]);
});
