import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { World } from "../../../src/core/world.ts";
import type { Config } from "../../../src/config/schema.ts";
import type { SpanExporter } from "../../../src/observe/spans/exporter.ts";
import { newSpanProviders } from "../../../src/observe/spans/span_providers.ts";
import { type Spans, spansTo } from "../../../src/observe/spans/spans.ts";
import { testGateway } from "../../support/gateway.ts";
import { parsedConfig } from "../../support/parsed_config.ts";
import { storeUnderTest } from "../../support/store_under_test.ts";

/** Milliseconds since 1970 at which every span of these tests begins. */
export const NOW_MS = 1_800_000_000_000;

/** Settings with which spans under test are exported. */
export const SETTINGS = {
  serviceName: "test",
  protocol: "auto",
  environment: {},
  log: { info() {}, warn() {} },
  clock: () => NOW_MS,
  provider: () => null,
  turn: () => null,
  // No delay ends: spans are sent when a batch is full, and at the end.
  after: () => () => {},
} as const;

/**
 * An exporter whose collector responds as `respond` says to each batch, given the number of its
 * spans. `spans` are those that were encoded, in order.
 */
export function scriptedExporter(
  respond: (spansCount: number) => Promise<boolean> | boolean = () => true,
) {
  const spans: ReadableSpan[] = [];
  const exporter: SpanExporter = {
    // A piece is the number of its spans.
    encode(piece) {
      spans.push(...piece);
      return Uint8Array.of(piece.length);
    },
    send: async (pieces) => await respond(pieces.reduce((sum, [count = 0]) => sum + count, 0)),
    close() {},
  };
  return { exporter, spans };
}

/** Span export that collects the spans, those of requests first. */
export async function collectedSpans(config: () => Config): Promise<{
  readonly spans: Spans;
  finished(): Promise<readonly ReadableSpan[]>;
}> {
  const { exporter, spans: all } = scriptedExporter();
  const spans = await spansTo(exporter, { ...SETTINGS, provider: newSpanProviders(config) });
  return {
    spans,
    async finished() {
      await spans.flush();
      return all.toSorted((one, other) => one.kind - other.kind);
    },
  };
}

/** A gateway in the process whose spans are collected. */
export async function tracedGateway(config: string, world: World) {
  const parsed = parsedConfig(config);
  const { spans, finished } = await collectedSpans(() => parsed);
  const options = { ...storeUnderTest(world), began: spans.begin };
  return { ...testGateway(config, world, options, [spans.sink]), finished };
}
