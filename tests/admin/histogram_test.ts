import { addTime, newHistogram, quantile } from "../../src/admin/histogram.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("a quantile is wrong by at most a tenth, over several histograms", () => {
  const [one, other] = [newHistogram(), newHistogram()];
  for (let ms = 1; ms <= 1_000; ms++) addTime(ms % 2 === 0 ? one : other, ms);
  for (const share of [0.1, 0.5, 0.95, 1]) {
    const found = quantile([one, other], share) ?? 0;
    assert(Math.abs(found / (share * 1_000) - 1) <= 0.1, `${share}: ${found}`);
  }
});

Deno.test("a histogram takes times of any length, and has no quantile without times", () => {
  assertEquals(quantile([newHistogram()], 0.5), null);
  const histogram = newHistogram();
  for (const ms of [0, -1, NaN, 1e12, Infinity]) addTime(histogram, ms);
  assertEquals(histogram.reduce((sum, times) => sum + times, 0), 4);
});
