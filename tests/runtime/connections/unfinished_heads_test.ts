import {
  newRequested,
  newUnfinishedHeads,
} from "../../../src/runtime/connections/unfinished_heads.ts";
import type { Traffic } from "../../../src/runtime/sockets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedSockets, SILENT } from "../../support/scripted_sockets.ts";
import { type ScriptedListener, scriptedListener } from "../scripted_listener.ts";

const LIMITS = { headMs: 60_000, idleMs: 120_000, writeMs: 60_000 };

const KIB = 1024, MIB = 1024 * 1024;

/** A connection on which nothing has arrived. */
const FOUND = {
  descriptor: 5,
  socket: 1,
  requests: 0,
  isMultiplexed: false,
  isWatched: false,
  ...newRequested(),
};

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
        request.peer.admitted?.({ bodyBytes: 0, bodyHasEnded: false });
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
      if (isAdmitted) request.peer.admitted?.({ bodyBytes: 65 * MIB, bodyHasEnded: false });
      if (socket !== undefined) listener.receive(socket, 65 * MIB);
      await request.end();
      await listener.world.advance(TWO_SWEEPS_MS);
      assertEquals(listener.shutDown(), isAdmitted ? [] : [5]);
    });
  }
}

for (const isRead of [false, true]) {
  Deno.test(`a head behind a body in chunks is no part of the body, which the runtime reads ${isRead ? "before" : "after"} the response`, async () => {
    using listener = scriptedListener(LIMITS);
    const [socket] = connectAll(listener, [100]);
    assert(socket !== undefined);
    await listener.world.advance(TWO_SWEEPS_MS);
    const headers = { host: "localhost", "transfer-encoding": "chunked" };
    const request = listener.request(40_001, headers, "POST");
    request.peer.admitted?.({ bodyBytes: 40 * MIB, bodyHasEnded: false });
    listener.receive(socket, 105 * MIB);
    if (!isRead) socket.unreadBytes = 65 * MIB;
    await request.end();
    socket.unreadBytes = 0;
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown(), [5]);
  });
}

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

for (const uncountedBytes of [64, 100]) {
  Deno.test(`${uncountedBytes} bytes that the size of each request does not have are ${uncountedBytes === 64 ? "" : "not "}forgiven`, async () => {
    using listener = scriptedListener(LIMITS);
    const [socket] = connectAll(listener, [0]);
    assert(socket !== undefined);
    for (let count = 0; count < 10_000; count++) {
      listener.receive(socket, 35 + uncountedBytes);
      await listener.request(40_001).end();
    }
    await listener.world.advance(5_000);
    listener.receive(socket, 63.5 * MIB);
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown(), uncountedBytes === 64 ? [] : [5]);
  });
}

Deno.test("what had arrived at a look may be a head that waits behind the next request", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket] = connectAll(listener, [70 + 40 * MIB]);
  assert(socket !== undefined);
  await listener.request(40_001).end();
  await listener.world.advance(5_000);
  await listener.request(40_001).end();
  listener.receive(socket, 25 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [5]);
});

/** Requests 65 MiB on a connection from port 40,001 with descriptor 5. */
async function requestMany(listener: ScriptedListener) {
  const [first] = connectAll(listener, [0]);
  assert(first !== undefined);
  await listener.world.advance(5_000);
  const headers = { host: "localhost", "content-length": String(65 * MIB) };
  listener.receive(first, 65 * MIB + 100);
  const request = listener.request(40_001, headers, "POST");
  request.peer.admitted?.({ bodyBytes: 0, bodyHasEnded: false });
  return request;
}

for (const descriptor of [5, 6]) {
  Deno.test(`a client that comes back from its port hides no head behind earlier requests, with ${descriptor === 5 ? "the same" : "another"} descriptor`, async () => {
    using listener = scriptedListener(LIMITS);
    await (await requestMany(listener)).end();
    listener.sockets.open.delete(5);
    listener.receive(listener.connect(descriptor, 40_001), 65 * MIB);
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown(), [descriptor]);
  });
}

Deno.test("a request in flight hides no head on another connection from the same port", async () => {
  using listener = scriptedListener(LIMITS);
  const request = await requestMany(listener);
  listener.receive(listener.connect(6, 40_001), 66 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assert(listener.shutDown().includes(6));
  await request.end();
});

for (const isHead of [false, true]) {
  Deno.test(`on two connections from one port to two addresses ${isHead ? "heads" : "bodies"} of more than 64 MiB ${isHead ? "are unfinished, also during a request" : "are no heads"}`, async () => {
    using listener = scriptedListener(LIMITS);
    const pair = [listener.connect(5, 40_001), listener.connect(6, 40_001)];
    await listener.world.advance(TWO_SWEEPS_MS);
    const headers = { host: "localhost", "content-length": String(65 * MIB) };
    for (const socket of pair) {
      const request = listener.request(40_001, isHead ? undefined : headers, "POST");
      request.peer.admitted?.({ bodyBytes: 0, bodyHasEnded: false });
      listener.receive(socket, 33 * MIB);
      await listener.world.advance(TWO_SWEEPS_MS);
      if (isHead) continue;
      listener.receive(socket, 32 * MIB + 100);
      socket.writtenBytes += 100;
      await request.end();
    }
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown().length, isHead ? 1 : 0);
  });
}

for (const [closed, open] of [[5, 6], [6, 5]] as const) {
  Deno.test(`what was requested on one of two connections from one port hides no head once it has closed: ${closed}`, async () => {
    using listener = scriptedListener(LIMITS);
    const pair = [listener.connect(5, 40_001), listener.connect(6, 40_001)];
    await listener.world.advance(TWO_SWEEPS_MS);
    const headers = { host: "localhost", "content-length": String(65 * MIB) };
    const request = listener.request(40_001, headers, "POST");
    request.peer.admitted?.({ bodyBytes: 0, bodyHasEnded: false });
    listener.sockets.open.delete(closed);
    await listener.world.advance(TWO_SWEEPS_MS);
    const rest = pair[open - 5];
    if (rest !== undefined) listener.receive(rest, 65 * MIB);
    await request.end();
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown(), [open]);
  });
}

Deno.test("a body arrives whole while its client opens a connection from the same port", async () => {
  using listener = scriptedListener(LIMITS);
  const first = listener.connect(5, 40_001);
  await listener.world.advance(TWO_SWEEPS_MS);
  const headers = { host: "localhost", "content-length": String(80 * MIB) };
  const request = listener.request(40_001, headers, "POST");
  listener.receive(first, 10 * MIB);
  listener.connect(6, 40_001);
  await listener.world.advance(TWO_SWEEPS_MS);
  listener.receive(first, 70 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
  await request.end();
});

/** A request with a body of 80 MiB, which is admitted. */
function upload(listener: ScriptedListener, isChunked = false) {
  const size = isChunked
    ? { "transfer-encoding": "chunked" }
    : { "content-length": String(80 * MIB) };
  const request = listener.request(40_001, { host: "localhost", ...size }, "POST");
  request.peer.admitted?.({ bodyBytes: 80 * MIB, bodyHasEnded: false });
  return request;
}

for (const event of ["closes", "sends a head", "is open"] as const) {
  Deno.test(`a body ${event === "is open" ? "in chunks " : ""}arrives whole while another connection from its port ${event}`, async () => {
    using listener = scriptedListener(LIMITS);
    const [socket, other] = [listener.connect(5, 40_001), listener.connect(6, 40_001)];
    await listener.world.advance(TWO_SWEEPS_MS);
    const request = upload(listener, event === "is open");
    listener.receive(socket, 10 * MIB);
    if (event === "closes") listener.sockets.open.delete(6);
    else if (event === "sends a head") listener.receive(other, 79 * MIB);
    await listener.world.advance(TWO_SWEEPS_MS);
    listener.receive(socket, 70 * MIB + 100);
    listener.answer(socket);
    // The end of a response may be known after the look at what was written.
    await listener.world.advance(5_000);
    await request.end();
    await listener.world.advance(TWO_SWEEPS_MS);
    assertEquals(listener.shutDown(), event === "sends a head" ? [6] : []);
  });
}

Deno.test("a head behind an answered request is ended once the body of another connection from its port is over", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket, other] = [listener.connect(5, 40_001), listener.connect(6, 40_001)];
  await listener.world.advance(TWO_SWEEPS_MS);
  const request = upload(listener);
  listener.receive(socket, 80 * MIB + 100);
  listener.receive(other, 80);
  const further = listener.request(40_001);
  listener.answer(other);
  await further.end();
  await listener.world.advance(TWO_SWEEPS_MS);
  listener.receive(other, 70 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
  listener.answer(socket);
  await request.end();
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [6]);
});

for (const isAlone of [true, false]) {
  Deno.test(`a request is ${isAlone ? "a" : "no"} sign that a head is whole if ${isAlone ? "one socket has" : "several have"} its remote end`, () => {
    let nowMs = 0;
    const heads = newUnfinishedHeads(scriptedSockets(8), { now: () => nowMs });
    const connection = { ...FOUND, requests: 1, countedBytes: 100 * KIB, lookedRequests: 1 };
    for (nowMs of [0, 50]) {
      connection.requests++;
      heads.look(connection, { ...SILENT, receivedBytes: 65 * MIB }, { isAlone });
      assertEquals(heads.end(), nowMs === 50 && !isAlone, `after ${nowMs} ms`);
    }
  });
}

Deno.test("a body in chunks that ends after its client has come back does not belong to the new connection", async () => {
  using listener = scriptedListener(LIMITS);
  connectAll(listener, [100]);
  await listener.world.advance(5_000);
  const headers = { host: "localhost", "transfer-encoding": "chunked" };
  const request = listener.request(40_001, headers, "POST");
  request.peer.admitted?.({ bodyBytes: 65 * MIB, bodyHasEnded: false });
  listener.sockets.open.delete(5);
  const socket = listener.connect(6, 40_001);
  await listener.world.advance(5_000);
  await request.end();
  listener.receive(socket, 65 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [6]);
});

Deno.test("bytes of WebSockets, and those that the runtime has not read, are no heads", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket, unread] = connectAll(listener, [100, 100]);
  const handshake = listener.request(40_001);
  const watch = handshake.peer.watchMessages?.(0, () => {});
  await handshake.end();
  // The socket is found.
  await listener.world.advance(100);
  if (socket !== undefined) listener.receive(socket, 100 * MIB);
  if (unread !== undefined) {
    listener.receive(unread, 100 * MIB);
    unread.unreadBytes = 100 * MIB;
  }
  watch?.end();
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
});

Deno.test("a WebSocket hides no heads on another connection from its port, and has none itself while it is open", async () => {
  using listener = scriptedListener(LIMITS);
  const pair = [listener.connect(5, 40_001), listener.connect(6, 40_001)];
  const [plain, socket] = pair;
  assert(plain !== undefined && socket !== undefined);
  await listener.world.advance(TWO_SWEEPS_MS);
  const handshake = listener.request(40_001);
  await handshake.peer.located?.();
  listener.answer(socket);
  const watch = handshake.peer.watchMessages?.(0, () => {});
  await handshake.end();
  listener.receive(socket, 65 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
  listener.receive(plain, 65 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [5]);
  listener.sockets.open.delete(5);
  watch?.end();
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
  listener.receive(socket, 65 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [6]);
});

Deno.test("a client that comes back from the port of its WebSocket hides no heads", async () => {
  using listener = scriptedListener(LIMITS);
  listener.connect(5, 40_001);
  const handshake = listener.request(40_001);
  const watch = handshake.peer.watchMessages?.(0, () => {});
  await handshake.end();
  await listener.world.advance(TWO_SWEEPS_MS);
  listener.receive(listener.connect(5, 40_001), 65 * MIB);
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), [5]);
  watch?.end();
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
  for (const request of requests.slice(4)) {
    request.peer.admitted?.({ bodyBytes: 0, bodyHasEnded: false });
  }
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), []);
  for (const request of requests) await request.end();
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), [6, 8]);
});

/** The framing of the chunks of a request body, and what arrives besides. */
interface Framing {
  readonly framingBytes: number;
  readonly unreadBytes?: number;
  readonly hasEnded?: boolean;
}

/** Returns whether the connection ends after the response to each request of one connection. */
async function lastOnes(framings: readonly Framing[], pauseMs = 0, isMultiplexed = false) {
  using listener = scriptedListener(LIMITS);
  const [socket] = connectAll(listener, [0]);
  assert(socket !== undefined);
  // No sweep has found its descriptor yet.
  listener.sockets.lowestFree = () => 6;
  const headers = { ...!isMultiplexed && { host: "localhost" }, "transfer-encoding": "chunked" };
  const areLast: unknown[] = [];
  for (const { framingBytes, unreadBytes = 0, hasEnded = true } of framings) {
    const request = listener.request(40_001, headers, "POST");
    request.peer.admitted?.({ bodyBytes: MIB, bodyHasEnded: hasEnded });
    listener.receive(socket, 70 + MIB + framingBytes + unreadBytes);
    socket.unreadBytes = unreadBytes;
    areLast.push(request.peer.isLast?.());
    await request.end();
    await listener.world.advance(pauseMs);
  }
  await listener.world.advance(1_000);
  assertEquals(listener.shutDown(), areLast.includes(true) ? [5] : []);
  return areLast;
}

Deno.test("a request with more than 8 KiB of framing in its body is the last one of its connection", async () => {
  const much = { framingBytes: 9 * KIB };
  assertEquals(await lastOnes([{ framingBytes: 8 * KIB }]), [false]);
  assertEquals(await lastOnes([much]), [true]);
  assertEquals(await lastOnes([much], 0, true), [false], "over HTTP/2");
  assertEquals(await lastOnes([{ framingBytes: 0, unreadBytes: 9 * KIB }]), [false], "a next one");
  assertEquals(await lastOnes([{ ...much, hasEnded: false }]), [false], "amid its body");
});

Deno.test("the framing of bodies adds up until the next look", async () => {
  const some = { framingBytes: 5 * KIB };
  assertEquals(await lastOnes([some, some, some]), [false, true, true]);
  assertEquals(await lastOnes([some, some, some], 5_000), [false, false, false]);
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

Deno.test("the bytes of a socket that is not the first one from its port are a head at its first look", () => {
  const heads = newUnfinishedHeads(scriptedSockets(8), { now: () => 0 });
  for (const isFirst of [true, false]) {
    const connection = { ...FOUND, requests: 1 };
    if (!isFirst) heads.begin(connection);
    connection.requestBytes = 100 * KIB;
    const traffic = { ...SILENT, receivedBytes: 65 * MIB, writtenBytes: 1 };
    heads.look(connection, traffic, { isAlone: true });
    assertEquals(heads.end(), !isFirst);
  }
});

Deno.test("8 KiB more than the sizes of the requests between two looks are no head; without a request they are", () => {
  const traffic: { -readonly [Member in keyof Traffic]: Traffic[Member] } = { ...SILENT };
  const heads = newUnfinishedHeads(scriptedSockets(8), { now: () => 0 });
  const connection = { ...FOUND };
  /** A request is answered. */
  function request() {
    const request = new Request("http://localhost/");
    heads.count(connection, request, request.headers).ended(true);
    connection.requests++;
    traffic.writtenBytes++;
  }

  function look(bytes: number) {
    traffic.receivedBytes += bytes;
    heads.look(connection, traffic, { isAlone: true });
    return connection.unfinished !== null;
  }

  for (let at = 0; at < 10; at++) {
    request();
    assert(!look(27 + 8 * KIB + 64), "after a request");
  }
  assert(!look(0));
  assert(look(1), "without a request");
  request();
  traffic.unsentBytes = 1;
  assert(look(8 * KIB), "behind a response that waits for its client");
});

Deno.test("the filter of a connection is removed once, after its first bytes", async () => {
  using listener = scriptedListener(LIMITS);
  const [, silent] = connectAll(listener, [100, 0]);
  await listener.world.advance(20_000);
  assertEquals(listener.sockets.accepting, [5]);
  if (silent !== undefined) listener.receive(silent, 100);
  await listener.world.advance(20_000);
  assertEquals(listener.sockets.accepting, [5, 6]);
  listener.receive(listener.connect(7, 40_002), 100);
  await listener.world.advance(20_000);
  assertEquals(listener.sockets.accepting.includes(7), true, "a client that comes back");
});

Deno.test("a request counts with the bytes of its path, which may have raw UTF-8", async () => {
  using listener = scriptedListener(LIMITS);
  const [socket] = connectAll(listener, [0]);
  const path = "日".repeat(9_000);
  for (let count = 0; count < 4_000; count++) {
    if (socket !== undefined) listener.receive(socket, 3 * path.length);
    await listener.request(40_001, { host: "localhost" }, "GET", `http://localhost/${path}`).end();
  }
  await listener.world.advance(TWO_SWEEPS_MS);
  assertEquals(listener.shutDown(), []);
});

Deno.test("connections that share their remote end with another one are at most 256", async () => {
  using listener = scriptedListener(LIMITS, 1_024);
  for (let at = 0; at < 300; at++) listener.connect(5 + at, 40_001 + Math.floor(at / 2));
  for (let at = 300; at < 310; at++) listener.connect(5 + at, 40_001 + at);
  await listener.world.advance(TWO_SWEEPS_MS);
  const ended = listener.shutDown();
  assertEquals([ended.length, Math.max(...ended) < 305], [300 - 256, true]);
});
