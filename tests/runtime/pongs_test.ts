import { boundPongs } from "../../src/runtime/pongs.ts";
import { connectRaw } from "../server/raw_connection.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { CONTINUES_CODE, frame, handshake, PONG_CODE, TEXT_CODE } from "../support/raw_frames.ts";

/** A server whose socket says the text of each message when it has read it. */
async function opened(onFlood: (socket: WebSocket) => void) {
  const clock = { time: 0, now: () => clock.time };
  const events: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
    boundPongs(socket, clock, () => {
      events.push("flood");
      onFlood(socket);
    });
    socket.onmessage = ({ data }) => {
      events.push(data);
      socket.send(data);
    };
    socket.onclose = () => events.push("close");
    return response;
  });
  const { port } = server.addr;
  const raw = await connectRaw(`http://127.0.0.1:${port}`);
  await raw.send(handshake(`127.0.0.1:${port}`));
  await raw.receiveUntil("\r\n\r\n");
  return {
    clock,
    events,
    raw,
    async [Symbol.asyncDispose]() {
      await raw[Symbol.asyncDispose]();
      await server.shutdown();
    },
  };
}

const pongs = (count: number, text = "") => frame(PONG_CODE, text).repeat(count);

/** Sends frames and a message after them, and resolves when the server has read all. */
async function sendAll({ raw }: Awaited<ReturnType<typeof opened>>, frames: string) {
  assert(await raw.send(frames + frame(TEXT_CODE, "end")));
  await raw.receiveUntil("end");
}

Deno.test("a client may send 62 pongs within a second, whatever messages come between", async () => {
  await using server = await opened(() => {});
  for (server.clock.time = 0; server.clock.time < 10_000; server.clock.time += 1_000) {
    const between = frame(TEXT_CODE, "hello") + frame(TEXT_CODE, "", false) +
      frame(CONTINUES_CODE, "again");
    await sendAll(server, `${pongs(1, "pong")}${between.repeat(9)}`.repeat(8) + pongs(54));
  }
  assert(!server.events.includes("flood"));
  await sendAll(server, pongs(65));
  assert(server.events.includes("flood"));
});

Deno.test("once the flood has closed the socket, the runtime reads no further frame of it", async () => {
  await using server = await opened((socket) => socket.close(1008));
  assert(await server.raw.send(pongs(1_000) + frame(TEXT_CODE, "end")));
  assertEquals(await server.raw.receiveUntil("end"), "");
  assertEquals(server.events, ["flood", "close"]);
});
