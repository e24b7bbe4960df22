import process from "node:process";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { admit } from "../../src/server/admit.ts";
import { takePlace } from "../../src/server/overload.ts";
import { receiveBody } from "../../src/server/receive_body.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { endpointAt } from "../observe/reports.ts";
import { oneProvider, serveGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { connectRaw } from "./raw_connection.ts";

const KIB = 1024;

const PATH = "/v1/chat/completions";

/** An admitted call, and the vault in which it holds its body. */
function admittedCall() {
  const config = configOf(oneProvider("http://up.test"));
  const gateway = newGateway(compile(config, 1), scriptedWorld(), []);
  const request = new Request(`http://localhost${PATH}`, { method: "POST" });
  const call = admit(gateway, request, PATH, endpointAt(PATH));
  assertEquals(takePlace(call), null);
  return { call, vault: gateway.vault };
}

/** A body that comes in pieces of so many bytes, and the buffers that it was read into. */
function bodyInPieces(pieces: readonly number[]) {
  const buffers: number[] = [];
  const coming = [...pieces];
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { byobRequest } = controller;
      const view = byobRequest?.view ?? null;
      assert(byobRequest !== null && view !== null);
      buffers.push(view.buffer.byteLength);
      const wanted = coming.shift() ?? 0;
      const given = Math.min(wanted, view.byteLength);
      if (given < wanted) coming.unshift(wanted - given);
      new Uint8Array(view.buffer, view.byteOffset, given).fill(120);
      if (given === 0) controller.close();
      byobRequest.respond(given);
    },
  });
  return { body, buffers };
}

Deno.test("memory grows with what has arrived, whatever length is declared", async () => {
  const { call, vault } = admittedCall();
  const pieces = Array.from({ length: 64 }, () => KIB);
  const { body, buffers } = bodyInPieces(pieces);
  const received = await receiveBody(call, body, 10_000_000, 30_000);
  assert(received.ok);
  assertEquals([received.value.byteLength, vault.admission.bodyBytes()], [64 * KIB, 64 * KIB]);
  assertEquals(received.value.buffer.byteLength, 64 * KIB, "nothing is kept beside it");
  for (const [index, size] of buffers.entries()) {
    assert(size <= Math.max(16 * KIB, 2 * index * KIB), `${size} bytes after ${index} KiB`);
  }
});

Deno.test("a body in one-byte pieces is gathered in one buffer that doubles", async () => {
  const { call } = admittedCall();
  const count = 40 * KIB;
  const { body, buffers } = bodyInPieces(Array.from({ length: count }, () => 1));
  const received = await receiveBody(call, body, null, 30_000);
  assert(received.ok);
  assertEquals(received.value.byteLength, count);
  assertEquals(buffers.length, count + 1, "one read for each piece, and one for the end");
  assertEquals([...new Set(buffers)], [16 * KIB, 32 * KIB, 64 * KIB]);
});

Deno.test("a body of a known length takes no more than that, and is not read beyond", async () => {
  const { call } = admittedCall();
  const { body, buffers } = bodyInPieces([100, 900]);
  const received = await receiveBody(call, body, 1_000, 30_000);
  assert(received.ok);
  assertEquals([received.value.byteLength, buffers], [1_000, [1_000, 1_000]]);
});

Deno.test("pieces of a stream that is not made of bytes are joined", async () => {
  const { call } = admittedCall();
  const pieces = [3, 20_000, 1, 50_000].map((size, index) => new Uint8Array(size).fill(index));
  const received = await receiveBody(call, ReadableStream.from(pieces), 5, 30_000);
  assert(received.ok);
  assertEquals(received.value.byteLength, 70_004);
  const starts = [0, 3, 20_003, 20_004].map((at) => received.value[at]);
  assertEquals(starts, [0, 1, 2, 3]);
});

Deno.test("a one-byte chunk costs a few microseconds", async () => {
  const count = 30_000;
  await using gateway = serveGateway(oneProvider("http://127.0.0.1:1"));
  await using connection = await connectRaw(gateway.url);
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n";
  await connection.send(`${head}transfer-encoding: chunked\r\n\r\n`);
  const before = process.cpuUsage();
  await connection.send("1\r\nx\r\n".repeat(count) + "0\r\n\r\n");
  const answer = await connection.receiveUntil("}}");
  const { user, system } = process.cpuUsage(before);
  assert(answer.includes('"invalid_json"'));
  // Five or so; thirty when each is a piece of its own.
  const each = (user + system) / count;
  assert(each < 20, `${each} microseconds of the processor for a chunk`);
});
