import { newTargetLoads } from "../../src/traffic/target_loads.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a call is pending until its first release", () => {
  const loads = newTargetLoads();
  const [first, second] = [loads.begin("a"), loads.begin("a")];
  assertEquals([loads.pending("a"), loads.pending("b")], [2, 0]);
  first.release();
  first.release();
  assertEquals(loads.pending("a"), 1);
  second.release();
  assertEquals(loads.pending("a"), 0);
});

Deno.test("the median is that of the latest 21 times", () => {
  const loads = newTargetLoads();
  assertEquals(loads.medianMs("a"), null);
  const medians = [30, 10, 20].map((ms) => {
    loads.record("a", ms);
    return loads.medianMs("a");
  });
  assertEquals(medians, [30, 30, 20]);
  for (let n = 0; n < 21; n++) loads.record("a", 7);
  assertEquals(loads.medianMs("a"), 7);
  for (let n = 0; n < 10; n++) loads.record("a", 900);
  assertEquals(loads.medianMs("a"), 7);
  loads.record("a", 900);
  assertEquals(loads.medianMs("a"), 900);
});

Deno.test("times of at most 10,000 targets are stored, the latest ones", () => {
  const loads = newTargetLoads();
  for (let n = 0; n < 10_000; n++) loads.record(`${n}`, n);
  loads.record("0", 5);
  loads.record("10000", 1);
  assertEquals([loads.medianMs("0"), loads.medianMs("1"), loads.medianMs("10000")], [5, null, 1]);
});
