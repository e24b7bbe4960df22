import { assertEquals } from "../support/assert.ts";
import { newGroupMetrics } from "../../src/workers/group_metrics.ts";

/** A clock with one timer, which the test ends at its time. */
function scripted() {
  let end = (_ms: number) => {};
  const world = {
    after(ms: number, task: () => void) {
      end = (passed) => passed === ms && task();
      return () => void (end = () => {});
    },
  };
  return { world, late: (ms: number) => end(ms) };
}

Deno.test("a scrape ends without the parent when the parent does not respond in 5 s, and the next one reaches it", async () => {
  const { world, late } = scripted();
  const group = newGroupMetrics({ send: () => true }, world);
  const first = group.scrape();
  late(5_000);
  assertEquals(await first, null);
  const second = group.scrape();
  group.received("sum 1\n");
  assertEquals(await second, "sum 1\n");
});

Deno.test("a scrape ends at once when the channel to the parent is full", async () => {
  const group = newGroupMetrics({ send: () => false }, scripted().world);
  assertEquals(await group.scrape(), null);
});
