import { newUnfinishedHeads } from "../../../src/runtime/connections/unfinished_heads.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedSockets, SILENT } from "../../support/scripted_sockets.ts";
import { type ScriptedListener, scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

const KIB = 1024, MIB = 1024 * 1024;

/** Two sweeps: the second one knows which heads are unfinished. */
const TWO_SWEEPS_MS = 10_100;

/** Opens a connection for each number of bytes, which are received before any request. */
function connectAll(listener: ScriptedListener, bytes: readonly number[]) {
  return bytes.map((some, at) => {
    const socket = listener.connect(5 + at, 40_001 + at);
    listener.receive(socket, some);
    return socket;
  });
}

Deno.test("unfinished heads may be 64 MiB together; beyond it the largest ends", async () => {
  using listener = scriptedListener(LIMITS);
  const [first] = connectAll(listener, [10 * MIB, 30 * MIB, 24 * MIB]);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
  if (first !== undefined) listener.receive(first, 1);
  await listener.world.advance(5_000);
  assertEquals(listener.shutDown(), [6]);
  await listener.world.advance(20_000);
  assertEquals(listener.shutDown(), [6], "the others fit now");
});

Deno.test("an unfinished head counts after a request too, also if it has arrived together with it", async () => {
  using listener = scriptedListener(LIMITS);
  const [first] = connectAll(listener, [100, 40 * MIB + 200]);
  const headers = { host: "localhost" };
  await listener.request(40_001, headers).end();
  await listener.request(40_002, headers).end();
  if (first !== undefined) listener.receive(first, 30 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [6]);
});

for (const earlyBytes of [0, 40 * MIB]) {
  Deno.test(`bodies are no heads, of which ${earlyBytes} bytes arrive with the head of the request`, async () => {
    using listener = scriptedListener(LIMITS);
    const sockets = connectAll(listener, [0, 0]);
    for (let count = 0; count < 20; count++) {
      for (const [at, socket] of sockets.entries()) {
        const headers = { host: "localhost", "content-length": String(40 * MIB) };
        listener.receive(socket, 80 + earlyBytes);
        const request = listener.request(40_001 + at, headers, "POST");
        request.peer.admitted?.();
        listener.receive(socket, 40 * MIB - earlyBytes);
        await listener.world.advance(TWO_SWEEPS_MS / 2);
        await request.end();
      }
    }
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown(), []);
  });
}

for (const isAdmitted of [true, false]) {
  for (const isKnown of [true, false]) {
    Deno.test(`what follows the head of a request in chunks is ${isAdmitted ? "its body" : "unfinished unless it is admitted"}, ${isKnown ? "" : "also "}if its descriptor is ${isKnown ? "" : "not "}known`, async () => {
      using listener = scriptedListener(LIMITS);
      const [socket] = connectAll(listener, [0]);
      if (isKnown) await listener.world.advance(TWO_SWEEPS_MS);
      const headers = { host: "localhost", "transfer-encoding": "chunked" };
      if (socket !== undefined) listener.receive(socket, 100);
      const request = listener.request(40_001, headers, "POST");
      if (isAdmitted) request.peer.admitted?.();
      if (socket !== undefined) listener.receive(socket, 65 * MIB);
      await request.end();
      await listener.world.advance(TWO_SWEEPS_MS);
      assertEquals(listener.shutDown(), isAdmitted ? [] : [5]);
    });
  }
}

Deno.test("a head that waits behind a body in chunks is no part of the body", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket] = connectAll(listener, [100]);
  assert(socket !== undefined);
  await listener.world.advance(TWO_SWEEPS_MS);
  const headers = { host: "localhost", "transfer-encoding": "chunked" };
  const request = listener.request(40_001, headers, "POST");
  request.peer.admitted?.();
  listener.receive(socket, 65 * MIB);
  socket.unreadBytes = 65 * MIB;
  await request.end();
  socket.unreadBytes = 0;
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a client without Host speaks HTTP/1.0 if HTTP/2 is not served", async () => {
  using listener = scriptedListener({ ...LIMITS, http2: false });
  const [socket] = connectAll(listener, [30]);
  assert(socket !== undefined);
  await listener.request(40_001, {}).end();
  listener.receive(socket, 65 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a Host with a slash counts once", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket] = connectAll(listener, [32 * MIB]);
  assert(socket !== undefined);
  const host = `a/${"x".repeat(16 * MIB)}`;
  await listener.request(40_001, { host }, "GET", `http://${host}/`).end();
  listener.receive(socket, 49 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("bytes that the size of a request does not have are forgiven with the next one", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket] = connectAll(listener, [0]);
  assert(socket !== undefined);
  for (let count = 0; count < 3; count++) {
    listener.receive(socket, 40 * MIB);
    await listener.request(40_001).end();
    await listener.world.advance(5_000);
  }
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
});

Deno.test("bytes of WebSockets, and those that the runtime has not read, are no heads", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket, unread] = connectAll(listener, [100, 100]);
  const handshake = listener.request(40_001);
  const watch = handshake.peer.watchMessages?.(0, () => {});
  await handshake.end();
  if (socket !== undefined) listener.receive(socket, 100 * MIB);
  if (unread !== undefined) {
    listener.receive(unread, 100 * MIB);
    unread.unreadBytes = 100 * MIB;
  }
  watch?.end();
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
});

Deno.test("a head, and a body that was not admitted, of more than 32 KiB ends its connection after the response", async () => {
  using listener = scriptedListener(LIMITS);
  const sizes = [31 * KIB, 33 * KIB];
  connectAll(listener, [...sizes, ...sizes, ...sizes]);
  const requests = [
    ...sizes.map((bytes) => ({ "x-long": "x".repeat(bytes) })),
    ...sizes.map((bytes) => ({ "content-length": String(bytes) })),
    ...sizes.map((bytes) => ({ "content-length": String(bytes) })),
  ].map((headers, at) => listener.request(40_001 + at, { host: "localhost", ...headers }));
  for (const request of requests.slice(4)) request.peer.admitted?.();
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), []);
  for (const request of requests) await request.end();
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), [6, 8]);
});

Deno.test("when the memory of the process grows by 16 MiB, unfinished heads are looked for at once", async () => {
  using listener = scriptedListener(LIMITS, 64, 100 * MIB);
  connectAll(listener, [65 * MIB]);
  listener.sockets.resident += 16 * MIB;
  await listener.world.advance(500);
  assertEquals(listener.shutDown(), []);
  listener.sockets.resident += 1;
  await listener.world.advance(500);
  assertEquals(listener.shutDown(), [5]);
});

Deno.test("a few bytes more than the size of each request are no head; without a request they are", () => {
  const traffic = { ...SILENT };
  const heads = newUnfinishedHeads(scriptedSockets(8), { now: () => 0 });
  const connection = {
    key: "127.0.0.1 40001",
    descriptor: 5,
    requests: 0,
    requestBytes: 0,
    lookedRequests: 0,
    lookedBytes: 0,
    isMultiplexed: false,
    unfinished: null,
  };
  const request = new Request("http://localhost/");
  function look(bytes: number) {
    traffic.receivedBytes += bytes;
    heads.look(connection, 5, traffic);
    return connection.unfinished !== null;
  }

  for (let at = 0; at < 10; at++) {
    heads.count(connection, request, request.headers);
    connection.requests++;
    assert(!look(8_000), "after a request");
  }
  assert(!look(0));
  assert(look(1), "without a request");
});

Deno.test("the filter of a connection is removed once, after its first bytes", async () => {
  using listener = scriptedListener(LIMITS);
  const [, silent] = connectAll(listener, [100, 0]);
  await listener.world.advance(20_000);
  assertEquals(listener.sockets.accepting, [5]);
  if (silent !== undefined) listener.receive(silent, 100);
  await listener.world.advance(20_000);
  assertEquals(listener.sockets.accepting, [5, 6]);
});
