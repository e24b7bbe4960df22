import { compile } from "../../src/gateway/compile.ts";
import { refuse } from "../../src/core/failure/result.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { newCall } from "../../src/server/new_call.ts";
import { takePlace } from "../../src/server/admission/overload.ts";
import {
  MAX_BODY_BYTES,
  receiveBlocks,
  receiveBody,
  receiveSmallBody,
} from "../../src/server/receive_body.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { endpointAt } from "../observe/reports.ts";
import { chatRequest, COMPLETION } from "../support/chat_call.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { heldTurns } from "../support/held_turns.ts";
import type { LoopTurns } from "../../src/traffic/loop_turns.ts";
import { scriptedWorld } from "../support/world.ts";
import { bodyInPieces } from "./body_in_pieces.ts";
import { connectRaw } from "./raw_connection.ts";

const KIB = 1024;

const PATH = "/v1/chat/completions";

/** An admitted call among others, and the state in which it holds its body. */
function admittedCall(turns?: LoopTurns, others = 0) {
  const config = configOf(oneProvider("http://up.test"));
  const world = scriptedWorld();
  const gateway = newGateway(compile(config, 1), world, [], turns === undefined ? {} : { turns });
  const request = new Request(`http://localhost${PATH}`, { method: "POST" });
  const call = newCall(gateway, request, PATH, endpointAt(PATH));
  assertEquals(takePlace(call), null);
  for (let other = 0; other < others; other++) gateway.state.admission.admit(`other ${other}`);
  return { call, state: gateway.state, world };
}

Deno.test("the body buffer grows with the bytes received, whatever length is declared", async () => {
  const { call, state } = admittedCall();
  const pieces = Array.from({ length: 64 }, () => KIB);
  const { body, buffers } = bodyInPieces(pieces);
  const received = await receiveBody(call, body, 10_000_000, 30_000, MAX_BODY_BYTES);
  assert(received.ok);
  assertEquals([received.value.byteLength, state.admission.bodyBytes()], [64 * KIB, 64 * KIB]);
  assertEquals(received.value.buffer.byteLength, 64 * KIB, "nothing is kept beside it");
  for (const [index, size] of buffers.entries()) {
    assert(size <= Math.max(16 * KIB, 2 * index * KIB), `${size} bytes after ${index} KiB`);
  }
});

Deno.test("a body in one-byte pieces is gathered in one buffer that doubles", async () => {
  const { call } = admittedCall();
  const count = 40 * KIB;
  const { body, buffers } = bodyInPieces(Array.from({ length: count }, () => 1));
  const received = await receiveBody(call, body, null, 30_000, MAX_BODY_BYTES);
  assert(received.ok);
  assertEquals(received.value.byteLength, count);
  assertEquals(buffers.length, count + 1, "one read for each piece, and one for the end");
  assertEquals([...new Set(buffers)], [16 * KIB, 32 * KIB, 64 * KIB]);
});

Deno.test("a body of a known length takes no more memory than that", async () => {
  const { call } = admittedCall();
  const { body, buffers } = bodyInPieces([100, 900]);
  const received = await receiveBody(call, body, 1_000, 30_000, MAX_BODY_BYTES);
  assert(received.ok);
  assertEquals([received.value.byteLength, buffers], [1_000, [1_000, 1_000, 1]]);
});

Deno.test("every second read of a body and each one behind 32 KiB wait for their turn, in which its client is not late", async () => {
  const held = heldTurns("start", "rest");
  const { call, world } = admittedCall(held.turns);
  const { body, buffers } = bodyInPieces([32 * KIB - 1, 1, 32 * KIB, 64 * KIB, 128 * KIB, KIB]);
  const receiving = receiveBody(call, body, 257 * KIB, 30_000, MAX_BODY_BYTES);
  for (const reads of [0, 2, 3, 4, 5, 6]) {
    await held.waits(1);
    await world.advance(60_000);
    assertEquals(buffers.length, reads);
    held.begin();
  }
  const received = await receiving;
  assertEquals([received.ok && received.value.byteLength, held.waiting()], [257 * KIB, 0]);
  assertEquals(
    held.kinds,
    ["start", "start", "start", "start", "start", "rest"],
    "the rest is behind 256 KiB",
  );
});

Deno.test("empty pieces of a body give its client no more time, also if each read waits for its turn", async () => {
  const held = heldTurns("start", "rest");
  const { call, world } = admittedCall(held.turns);
  const sizes = [32 * KIB];
  let give = () => {};
  const body = new ReadableStream({
    pull: (controller) =>
      new Promise<void>((pulled) => {
        give = () => {
          controller.enqueue(new Uint8Array(sizes.shift() ?? 0));
          pulled();
        };
        if (sizes.length > 0) give();
      }),
  }, { highWaterMark: 0 });
  const receiving = receiveBody(call, body, null, 30_000, MAX_BODY_BYTES);
  // The turn of the beginning.
  await held.waits(1);
  held.begin();
  for (let read = 0; read < 3; read++) {
    await held.waits(1);
    await world.advance(40_000);
    held.begin();
    await world.advance(10_000);
    if (read < 2) give();
  }
  // The three reads took 30 s without the waits.
  const received = await receiving;
  assertEquals(received.ok ? null : received.failure.kind, "request_timeout");
});

Deno.test("the body of a call that is cancelled while it waits for a turn is not read further", async () => {
  const held = heldTurns("start", "rest");
  const { call } = admittedCall(held.turns);
  const { body, buffers } = bodyInPieces([16 * KIB, 16 * KIB, 1]);
  const receiving = receiveBody(call, body, 32 * KIB + 1, 30_000, MAX_BODY_BYTES);
  await held.waits(1);
  held.begin();
  await held.waits(1);
  call.cancellation.clientDisconnected();
  const received = await receiving;
  assertEquals(received.ok ? null : received.failure.kind, "client_cancelled");
  assertEquals([buffers.length, held.waiting()], [2, 0]);
});

for (
  const [others, bytes, reads] of [[62, 127, 256], [63, 511, 16]] as const
) {
  Deno.test(`behind ${reads} reads of chunks of ${bytes} bytes each 128 wait for their turn, among ${others} other calls`, async () => {
    const held = heldTurns("tiny");
    const { call } = admittedCall(held.turns, others);
    const { body, buffers } = bodyInPieces(Array.from({ length: 600 }, () => bytes));
    const receiving = receiveBody(call, body, null, 30_000, MAX_BODY_BYTES);
    for (let turn = 0; reads + turn * 128 <= 600; turn++) {
      await held.waits(1);
      assertEquals(buffers.length, reads + turn * 128);
      held.begin();
    }
    const received = await receiving;
    assertEquals(received.ok && received.value.byteLength, 600 * bytes);
    assertEquals(held.kinds.filter((kind) => kind === "start").length, reads / 2);
  });
}

Deno.test("a body in chunks of 512 bytes is read as any other", async () => {
  const held = heldTurns("start", "rest", "tiny");
  const { call } = admittedCall(held.turns, 63);
  const { body } = bodyInPieces(Array.from({ length: 64 }, () => 512));
  const received = held.beginUntil(receiveBody(call, body, null, 30_000, MAX_BODY_BYTES));
  assertEquals((await received).ok, true);
  assertEquals(held.kinds, Array(33).fill("start"), "before every second read and that of the end");
});

Deno.test("a body in tiny chunks whose turn does not come is refused after the timeout", async () => {
  for (const [first, reads] of [[1, 16], [32 * KIB, 66]] as const) {
    const held = heldTurns("tiny");
    const { call, world } = admittedCall(held.turns, 63);
    const { body, buffers } = bodyInPieces([first, ...Array.from({ length: 400 }, () => 1)]);
    let isOver = false;
    const receiving = receiveBody(call, body, null, 30_000, MAX_BODY_BYTES)
      .finally(() => isOver = true);
    await held.waits(1);
    await world.advance(29_999);
    assert(!isOver);
    await world.advance(1);
    const received = await receiving;
    assertEquals(received.ok ? null : received.failure.kind, "request_timeout");
    held.begin();
    await world.advance(30_000);
    assertEquals([buffers.length, world.waiting], [reads, 0], "nothing is read when it comes");
  }
});

/** Sends this many chunks of one byte in each second, and returns the second of the refusal. */
async function refusedAfter(seconds: number, chunks: (second: number) => number) {
  const { call, world } = admittedCall();
  let controller: ReadableByteStreamController | undefined;
  const body = new ReadableStream({ type: "bytes", start: (one) => void (controller = one) });
  let isOver = false;
  const receiving = receiveBody(call, body, null, 30_000, MAX_BODY_BYTES)
    .finally(() => isOver = true);
  for (let second = 0; second < seconds; second++) {
    for (let chunk = chunks(second); chunk > 0; chunk--) {
      controller?.enqueue(new Uint8Array(1));
      await new Promise((go) => queueMicrotask(() => queueMicrotask(() => go(null))));
    }
    await world.advance(1_000);
    if (isOver) return second + 1;
  }
  controller?.close();
  controller?.byobRequest?.respond(0);
  assert((await receiving).ok);
  return null;
}

Deno.test("a body that brings less than 32 KiB within the timeout is refused then, in few chunks or many", async () => {
  for (const count of [1, 8, 20, 1_000]) {
    assertEquals(await refusedAfter(31, () => count), 30, `${count}`);
  }
});

Deno.test("a body that brings 32 KiB within each timeout may take longer in all", async () => {
  assertEquals(await refusedAfter(62, () => 1_200), null);
  // The last 32 KiB come within the 28th second.
  assertEquals(await refusedAfter(100, (second) => second < 30 ? 1_200 : 1), 57);
});

Deno.test("the memory of a small body is reserved before it arrives, and freed with its call", async () => {
  const { call, state } = admittedCall();
  const request = new Request("http://localhost/", { method: "POST", body: "x".repeat(9) });
  const receiving = receiveSmallBody(call, request, 9, 30_000);
  assertEquals(state.admission.bodyBytes(), 9);
  const received = await receiving;
  assertEquals(received.ok && new TextDecoder().decode(received.value), "x".repeat(9));
  state.admission.release(call.id);
  assertEquals(state.admission.bodyBytes(), 0);
});

Deno.test("a small body above the body memory of the gateway is refused without being read", async () => {
  const { call, state } = admittedCall();
  assertEquals(state.admission.hold(call.id, 256 * 1024 * KIB - 8), null);
  const request = new Request("http://localhost/", { method: "POST", body: "x".repeat(9) });
  const received = await receiveSmallBody(call, request, 9, 30_000);
  assertEquals(received.ok ? null : received.failure.kind, "overloaded");
  assertEquals(request.bodyUsed, false);
});

Deno.test("a client that leaves within a small body cancels its call", async () => {
  const { call } = admittedCall();
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error("the connection is gone")),
  });
  const request = new Request("http://localhost/", { method: "POST", body });
  const received = await receiveSmallBody(call, request, 9, 30_000);
  assertEquals(received.ok ? null : received.failure.kind, "client_cancelled");
});

Deno.test("a form is gathered in blocks that grow with the bytes received and are never copied", async () => {
  const { call } = admittedCall();
  const limits = { declared: null, timeoutMs: 30_000, maxBytes: MAX_BODY_BYTES };
  const { body, buffers } = bodyInPieces(Array.from({ length: 1_700 }, () => KIB));
  const received = await receiveBlocks(call, body, limits, () => null);
  assert(received.ok);
  const sizes = received.value.map(({ buffer }) => buffer.byteLength / KIB);
  assertEquals(sizes, [16, 16, 32, ...Array(26).fill(64)]);
  assertEquals(received.value.reduce((sum, { length }) => sum + length, 0), 1_700 * KIB);
  for (const [index, size] of buffers.entries()) {
    assert(size <= Math.max(16 * KIB, index * KIB), `${size} bytes after ${index} KiB`);
  }
});

Deno.test("the blocks of a form are freed with its call, not by the collector", async () => {
  const limits = { declared: null, timeoutMs: 30_000, maxBytes: MAX_BODY_BYTES };
  for (const isRefused of [false, true]) {
    const { call, state } = admittedCall();
    const { body } = bodyInPieces(Array.from({ length: 100 }, () => KIB));
    const refused = isRefused ? refuse("invalid_multipart", "No.") : null;
    const received = await receiveBlocks(call, body, limits, () => refused);
    assertEquals(received.ok, !isRefused);
    const pieces = received.ok ? received.value : [];
    assertEquals(pieces.map(({ length }) => length / KIB), isRefused ? [] : [16, 16, 32, 36]);
    state.admission.release(call.id);
    assert(pieces.every(({ buffer, length }) => buffer.detached && length === 0));
  }
});

Deno.test("a form that still arrives when its call is released takes no more of its memory", async () => {
  const { call, state } = admittedCall();
  const limits = { declared: null, timeoutMs: 30_000, maxBytes: MAX_BODY_BYTES };
  let controller: ReadableByteStreamController | undefined;
  const body = new ReadableStream({ type: "bytes", start: (one) => void (controller = one) });
  const receiving = receiveBlocks(call, body, limits, () => null);
  controller?.enqueue(new Uint8Array(20 * KIB));
  await Promise.resolve();
  state.admission.release(call.id);
  controller?.enqueue(new Uint8Array(KIB));
  const received = await receiving;
  assert(!received.ok);
  assertEquals(received.failure.kind, "overloaded");
});

Deno.test("pieces of a stream that is not made of bytes are joined", async () => {
  const { call } = admittedCall();
  const pieces = [3, 20_000, 1, 50_000].map((size, index) => new Uint8Array(size).fill(index));
  const received = await receiveBody(call, ReadableStream.from(pieces), 5, 30_000, MAX_BODY_BYTES);
  assert(received.ok);
  assertEquals(received.value.byteLength, 70_004);
  const starts = [0, 3, 20_003, 20_004].map((at) => received.value[at]);
  assertEquals(starts, [0, 1, 2, 3]);
});

Deno.test("a body in one-byte chunks arrives as it was sent", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  await using gateway = serveGateway(oneProvider(upstream.url));
  await using connection = await connectRaw(gateway.url);
  const body = await chatRequest({ body: { user: "é".repeat(1_000) } }).text();
  const chunks = [...new TextEncoder().encode(body)].map((byte) =>
    `1\r\n${String.fromCharCode(byte)}\r\n`
  );
  await connection.send(
    `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  await connection.send(`${chunks.join("")}0\r\n\r\n`);
  assertMatch(await connection.receiveUntil("\r\n\r\n"), /^HTTP\/1\.1 200 /);
  assertEquals(upstream.requests[0]?.body, body);
});
