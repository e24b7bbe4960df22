import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { spansTo } from "../../../src/observe/spans/spans.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { storeUnderTest } from "../../support/store_under_test.ts";
import { scriptedWorld } from "../../support/world.ts";
import { reportOf } from "../reports.ts";
import { SETTINGS } from "./traced.ts";

/** Spans in one batch, and in the queue behind it. */
const MAX_BATCH_SPANS = 512, MAX_QUEUED_SPANS = 2_048;

/** An exporter that hangs until it is released. */
function hangingExporter() {
  const batches: (readonly ReadableSpan[])[] = [];
  const waiting: (() => void)[] = [];
  let isReleased = false;
  const exporter: SpanExporter = {
    export(spans, done) {
      batches.push(spans);
      if (isReleased) done({ code: 0 });
      else waiting.push(() => done({ code: 0 }));
    },
    shutdown: () => Promise.resolve(),
  };
  return {
    exporter,
    batches,
    release() {
      isReleased = true;
      for (const done of waiting) done();
    },
  };
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
  assertEquals(batches.map((batch) => batch.length), [MAX_BATCH_SPANS]);
  release();
  await spans.flush();
});

Deno.test("a collector that hangs costs the memory of one batch and of one queue", async () => {
  const { exporter, batches, release } = hangingExporter();
  const told: string[] = [];
  const log = { info() {}, warn: (line: string) => told.push(line) };
  const spans = await spansTo(exporter, { ...SETTINGS, log });
  const text = "x".repeat(100_000);
  const ids: string[] = [];
  function newCall() {
    const report = reportOf({ session: text, path: text, client: text });
    spans.begin(report, new Headers());
    spans.sink(report);
    ids.push(report.span?.spanId ?? "");
  }
  for (let call = 0; call < 5_000; call++) newCall();
  release();
  await takenUp(batches);
  // A loss is logged once, when the queue has room again.
  newCall();
  await spans.flush();
  assertEquals(told, ["spans are lost: the collector takes them more slowly than calls make them"]);
  const exported = batches.flat().slice(0, -2);
  assertEquals(exported.length, MAX_BATCH_SPANS + MAX_QUEUED_SPANS);
  // The newest are dropped.
  const [first, last] = [exported.at(1), exported.at(-1)].map((span) => span?.spanContext().spanId);
  assertEquals([first, last], [ids[0], ids[exported.length / 2 - 1]]);
  const sizes = exported.map(({ attributes }) => JSON.stringify(attributes).length);
  assert(Math.max(...sizes) * exported.length < 16 * 1024 * 1024);
});

/** Waits until the exporter has had every batch of a full queue. */
async function takenUp(batches: readonly (readonly ReadableSpan[])[]): Promise<void> {
  while (batches.flat().length < MAX_BATCH_SPANS + MAX_QUEUED_SPANS) await Promise.resolve();
}
