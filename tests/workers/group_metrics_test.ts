import { assertEquals } from "../support/assert.ts";
import { newGroupMetrics } from "../../src/workers/group_metrics.ts";

/** A clock with one timer, which the test ends. */
function scripted() {
  let end = () => {};
  const world = {
    after(_ms: number, task: () => void) {
      end = task;
      return () => void (end = () => {});
    },
  };
  return { world, late: () => end() };
}

Deno.test("a scrape ends without the parent when the parent does not respond in time, and the next one reaches it", async () => {
  const { world, late } = scripted();
  const group = newGroupMetrics({ send: () => true }, world);
  const first = group.scrape();
  late();
  assertEquals(await first, null);
  const second = group.scrape();
  group.received("sum 1\n");
  assertEquals(await second, "sum 1\n");
});

Deno.test("a scrape ends at once when the channel to the parent is full", async () => {
  const group = newGroupMetrics({ send: () => false }, scripted().world);
  assertEquals(await group.scrape(), null);
});
