import { MAX_STEPS_PER_TURN, walk } from "../../src/runtime/walk.ts";
import { assertEquals } from "../support/assert.ts";

/** Returns the numbers that a walk visits in each turn; `last` is where the visitor stops it. */
function turnsOf(bound: number, last = Infinity): readonly (readonly number[])[] {
  const turns: number[][] = [[]];
  const waiting: (() => void)[] = [];
  let ends = 0;
  walk(
    bound,
    (number) => {
      turns.at(-1)?.push(number);
      return number < last;
    },
    (task) => void waiting.push(task),
    () => ends++,
  );
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    turns.push([]);
    task();
  }
  assertEquals(ends, 1);
  return turns;
}

Deno.test("a walk visits every number once, a bounded part of them in each turn", () => {
  for (const bound of [0, 1, MAX_STEPS_PER_TURN, MAX_STEPS_PER_TURN + 1, 10_000]) {
    const turns = turnsOf(bound);
    assertEquals(turns.flat(), Array.from({ length: bound }, (_, index) => index));
    assertEquals(turns.length, Math.max(1, Math.ceil(bound / MAX_STEPS_PER_TURN)));
    assertEquals(turns.every(({ length }) => length <= MAX_STEPS_PER_TURN), true);
  }
});

Deno.test("a turn of a walk visits 128 numbers", () => {
  assertEquals(turnsOf(300).map(({ length }) => length), [128, 128, 44]);
});

Deno.test("a walk stops when the visitor returns false", () => {
  assertEquals(turnsOf(10_000, 3).flat(), [0, 1, 2, 3]);
  assertEquals(turnsOf(10_000, MAX_STEPS_PER_TURN).flat().at(-1), MAX_STEPS_PER_TURN);
});
