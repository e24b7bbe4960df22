import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import fc from "fast-check";
import { SPAN_DOCS } from "../../../scripts/tools/reference/spans.ts";
import { isObject } from "../../../src/core/json/json.ts";
import type { Attempt, CallReport } from "../../../src/observe/report.ts";
import type { Collector } from "../../../src/observe/spans/collector.ts";
import { newJsonExporter, newProtobufExporter } from "../../../src/observe/spans/exporter.ts";
import { spansTo } from "../../../src/observe/spans/spans.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { endpointAt, reportOf, tryOf, USAGE } from "../reports.ts";
import { readProtobuf } from "./otlp_reader.ts";
import { scriptedExporter, SETTINGS } from "./traced.ts";

const REPORTS_COUNT = 400;

const text = fc.string({ unit: "grapheme", maxLength: 300 });
const optional = fc.option(text);
const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
const count = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constant(0));

const attempt: fc.Arbitrary<Attempt> = fc.record({
  provider: text,
  key: optional,
  model: text,
  outcome: fc.constantFrom("success", "upstream_timeout", "circuit_open"),
  number: fc.nat(9),
  began: ms,
  ended: ms,
  firstContentMs: ms,
}).map(tryOf);

const call: fc.Arbitrary<Partial<CallReport>> = fc.record({
  method: fc.constantFrom("POST", "GET", "BREW"),
  path: text,
  endpoint: fc.constantFrom("/v1/chat/completions", "/v1/embeddings", "/nowhere").map((path) =>
    endpointAt(path)
  ),
  traceparent: fc.constantFrom(
    null,
    "nonsense",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  ),
  handshake: fc.constantFrom(null, {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
  }),
  session: optional,
  client: optional,
  route: optional,
  status: fc.integer({ min: 100, max: 599 }),
  stream: fc.boolean(),
  usage: fc.constantFrom(null, USAGE),
  cost: fc.constantFrom(null, 0, 0.5, 1e-9, 1e300),
  fallbacks: fc.nat(3),
  lossy: fc.array(text, { maxLength: 20 }),
  verified: fc.array(text, { maxLength: 3 }),
  attempts: fc.array(attempt, { maxLength: 4 }),
  ms: fc.record({
    earlyHead: fc.option(ms),
    firstByte: fc.option(ms),
    firstToken: fc.option(ms),
    upstream: ms,
    total: ms,
  }),
});

/** Spans of a drawn call, whose attempts have learnt from bodies with these counts. */
async function spansOf(
  drawn: Partial<CallReport>,
  counts: readonly number[],
): Promise<readonly ReadableSpan[]> {
  const { exporter, spans: all } = scriptedExporter();
  const spans = await spansTo(exporter, SETTINGS);
  const report = reportOf(drawn);
  spans.begin(report, new Headers({ tracestate: "vendor=1" }));
  const [seed = 0, input = 0, output = 0] = counts;
  for (const [at, one] of report.attempts.entries()) {
    const span = report.span?.beginAttempt({ type: "compat", base_url: "http://up.test/v1" }, null);
    if (span === undefined || at % 2 === 1) continue;
    const body = { seed, top_p: input / 7, stream: at === 0, n: output };
    span.sent("/chat/completions", new TextEncoder().encode(JSON.stringify(body)));
    span.responded(200);
    span.uses(() => ({ ...USAGE, input, output }));
    report.attempts[at] = { ...one, span };
  }
  spans.sink(report);
  await spans.flush();
  return all;
}

/** Returns a value without what protobuf does not write: empty texts, zeros, lists and objects. */
function written(value: unknown, isOneof = false): unknown {
  if (Array.isArray(value)) return value.map((one) => written(one));
  if (!isObject(value)) return value;
  const kept = Object.entries(value)
    .map(([name, one]) => [name, written(one, name === "value")] as const)
    .filter(([, one]) => isOneof || !isDefault(one));
  return Object.fromEntries(kept);
}

function isDefault(value: unknown): boolean {
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return value === 0 || value === "" || value === false || value === undefined || isEmpty;
}

Deno.test("400 drawn reports are the same as JSON and as protobuf", async () => {
  const counts = fc.array(count, { minLength: 3, maxLength: 3 });
  let spansCount = 0;
  await fc.assert(
    fc.asyncProperty(call, counts, async (drawn, counts) => {
      const spans = await spansOf(drawn, counts);
      spansCount += spans.length;
      const json = JsonTraceSerializer.serializeRequest([...spans]) ?? new Uint8Array();
      const protobuf = ProtobufTraceSerializer.serializeRequest([...spans]) ?? new Uint8Array();
      assertEquals(
        written(readProtobuf(protobuf)),
        written(JSON.parse(new TextDecoder().decode(json))),
      );
      for (const { attributes } of spans) {
        for (const value of Object.values(attributes)) {
          const texts = Array.isArray(value) ? value : [value];
          assert(texts.length <= 16);
          assert(texts.every((one) => typeof one !== "string" || one.length <= 256));
        }
      }
    }),
    { numRuns: REPORTS_COUNT },
  );
  assert(spansCount > REPORTS_COUNT);
});

Deno.test("spans that are encoded in pieces are one request with all of them", async () => {
  const spans = [await spansOf({}, []), await spansOf({}, []), await spansOf({}, [])];
  const bodies: Uint8Array[] = [];
  const collector: Collector = {
    send(body) {
      bodies.push(body);
      return Promise.resolve(new Uint8Array());
    },
    close() {},
  };
  for (
    const { encode, send } of [
      newJsonExporter(collector, JsonTraceSerializer),
      newProtobufExporter(collector, ProtobufTraceSerializer),
    ]
  ) {
    assert(await send(spans.map((piece) => encode([...piece]))));
  }
  const [json = new Uint8Array(), protobuf = new Uint8Array()] = bodies;
  const sent = JSON.parse(new TextDecoder().decode(json));
  assertEquals(Object.keys(sent), ["resourceSpans"]);
  assertEquals(
    sent.resourceSpans.flatMap((one: SentSpans) => one.scopeSpans.flatMap(({ spans }) => spans))
      .map(({ spanId }: SentSpan) => spanId),
    spans.flat().map((span) => span.spanContext().spanId),
  );
  assertEquals(written(readProtobuf(protobuf)), written(sent));
});

/** Members that are read of spans sent as JSON. */
interface SentSpan {
  readonly spanId: string;
}
interface SentSpans {
  readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
}

Deno.test("spans that cannot be encoded are logged as lost, and their call ends", async () => {
  const { exporter } = scriptedExporter();
  const encode = () => {
    throw new Error("no form for this span");
  };
  const logged: string[] = [];
  const log = { info() {}, warn: (line: string) => logged.push(line) };
  const spans = await spansTo({ ...exporter, encode }, { ...SETTINGS, log });
  for (let call = 0; call < 100; call++) {
    const report = reportOf();
    spans.begin(report, new Headers());
    spans.sink(report);
  }
  await spans.flush();
  assertEquals(logged, ["spans are lost: the collector does not accept them"]);
});

Deno.test("no span can have more than 64 attributes", () => {
  assert(Object.keys(SPAN_DOCS).length <= 64);
});
