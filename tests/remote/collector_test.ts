import { VERSION } from "../../src/core/build.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { collecting, event, numbersIn, silent, taking } from "./collecting.ts";

const MIB = 1024 * 1024;

function range(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, at) => from + at);
}

Deno.test("events are batched for a second into one POST", async () => {
  const { collector, world, sent } = collecting(taking);
  collector.add(event(0));
  await world.advance(600);
  collector.add(event(1));
  await world.advance(399);
  assertEquals(sent.length, 0);
  await world.advance(1);
  assertEquals(sent.map(({ url, init }) => [url, init.method, init.redirect]), [
    ["https://board.example/x/collector", "POST", "manual"],
  ]);
  assertEquals<unknown>(sent[0]?.init.headers, {
    "user-agent": "switchyard",
    "accept-encoding": "identity",
    "authorization": "Bearer gk-1",
    "content-type": "application/json",
  });
  assertEquals(sent[0]?.body, {
    version: "1.0",
    gateway_version: VERSION,
    instance_id: "i-1",
    timestamp: "2023-11-14T22:13:21.000Z",
    events: [
      { type: "metric", data: { number: 0, text: "" } },
      { type: "metric", data: { number: 1, text: "" } },
    ],
  });
  await world.advance(60_000);
  assertEquals([sent.length, world.waiting], [1, 0]);
  await collector.discard();
});

Deno.test("100 events are sent at once, and a batch never has more", async () => {
  const { collector, world, sent } = collecting(taking);
  for (const number of range(250)) collector.add(event(number));
  await world.advance(0);
  assertEquals(sent.map(numbersIn), [range(100), range(100, 100)]);
  await world.advance(1_000);
  assertEquals(sent.map(numbersIn)[2], range(50, 200));
  await collector.discard();
});

Deno.test("large events are sent in smaller batches, the largest alone", async () => {
  const { collector, world, sent } = collecting(taking);
  const sizes = [3, 3, 3, 12, 1];
  for (const [number, size] of sizes.entries()) collector.add(event(number, size * MIB));
  for (const _ of sizes) await world.advance(1_000);
  assertEquals(sent.map(numbersIn), [[0, 1], [2], [3], [4]]);
  await collector.discard();
});

Deno.test("at most 1,000 events are queued, including those being sent; newer ones are dropped", async () => {
  const test = collecting(silent);
  for (const number of range(1_007)) test.collector.add(event(number));
  assertEquals(test.dropped, 7);
  await test.world.advance(0);
  assertEquals(numbersIn(test.sent[0] ?? { url: "", init: {}, body: null, at: 0 }), range(100));
  test.collector.add(event(2_000));
  assertEquals(test.dropped, 8);
  assertEquals(test.lines.length, 1);
  assertStringIncludes(test.lines[0] ?? "", '"reason":"the queue is full"');
  await test.collector.discard();
  assertEquals(test.dropped, 1_008);
});

Deno.test("at most 64 MiB of events are queued; freed room is used again", async () => {
  const test = collecting((count, init) => count > 1 ? silent(count, init) : taking(1, init));
  for (const number of range(16)) test.collector.add(event(number, 4 * MIB - 100));
  assertEquals(test.dropped, 0);
  test.collector.add(event(16, 4_000));
  assertEquals(test.dropped, 1);
  await test.world.advance(1_000);
  // Two of them were taken.
  for (const number of range(3, 17)) test.collector.add(event(number, 4 * MIB - 100));
  assertEquals(test.dropped, 2);
  await test.collector.discard();
});

Deno.test("no event is sent after the collector was stopped", async () => {
  const test = collecting(taking);
  test.collector.add(event(0));
  await test.collector.discard();
  test.collector.add(event(1));
  await test.world.advance(60_000);
  assertEquals([test.sent.length, test.dropped, test.world.waiting], [0, 2, 0]);
});

Deno.test("shutdown sends the queued events without a delay", async () => {
  const test = collecting(taking);
  for (const number of range(350)) test.collector.add(event(number));
  await test.collector.flush();
  assertEquals(test.sent.flatMap(numbersIn), range(350));
  assertEquals([test.dropped, test.world.waiting], [0, 0]);
});

Deno.test("the final flush waits at most 5 s for a silent dashboard", async () => {
  const test = collecting(silent);
  for (const number of range(150)) test.collector.add(event(number));
  let isOver = false;
  const flushed = test.collector.flush().then(() => isOver = true);
  await test.world.advance(4_999);
  assert(!isOver);
  await test.world.advance(1);
  assert(isOver);
  await flushed;
  assertEquals([test.dropped, test.world.waiting], [150, 0]);
  assertEquals(test.lines.length, 1);
  assertStringIncludes(test.lines[0] ?? "", '"events":150');
});
