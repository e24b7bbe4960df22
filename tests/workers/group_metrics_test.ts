import { assertEquals } from "../support/assert.ts";
import { newGroupMetrics } from "../../src/workers/group_metrics.ts";

/** A clock with one timer, which the test ends. */
function scripted() {
  let end = () => {};
  const waits: number[] = [];
  const world = {
    now: () => 0,
    after(ms: number, task: () => void) {
      waits.push(ms);
      end = task;
      return () => void (end = () => {});
    },
  };
  return { world, waits, late: () => end() };
}

Deno.test("a scrape ends without the parent when the parent does not respond for 5 s, and the next one reaches it", async () => {
  const { world, waits, late } = scripted();
  const group = newGroupMetrics({ send: () => true }, world);
  const first = group.scrape();
  late();
  assertEquals(await first, null);
  const second = group.scrape();
  group.received("sum 1\n");
  assertEquals(await second, "sum 1\n");
  assertEquals(waits, [5_000, 5_000]);
});

Deno.test("a scrape ends at once when the channel to the parent is full", async () => {
  const group = newGroupMetrics({ send: () => false }, scripted().world);
  assertEquals(await group.scrape(), null);
});
