import { usesOf } from "../../../src/access/quotas.ts";
import { CALENDAR_PERIODS, newCalendar } from "../../../src/core/calendar.ts";
import { MAX_COUNTED } from "../../../src/traffic/subjects.ts";
import { MAX_SUBJECT_SUMS, newSums } from "../../../src/store/memory/sums.ts";
import { assertEquals } from "../../support/assert.ts";

function scripted() {
  const clock = { time: 0 };
  return { clock, sums: newSums(() => clock.time) };
}

const HOUR_MS = 3_600_000;

Deno.test("amounts of a caller and a window make one sum", () => {
  const { sums } = scripted();
  const spend = (window: string, amount: number) => ({ window, amount, ttlMs: HOUR_MS });
  sums.add("a", spend("d:1", 2));
  sums.add("a", spend("d:1", 3));
  sums.add("a", spend("d:2", 7));
  sums.add("b", spend("d:1", 11));
  assertEquals([sums.get("a", "d:1"), sums.get("a", "d:2"), sums.get("b", "d:1")], [5, 7, 11]);
  assertEquals([sums.get("b", "d:2"), sums.get("c", "d:1"), sums.size], [0, 0, 3]);
  assertEquals([...sums.callers()], ["a", "b"]);
  assertEquals(sums.of("a").map(({ window, amount }) => [window, amount]), [["d:1", 5], [
    "d:2",
    7,
  ]]);
  sums.set({ caller: "a", window: "d:1", amount: 100, endsAt: 1 });
  assertEquals([sums.get("a", "d:1"), sums.size], [100, 3]);
});

Deno.test("a sum that has ended begins at zero again, and makes room", () => {
  const { clock, sums } = scripted();
  sums.add("a", { window: "h:1", amount: 1, ttlMs: 10 });
  sums.add("a", { window: "h:1", amount: 1, ttlMs: 5 });
  clock.time = 9;
  assertEquals(sums.get("a", "h:1"), 2, "a shorter time does not end it earlier");
  clock.time = 10;
  assertEquals([sums.get("a", "h:1"), sums.of("a")], [0, []]);
  sums.add("b", { window: "h:2", amount: 1, ttlMs: 10 });
  assertEquals([sums.size, [...sums.callers()]], [1, ["b"]]);
});

Deno.test("ended sums make room two at a time, those of the window that ends first before others", () => {
  const { clock, sums } = scripted();
  const hour = (caller: string, window: string) =>
    sums.add(caller, { window, amount: 1, ttlMs: HOUR_MS });
  for (const caller of ["a", "b", "c"]) hour(caller, "h:1");
  sums.add("a", { window: "m:1", amount: 1, ttlMs: 700 * HOUR_MS });
  clock.time = HOUR_MS;
  hour("a", "h:2");
  assertEquals([sums.size, [...sums.callers()]], [3, ["a", "c"]]);
  hour("b", "h:2");
  assertEquals([sums.size, sums.get("a", "m:1")], [3, 1]);
});

Deno.test("there are at most 100,000 sums, and what callers have used of a month outlasts any number of hours", () => {
  const { sums } = scripted();
  const add = (caller: string, window: string, hours: number) =>
    sums.add(caller, { window, amount: 1, ttlMs: hours * HOUR_MS });
  add("spent", "m:1", 700);
  for (let count = 0; count < 100_000; count++) add(`caller ${count}`, "h:1", 1);
  add("caller 1", "h:1", 1);
  add("late", "m:1", 700);
  assertEquals(sums.size, 100_000);
  assertEquals(
    ["caller 0", "caller 1", "caller 2", "caller 3"].map((caller) => sums.get(caller, "h:1")),
    [0, 2, 0, 1],
  );
  assertEquals([sums.get("spent", "m:1"), sums.get("late", "m:1")], [1, 1]);
});

Deno.test("the current windows of all clients that are counted have room", () => {
  assertEquals([MAX_COUNTED, MAX_SUBJECT_SUMS], [110_000, 880_000]);
  const budgets = CALENDAR_PERIODS.map((per) => ({ per, nanoUsd: 1, tokens: 1 }));
  const limits = { tokensPerMinute: null, maxConcurrent: null, budgets };
  const callers = [{ caller: "a", group: null, limits }];
  const [use] = usesOf({ callers, calendar: newCalendar("UTC") }, { tokens: 1, nanoUsd: 1 }, 0);
  assertEquals((use?.spends.length ?? 0) * MAX_COUNTED, MAX_SUBJECT_SUMS);
});
