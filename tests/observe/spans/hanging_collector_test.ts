import { newCollector } from "../../../src/observe/spans/collector.ts";
import { spansTo } from "../../../src/observe/spans/spans.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { storeUnderTest } from "../../support/store_under_test.ts";
import { scriptedWorld } from "../../support/world.ts";
import { reportOf } from "../reports.ts";
import { scriptedExporter, SETTINGS } from "./traced.ts";

/** Spans in one batch, and in the queue behind it. */
const MAX_BATCH_SPANS = 512, MAX_QUEUED_SPANS = 2_048;

/** An exporter that hangs until it is released, and the sizes of the batches that it was sent. */
function hangingExporter() {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const batches: number[] = [];
  const { exporter, spans } = scriptedExporter((spansCount) => {
    batches.push(spansCount);
    return promise;
  });
  return { exporter, batches, encoded: spans, release: () => resolve(true) };
}

/** Begins and ends a call with long texts of a client, and returns the ID of its span. */
function endCall({ begin, sink }: Awaited<ReturnType<typeof spansTo>>): string {
  const text = "x".repeat(100_000);
  const report = reportOf({ session: text, path: text, client: text });
  begin(report, new Headers());
  sink(report);
  return report.span?.spanId ?? "";
}

Deno.test("calls are responded to while a collector hangs", async () => {
  const { exporter, batches, release } = hangingExporter();
  const spans = await spansTo(exporter, SETTINGS);
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const options = { ...storeUnderTest(world), began: spans.begin };
  const { app } = testGateway(oneProvider("http://up.test/v1"), world, options, [spans.sink]);
  // A batch has 512 spans, and a call has two: after 256 calls the collector hangs.
  for (let call = 0; call < 300; call++) {
    assertEquals((await got(await app(chatRequest()))).status, 200);
  }
  assertEquals(batches, [MAX_BATCH_SPANS]);
  release();
  await spans.flush();
  assertEquals(batches, [MAX_BATCH_SPANS, 600 - MAX_BATCH_SPANS]);
});

Deno.test("a collector that hangs costs the memory of one batch and of one queue", async () => {
  const { exporter, batches, encoded, release } = hangingExporter();
  const logged: string[] = [];
  const log = { info() {}, warn: (line: string) => logged.push(line) };
  const spans = await spansTo(exporter, { ...SETTINGS, log });
  const ids = Array.from({ length: 5_000 }, () => endCall(spans));
  assertEquals(logged, [
    "spans are lost: the collector takes them more slowly than calls make them",
  ]);
  release();
  await spans.flush();
  assertEquals(batches, Array(5).fill(MAX_BATCH_SPANS));
  assertEquals(encoded.length, MAX_BATCH_SPANS + MAX_QUEUED_SPANS);
  // The newest are dropped.
  const [first, last] = [encoded.at(1), encoded.at(-1)].map((span) => span?.spanContext().spanId);
  assertEquals([first, last], [ids[0], ids[encoded.length / 2 - 1]]);
  const sizes = encoded.map(({ attributes }) => JSON.stringify(attributes).length);
  assert(Math.max(...sizes) * encoded.length < 16 * 1024 * 1024);
});

Deno.test("the end of the process waits 5 s for a collector that hangs", async () => {
  const { exporter, batches } = hangingExporter();
  let isClosed = false;
  const world = scriptedWorld();
  const logged: string[] = [];
  const log = { info() {}, warn: (line: string) => logged.push(line) };
  const closing = { ...exporter, close: () => void (isClosed = true) };
  const spans = await spansTo(closing, { ...SETTINGS, log, after: world.after });
  endCall(spans);
  let isFlushed = false;
  const flushed = spans.flush().then(() => isFlushed = true);
  await world.advance(4_999);
  assertEquals([batches, isFlushed, isClosed, logged], [[2], false, false, []]);
  await world.advance(1);
  assertEquals(logged, ["spans are lost: the collector does not accept them"]);
  assertEquals([isFlushed, isClosed, world.waiting], [true, true, 0]);
  await flushed;
});

Deno.test("a collector that responds does not hold up the end of the process", async () => {
  const { exporter, spans: encoded } = scriptedExporter();
  const world = scriptedWorld();
  const spans = await spansTo(exporter, { ...SETTINGS, after: world.after });
  endCall(spans);
  await spans.flush();
  assertEquals([encoded.length, world.now(), world.waiting], [2, 0, 0]);
});

Deno.test("spans that are less than a batch are sent after 5 s, and batches one at a time", async () => {
  const released: ((isAccepted: boolean) => void)[] = [];
  const batches: number[] = [];
  const { exporter } = scriptedExporter((spansCount) => {
    batches.push(spansCount);
    return new Promise((resolve) => released.push(resolve));
  });
  const world = scriptedWorld();
  const spans = await spansTo(exporter, { ...SETTINGS, after: world.after });
  endCall(spans);
  await world.advance(4_999);
  assertEquals(batches, []);
  await world.advance(1);
  assertEquals(batches, [2]);
  for (let call = 0; call < 300; call++) endCall(spans);
  await world.advance(60_000);
  assertEquals(batches, [2]);
  released.shift()?.(true);
  await world.advance(0);
  assertEquals(batches, [2, MAX_BATCH_SPANS]);
  released.shift()?.(true);
  await world.advance(5_000);
  assertEquals(batches, [2, MAX_BATCH_SPANS, 600 - MAX_BATCH_SPANS]);
  released.shift()?.(true);
  await spans.flush();
});

Deno.test("a collector that is closed gives up what is sent, and does not repeat it", async () => {
  for (const status of [200, 503]) {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async () => {
        asked.resolve();
        await released.promise;
        return new Response("", { status, headers: { "retry-after": "60" } });
      },
    );
    const settings = {
      url: `http://127.0.0.1:${server.addr.port}`,
      headers: {},
      timeoutMs: 120_000,
      isCompressed: false,
    };
    const collector = newCollector("application/json", settings, Deno.createHttpClient({}));
    const sent = collector.send(new Uint8Array([1]));
    await asked.promise;
    collector.close();
    released.resolve();
    // Its timers are over too: the test would end with them otherwise.
    assertEquals(await sent, null);
  }
});
