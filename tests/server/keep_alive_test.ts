import { newMessageEncoder } from "../../src/api/messages/generate/encoder.ts";
import { Cancellation } from "../../src/core/cancellation.ts";
import type { KeepAlive, StreamRecord } from "../../src/core/stream/reply.ts";
import { streamBody } from "../../src/server/stream_body.ts";
import { assertEquals } from "../support/assert.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";
import { labelsOf } from "../api/messages/generate/encoded.ts";

const { keepAlive } = newMessageEncoder(labelsOf());
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const SILENCE_MS = 15_000;

/** A stream whose records come when the test sends them, read by a client that reads at once. */
function streamOf(
  world: ScriptedWorld,
  alive: KeepAlive | null = keepAlive ?? null,
  pingMs = SILENCE_MS,
) {
  const { readable, writable } = new TransformStream<readonly StreamRecord[]>();
  const writer = writable.getWriter();
  const cancellation = new Cancellation();
  const body = streamBody(
    { records: readable, ...alive !== null && { keepAlive: alive } },
    {
      world,
      cancellation,
      flusher: { soon: (task) => void world.after(1, task), cancel() {} },
      pingMs,
      onEnd() {},
    },
  );
  return {
    body,
    send: (data: string) => writer.write([{ event: null, data, raw: null }]),
    close: () => writer.close(),
  };
}

/** Reads what a client receives, one element for each write. */
function newReader(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const seen: string[] = [];
  const over = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      seen.push(new TextDecoder().decode(value));
    }
  })();
  return { seen, over, leave: () => reader.cancel() };
}

Deno.test("a silent stream gets a ping whenever 15 s have passed without a write", async () => {
  const world = scriptedWorld();
  await world.advance(1_000);
  const stream = streamOf(world);
  const { seen, over } = newReader(stream.body);
  await stream.send("a");
  await world.advance(SILENCE_MS - 1);
  assertEquals(seen, ["data: a\n\n"]);
  await world.advance(1);
  assertEquals(seen.slice(1), [PING]);
  await world.advance(SILENCE_MS * 3 - 1);
  assertEquals(seen.slice(2), [PING, PING]);
  await stream.close();
  await world.advance(0);
  await over;
  assertEquals(world.waiting, 0);
});

Deno.test("every write begins the 15 s again", async () => {
  const world = scriptedWorld();
  await world.advance(1_000);
  const stream = streamOf(world);
  const { seen, over } = newReader(stream.body);
  for (const data of ["a", "b", "c", "d"]) {
    await stream.send(data);
    await world.advance(SILENCE_MS - 10);
  }
  assertEquals(seen, ["a", "b", "c", "d"].map((data) => `data: ${data}\n\n`));
  await world.advance(10);
  assertEquals(seen.slice(4), [PING]);
  await stream.close();
  await world.advance(0);
  await over;
});

Deno.test("a client that does not read gets no pings, however long it takes", async () => {
  const world = scriptedWorld();
  await world.advance(1_000);
  const stream = streamOf(world);
  await stream.send("a");
  await world.advance(10);
  await stream.send("b");
  await world.advance(SILENCE_MS * 100);
  const { seen, over } = newReader(stream.body);
  await world.advance(1);
  assertEquals(seen, ["data: a\n\n", "data: b\n\n"]);
  await stream.close();
  await world.advance(0);
  await over;
  assertEquals(world.waiting, 0);
});

Deno.test("pings end when the client leaves", async () => {
  const world = scriptedWorld();
  const stream = streamOf(world);
  const { leave } = newReader(stream.body);
  await stream.send("a");
  await world.advance(SILENCE_MS);
  await leave();
  await world.advance(0);
  await stream.close();
  await world.advance(0);
  assertEquals(world.waiting, 0);
});

Deno.test("a stream without a keep-alive record has no timer, and none has one with an interval of 0", async () => {
  for (const [alive, pingMs] of [[null, SILENCE_MS], [keepAlive ?? null, 0]] as const) {
    const world = scriptedWorld();
    await world.advance(1_000);
    const { body, send, close } = streamOf(world, alive, pingMs);
    const { over } = newReader(body);
    await send("a");
    await world.advance(0);
    assertEquals(world.waiting, 0);
    await close();
    await over;
  }
});

Deno.test("a keep-alive that has no record at the moment writes nothing, and is tried again after its time", async () => {
  const world = scriptedWorld();
  await world.advance(1_000);
  let asked = 0;
  const record = () => ++asked < 3 ? null : { event: null, data: "c", raw: null };
  const stream = streamOf(world, record);
  const { seen, over } = newReader(stream.body);
  await stream.send("a");
  await world.advance(SILENCE_MS * 2);
  assertEquals([seen, asked], [["data: a\n\n"], 2]);
  await world.advance(SILENCE_MS);
  assertEquals(seen.slice(1), ["data: c\n\n"]);
  await stream.close();
  await world.advance(0);
  await over;
});
