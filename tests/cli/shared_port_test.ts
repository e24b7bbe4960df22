import { listen } from "../../src/cli/listen.ts";
import type { MessageWatch } from "../../src/runtime/peer.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { connectFrom, freePort } from "../support/connect_from.ts";
import { CONTINUES_CODE, frame, handshake, TEXT_CODE } from "../support/raw_frames.ts";

const LIMITS = { headMs: 60_000, idleMs: 60_000, writeMs: 60_000 };

const KIB = 1024;

Deno.test("a WebSocket is watched and ended by its own socket, not by another one from its port", async () => {
  const opened = Promise.withResolvers<MessageWatch>();
  const arrived = [100, 300].map((kib) => ({ kib, ...Promise.withResolvers<void>() }));
  let isFlood = false;
  const listening = listen(
    async (request, peer) => {
      await peer.located?.();
      if (!request.headers.has("upgrade")) return new Response("x".repeat(KIB) + "answer");
      const { socket, response } = Deno.upgradeWebSocket(request);
      let watch: MessageWatch | undefined;
      socket.onopen = () => {
        watch = peer.watchMessages?.(100, (unfinished) => {
          isFlood ||= unfinished.isFlood === true || unfinished.isUnknown === true;
          for (const { kib, resolve } of arrived) {
            if (isFlood || unfinished.bytes > kib * KIB) resolve();
          }
        });
        if (watch !== undefined) opened.resolve(watch);
      };
      socket.onclose = socket.onerror = () => watch?.end();
      return response;
    },
    "0.0.0.0",
    0,
    LIMITS,
  );
  assert(listening.ok);
  await using _server = { [Symbol.asyncDispose]: () => listening.close() };
  const port = Number(new URL(listening.url).port);
  const from = freePort();
  using plain = connectFrom(from, "127.0.0.2", port);
  const ask = async () => {
    plain.send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assertStringIncludes(await plain.receiveUntil("answer"), "200 OK");
  };
  await ask();
  using socket = connectFrom(from, "127.0.0.1", port);
  socket.send(handshake("localhost"));
  assertStringIncludes(await socket.receiveUntil("\r\n\r\n"), "101 Switching");
  const watch = await opened.promise;
  socket.send(frame(TEXT_CODE, "x".repeat(200 * KIB), false));
  await arrived[0]?.promise;
  for (let count = 0; count < 20; count++) await ask();
  socket.send(frame(CONTINUES_CODE, "x".repeat(200 * KIB), false));
  await arrived[1]?.promise;
  assertEquals(isFlood, false, "the answers are no pongs");
  watch.abort();
  await socket.receiveUntil("the end");
  await ask();
});
