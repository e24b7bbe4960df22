import { assert, assertEquals } from "../support/assert.ts";
import { type Answers, collecting, event, numbersIn, silent, taking } from "./collecting.ts";

/** A dashboard that answers with these statuses, one after the other; 0 breaks the connection. */
function answering(...statuses: readonly number[]): Answers {
  return (count) => {
    const status = statuses[count - 1] ?? 202;
    return status === 0
      ? Promise.reject(new TypeError("connection refused to https://secret.example"))
      : Promise.resolve(new Response(status === 202 ? null : "why", { status }));
  };
}

Deno.test("a broken connection, 429 and 5xx are tried three times, with a pause in between", async () => {
  for (const status of [0, 429, 500, 503]) {
    const test = collecting(answering(status, status, status));
    test.collector.add(event(0));
    await test.world.advance(60_000);
    assertEquals(test.sent.map(({ at }) => at), [1_000, 2_000, 4_000], String(status));
    assertEquals(test.dropped, 1);
    const [, ...again] = test.sent.map(({ body }) => body);
    assertEquals(again, [test.sent[0]?.body, test.sent[0]?.body]);
    await test.collector.discard();
  }
});

Deno.test("a batch that is accepted at a later attempt is not counted as dropped", async () => {
  const test = collecting(answering(503, 0, 200));
  test.collector.add(event(0));
  await test.world.advance(60_000);
  assertEquals([test.sent.length, test.dropped], [3, 0]);
  assertEquals(test.lines, []);
  await test.collector.discard();
});

Deno.test("another status is final: the events are dropped, and no redirect is followed", async () => {
  for (const status of [301, 307, 308, 400, 401, 404, 413]) {
    const test = collecting(answering(status));
    test.collector.add(event(0));
    await test.world.advance(60_000);
    assertEquals([test.sent.length, test.dropped], [1, 1], String(status));
    await test.collector.discard();
  }
});

Deno.test("a silent dashboard delays only its own batch", async () => {
  const test = collecting((count, init) => count > 3 ? taking(count, init) : silent(count, init));
  test.collector.add(event(0));
  await test.world.advance(1_000);
  for (let number = 1; number < 5; number++) test.collector.add(event(number));
  await test.world.advance(32_999);
  assertEquals(test.sent.map(({ at }) => at), [1_000, 12_000, 24_000]);
  await test.world.advance(1_001);
  assertEquals(test.sent.map(numbersIn).at(-1), [1, 2, 3, 4]);
  assertEquals(test.dropped, 1);
  await test.collector.discard();
});

Deno.test("a batch that was accepted is not sent again if the response body hangs or does not end", async () => {
  let cancelled = 0;
  const hanging = () => new ReadableStream({ cancel: () => void cancelled++ });
  const endless = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
      cancel: () => void cancelled++,
    });
  const test = collecting((count) =>
    Promise.resolve(new Response(count === 1 ? hanging() : endless()))
  );
  test.collector.add(event(0));
  await test.world.advance(60_000);
  test.collector.add(event(1));
  await test.world.advance(60_000);
  assertEquals([test.sent.length, test.dropped, cancelled], [2, 0, 2]);
  await test.collector.discard();
});

Deno.test("a failing dashboard is logged once, without its address, and so is its recovery", async () => {
  const test = collecting(answering(401, 401, 202, 202, 0, 0, 0));
  for (let number = 0; number < 5; number++) {
    test.collector.add(event(number));
    await test.world.advance(10_000);
  }
  const logged = test.lines.map((line) => {
    const { time: _time, ...rest } = JSON.parse(line);
    return rest;
  });
  const trouble = "the dashboard does not accept events; they are dropped";
  assertEquals(logged, [
    { level: "warn", msg: trouble, reason: "status 401" },
    { level: "info", msg: "the dashboard accepts events again" },
    { level: "warn", msg: trouble, reason: "no connection" },
  ]);
  assert(!test.lines.join("").includes("secret"));
  await test.collector.discard();
});

Deno.test("stopping the collector ends a pause and a request at once", async () => {
  const pausing = collecting(answering(503));
  pausing.collector.add(event(0));
  await pausing.world.advance(1_500);
  await pausing.collector.discard();
  const asking = collecting(silent);
  asking.collector.add(event(0));
  await asking.world.advance(1_500);
  await asking.collector.discard();
  for (const test of [pausing, asking]) {
    assertEquals([test.sent.length, test.dropped, test.world.waiting], [1, 1, 0]);
  }
});
