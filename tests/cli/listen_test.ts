import { listen, type ListenOptions } from "../../src/cli/listen.ts";
import { loadSockets, type Sockets } from "../../src/runtime/sockets.ts";
import type { Peer } from "../../src/runtime/peer.ts";
import type { IdleLimits } from "../../src/runtime/connections/idle_rules.ts";
import { connectRaw } from "../server/raw_connection.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { releasedSockets } from "../support/held_sockets.ts";
import { CLIENT_PING, http2Get, PREFACE, SETTINGS_ACK } from "../support/raw_http2.ts";
import { frame, TEXT_CODE } from "../support/raw_frames.ts";

type Handler = (request: Request, peer: Peer) => Promise<Response>;

/** A text that no peer sends, so that everything up to the end of a connection is received. */
const END = "the end";

const SHORT: IdleLimits = { headMs: 600, idleMs: 600, writeMs: 60_000 };

function listening(handler: Handler, limits: IdleLimits, options?: ListenOptions) {
  const listening = listen(handler, "127.0.0.1", 0, limits, options);
  assert(listening.ok);
  assertEquals(listening.note, null);
  return {
    url: listening.url,
    /**
     * Resolves when a connection that rests was opened and closed: all of the limits have passed.
     */
    async restOver() {
      await using resting = await connectRaw(listening.url);
      assertEquals(await resting.receiveUntil(END), "");
    },
    [Symbol.asyncDispose]: () => listening.close(),
  };
}

const answering: Handler = () => Promise.resolve(new Response("answer"));

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
}

Deno.test("connections without a complete request head are closed, also one that keeps sending", async () => {
  await using server = listening(answering, { headMs: 600, idleMs: 60_000, writeMs: 60_000 });
  await using silent = await connectRaw(server.url);
  await using half = await connectRaw(server.url);
  await half.send("GET / HTTP/1.1\r\nhost: loc");
  await using later = await connectRaw(server.url);
  await later.send(get("/"));
  await later.receiveUntil("answer");
  await using dripping = await connectRaw(server.url);
  await using served = await connectRaw(server.url);
  await dripping.send("GET / HTTP/1.1\r\nx: ");
  let isDripping = true;
  const ended = dripping.receiveUntil(END).then(() => isDripping = false);
  while (isDripping) {
    await dripping.send("x");
    await served.send(get("/"));
    await served.receiveUntil("answer");
  }
  await ended;
  // Long after its last response, so that these bytes belong to the next request.
  await later.send("GET /later HTTP/1.1\r\n");
  for (const connection of [silent, half, later]) {
    assertEquals(await connection.receiveUntil(END), "");
  }
  // An idle connection may stay for longer.
  await server.restOver();
  await served.send(get("/"));
  assertMatch(await served.receiveUntil("answer"), /^HTTP\/1\.1 200 /);
});

Deno.test("a connection is closed when it is idle, after any number of requests", async () => {
  await using server = listening(answering, { headMs: 60_000, idleMs: 600, writeMs: 60_000 });
  for (const count of [1, 3]) {
    await using connection = await connectRaw(server.url);
    for (let sent = 0; sent < count; sent++) {
      await connection.send(get("/"));
      assertMatch(await connection.receiveUntil("answer"), /^HTTP\/1\.1 200 /);
    }
    assertEquals(await connection.receiveUntil(END), "");
  }
});

Deno.test("a request in flight keeps its connection: slow, streamed, or with its body to come", async () => {
  const held = Promise.withResolvers<void>();
  await using server = listening(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/slow") await held.promise;
    if (pathname === "/body") return new Response(`body ${await request.text()} read`);
    if (pathname !== "/stream") return new Response("answer");
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode("begun"));
          await held.promise;
          controller.enqueue(new TextEncoder().encode("answer"));
          controller.close();
        },
      }),
    );
  }, SHORT);
  await using slow = await connectRaw(server.url);
  await slow.send(get("/slow"));
  await using stream = await connectRaw(server.url);
  await stream.send(get("/stream"));
  await stream.receiveUntil("begun");
  await using body = await connectRaw(server.url);
  await body.send("POST /body HTTP/1.1\r\nhost: localhost\r\ncontent-length: 6\r\n\r\nabc");
  for (let count = 0; count < 2; count++) await server.restOver();
  held.resolve();
  await body.send("def");
  assertStringIncludes(await slow.receiveUntil("answer"), "200 OK");
  assertStringIncludes(await stream.receiveUntil("answer"), "answer");
  assertStringIncludes(await body.receiveUntil("read"), "body abcdef read");
  for (const connection of [slow, stream, body]) {
    await connection.receiveUntil(END);
  }
});

Deno.test("a WebSocket keeps its connection while its peer watches it", async () => {
  const messages: string[] = [];
  await using server = listening((request, peer) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    const watch = peer.watchMessages?.(0, () => {});
    socket.onmessage = ({ data }) => {
      watch?.arrived(5);
      messages.push(data);
      socket.send("heard");
    };
    socket.onclose = () => watch?.end();
    return Promise.resolve(response);
  }, SHORT);
  await using client = await connectRaw(server.url);
  await client.send(
    "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await client.receiveUntil("\r\n\r\n");
  for (let count = 0; count < 2; count++) await server.restOver();
  await client.send(frame(TEXT_CODE, "hello"));
  await client.receiveUntil("heard");
  assertEquals(messages, ["hello"]);
});

/** Calls the function with the sockets of this process and the one at a local port. */
function atPort<Result>(
  port: number,
  use: (sockets: Sockets, descriptor: number) => Result,
): Result {
  const sockets = loadSockets();
  assert(sockets !== null);
  const descriptor = Array.from({ length: sockets.bound() }, (_, number) => number)
    .find((number) => sockets.local(number) === `127.0.0.1 ${port}`);
  assert(descriptor !== undefined);
  const result = use(sockets, descriptor);
  sockets.close();
  return result;
}

/** True if all bytes that this process has sent from the port were acknowledged. */
function isDelivered(port: number): boolean {
  return atPort(port, (sockets, descriptor) => sockets.traffic(descriptor)?.isDelivered === true);
}

for (const sizes of [[1_000], [1], [3, 1_000], [16, 1_000], [15, 1, 1_000]]) {
  Deno.test({
    name: `what a client of HTTP/2 sends never arrives, in pieces of ${sizes.join(" and ")} bytes`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using server = listening(answering, SHORT);
      await using client = await connectRaw(server.url);
      const sent = PREFACE + SETTINGS_ACK + http2Get(1, "/", "localhost");
      for (let at = 0, piece = 0; at < sent.length; piece++) {
        const size = sizes[Math.min(piece, sizes.length - 1)]!;
        await client.send(sent.slice(at, at + size));
        at += size;
      }
      await using other = await connectRaw(server.url);
      await other.send(get("/"));
      await other.receiveUntil("answer");
      assert(isDelivered(other.port));
      assert(!isDelivered(client.port));
    },
  });
}

Deno.test({
  name:
    "a client of HTTP/2 that hides the beginning by an urgent byte is answered as one of HTTP/1.1",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using server = listening(answering, SHORT);
    await using client = await connectRaw(server.url);
    sendUrgent(client.port, "PX");
    // The runtime has read these bytes when it has answered the next client.
    await using other = await connectRaw(server.url);
    await other.send(get("/"));
    await other.receiveUntil("answer");
    await client.send(`${PREFACE.slice(1)}${SETTINGS_ACK}`);
    assertMatch(await client.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 400 /);
  },
});

/** Sends a text on the connection of this local port, its last byte as urgent data. */
function sendUrgent(port: number, text: string) {
  const libc = Deno.dlopen("libc.so.6", {
    send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  });
  const bytes = new TextEncoder().encode(text), MSG_OOB = 1;
  atPort(port, (_sockets, descriptor) => {
    const sent = libc.symbols.send(descriptor, bytes, BigInt(bytes.length), MSG_OOB);
    assertEquals(Number(sent), bytes.length);
  });
  libc.close();
}

Deno.test("a body that arrives in pieces like the beginning of HTTP/2 is read whole", async () => {
  await using server = listening(
    async (request) => new Response(`${await request.text()} read`),
    SHORT,
  );
  await using client = await connectRaw(server.url);
  await client.send("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 12\r\n\r\n");
  for (const piece of ["P", "PRI", "PRI * H", "."]) await client.send(piece);
  assertStringIncludes(await client.receiveUntil("read"), "PPRIPRI * H. read");
});

Deno.test("an HTTP/2 connection is closed when no request is in flight on it", async () => {
  const held = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  await using server = listening(
    async (_request, info) => {
      assertEquals(typeof info.disconnect, "function");
      await held.promise;
      ended.resolve();
      return new Response("answer");
    },
    SHORT,
    { http2: true },
  );
  await using client = await connectRaw(server.url);
  await client.send(PREFACE + SETTINGS_ACK + http2Get(1, "/", "localhost"));
  for (let count = 0; count < 2; count++) await server.restOver();
  held.resolve();
  await ended.promise;
  await client.receiveUntil("answer");
  await client.send(CLIENT_PING);
  await client.receiveUntil(END);
  assertEquals(await client.send(CLIENT_PING) && await client.receiveUntil(END), "");
});

for (const framing of ["content-length: 1000", "transfer-encoding: chunked"]) {
  for (const size of [20, 3_000_000]) {
    Deno.test(`a client whose body stalls receives ${size} bytes and the end (${framing})`, async () => {
      await using server = listening(async (request, peer) => {
        const reader = request.body?.getReader();
        await reader?.read();
        peer.disconnect?.();
        await reader?.cancel();
        return new Response("x".repeat(size) + "last", { status: 408 });
      }, { headMs: 60_000, idleMs: 60_000, writeMs: 60_000 });
      const piece = framing.startsWith("content") ? "abc" : "3\r\nabc\r\n";
      await using client = await connectRaw(server.url);
      await client.send(`POST / HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n\r\n${piece}`);
      assertMatch(await client.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 408 /);
      const body = await client.receiveUntil(END);
      assertEquals(body.replaceAll(/[^x]/g, "").length, size);
      assertMatch(body, /xlast(\r\n0\r\n\r\n)?$/);
    });
  }
}

Deno.test({
  name:
    "where sockets cannot be reached requests are served, nothing is closed, and a note says why",
  permissions: { net: true, read: true, ffi: false },
  // The library that the test file holds is unloaded meanwhile, and cannot be loaded again here.
  sanitizeResources: false,
  async fn() {
    using _released = releasedSockets();
    const peers: Peer[] = [];
    const listening = listen(
      (_request, peer) => {
        peers.push(peer);
        return Promise.resolve(new Response("answer"));
      },
      "127.0.0.1",
      0,
      SHORT,
    );
    assert(listening.ok);
    assertEquals(listening.note, "sockets cannot be reached: NotCapable");
    await using connection = await connectRaw(listening.url);
    await connection.send(get("/"));
    assertStringIncludes(await connection.receiveUntil("answer"), "200 OK");
    assertEquals([peers[0]?.disconnect, peers[0]?.watchMessages], [undefined, undefined]);
    await connection.send(get("/"));
    assertStringIncludes(await connection.receiveUntil("answer"), "200 OK");
    await listening.close();
  },
});
