import { TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-base";
import { newSampling } from "../../../src/observe/spans/sampling.ts";
import { assertEquals } from "../../support/assert.ts";

const LOW = "0".repeat(31) + "1";
const HIGH = "e".repeat(8) + "1".repeat(24);

/** Whether a trace with this ID is sampled: without a client, and as a client decides. */
function decisions(name: string, share = "", traceId = HIGH) {
  const variables: Record<string, string> = {
    OTEL_TRACES_SAMPLER: name,
    OTEL_TRACES_SAMPLER_ARG: share,
  };
  const isSampled = newSampling((name) => variables[name] ?? "", TraceIdRatioBasedSampler);
  const client = { traceId, spanId: "1".repeat(16) };
  return [
    isSampled(traceId, undefined),
    isSampled(traceId, { ...client, traceFlags: 0 }),
    isSampled(traceId, { ...client, traceFlags: 1 }),
  ];
}

Deno.test("each sampler of the standard variables decides as the SDK does", () => {
  assertEquals(decisions(""), [true, false, true]);
  assertEquals(decisions("unknown"), [true, false, true]);
  assertEquals(decisions("always_on"), [true, true, true]);
  assertEquals(decisions("always_off"), [false, false, false]);
  assertEquals(decisions("parentbased_always_on"), [true, false, true]);
  assertEquals(decisions("parentbased_always_off"), [false, false, true]);
  assertEquals(decisions("traceidratio", "0.5", LOW), [true, true, true]);
  assertEquals(decisions("traceidratio", "0.5"), [false, false, false]);
  assertEquals(decisions("parentbased_traceidratio", "0.5", LOW), [true, false, true]);
  assertEquals(decisions("parentbased_traceidratio", "0.5"), [false, false, true]);
});

Deno.test("a sampler without a share from 0 to 1 exports every trace", () => {
  for (const share of ["", "2", "-1", "half"]) {
    assertEquals(decisions("traceidratio", share), [true, true, true], share);
  }
});
