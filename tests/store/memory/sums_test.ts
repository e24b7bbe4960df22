import { newSums } from "../../../src/store/memory/sums.ts";
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

Deno.test("there are at most 100,000 sums, and the least recently changed one makes room", () => {
  const { sums } = scripted();
  const add = (window: string) => sums.add("a", { window, amount: 1, ttlMs: HOUR_MS });
  add("budget");
  for (let count = 1; count < 100_000; count++) add(`model ${count}`);
  add("budget");
  for (let count = 0; count < 10; count++) add(`more ${count}`);
  assertEquals(sums.size, 100_000);
  assertEquals(
    ["budget", "model 1", "model 10", "model 11", "more 9"].map((window) => sums.get("a", window)),
    [
      2,
      0,
      0,
      1,
      1,
    ],
  );
});
