import { batchSettings } from "../../../src/observe/spans/batches.ts";
import { ignoredVariables } from "../../../src/observe/spans/ignored_variables.ts";
import { newSpans, spansTo } from "../../../src/observe/spans/spans.ts";
import { assertEquals } from "../../support/assert.ts";
import { reportOf } from "../reports.ts";
import { scriptedExporter, SETTINGS } from "./traced.ts";

/** Variables of which every one is followed. */
const FOLLOWED = {
  OTEL_SDK_DISABLED: "false",
  OTEL_SERVICE_NAME: "s",
  OTEL_RESOURCE_ATTRIBUTES: "a=b",
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
  OTEL_TRACES_SAMPLER_ARG: "0.25",
  OTEL_PROPAGATORS: "tracecontext,baggage",
  OTEL_METRICS_EXPORTER: "none",
  OTEL_LOGS_EXPORTER: "none",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=secret-1",
  OTEL_EXPORTER_OTLP_TIMEOUT: "10000",
  OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "64",
  OTEL_DENO: "true",
  OTEL_EXPORTER_OTLP_INSECURE: " ",
};

Deno.test("variables that are followed are not named", () => {
  assertEquals(ignoredVariables(FOLLOWED), null);
  assertEquals(ignoredVariables({ PATH: "/bin", HOTEL_NAME: "x" }), null);
});

Deno.test("variables that are not followed are named without their values", () => {
  const wrong = {
    OTEL_TRACES_EXPORTER: "zipkin-secret-2",
    OTEL_TRACES_SAMPLER: "jaeger_remote",
    OTEL_TRACES_SAMPLER_ARG: "25%",
    OTEL_PROPAGATORS: "b3",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: "authorization=secret-1",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "collector:4318",
    OTEL_EXPORTER_OTLP_TIMEOUT: "10s",
    OTEL_EXPORTER_OTLP_COMPRESSION: "zstd",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "0",
    OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: "10",
    OTEL_SDK_DISABLED: "1",
  };
  assertEquals(
    ignoredVariables({ ...FOLLOWED, ...wrong }),
    `variables are not followed, or not in all they say: ${
      Object.keys(wrong).toSorted().join(", ")
    }`,
  );
});

Deno.test("ignored variables are logged at the start, unless spans are switched off", async () => {
  const logged: string[] = [];
  const log = { info() {}, warn: (text: string) => logged.push(text) };
  const environment = { OTEL_METRICS_EXPORTER: "otlp" };
  assertEquals(await newSpans({ ...SETTINGS, log, environment }), null);
  assertEquals(
    await newSpans({
      ...SETTINGS,
      log,
      environment: { ...environment, OTEL_SDK_DISABLED: "TRUE" },
    }),
    null,
  );
  assertEquals(logged, [
    "variables are not followed, or not in all they say: OTEL_METRICS_EXPORTER",
  ]);
});

Deno.test("no spans are sent to an address without http, which the packages would replace", async () => {
  for (const address of ["127.0.0.1:4318", "collector:4318", "/v1", "grpc://collector:4317"]) {
    const logged: string[] = [];
    const log = { info() {}, warn: (text: string) => logged.push(text) };
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: address };
    assertEquals(await newSpans({ ...SETTINGS, log, environment }), null);
    assertEquals(logged.at(-1), NO_ADDRESS);
  }
});

const NO_ADDRESS =
  "no spans are sent: the address of the collector does not begin with http or https";

Deno.test("sizes and times of batches are those of the variables if they are positive integers", () => {
  const settingsWith = (text: string) => Object.values(batchSettings(() => text));
  assertEquals(settingsWith("7"), [7, 7, 7, 7]);
  for (const text of ["", "0", "-5", "1.5", "1e3", "ten", "9".repeat(10), "9".repeat(400)]) {
    assertEquals(settingsWith(text), [512, 2_048, 5_000, 30_000], text);
  }
  // A batch is not larger than the queue.
  const small = batchSettings((name) => name === "OTEL_BSP_MAX_QUEUE_SIZE" ? "10" : "");
  assertEquals([small.maxExportBatchSize, small.maxQueueSize], [10, 10]);
});

Deno.test("batches of no spans do not hold up the end of the process", async () => {
  const { exporter, spans: exported } = scriptedExporter();
  const environment = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "0" };
  const spans = await spansTo(exporter, { ...SETTINGS, environment });
  const report = reportOf();
  spans.begin(report, new Headers());
  spans.sink(report);
  await spans.flush();
  assertEquals(exported.length, 2);
});
