import fc from "fast-check";
import { newLinkedQueue } from "../../src/traffic/linked_queue.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("a linked queue gives values back in the order in which they came", () => {
  const queue = newLinkedQueue<string>();
  for (const value of ["a", "b", "c"]) queue.push(value);
  assertEquals(queue.size, 3);
  assertEquals([queue.shift(), queue.shift(), queue.shift(), queue.shift()], [
    "a",
    "b",
    "c",
    undefined,
  ]);
  assertEquals(queue.size, 0);
});

Deno.test("a value is removed from any place of a linked queue, and only once", () => {
  for (const [place, rest] of [[0, "bc"], [1, "ac"], [2, "ab"]] as const) {
    const queue = newLinkedQueue<string>();
    const removals = ["a", "b", "c"].map((value) => queue.push(value));
    assert(removals[place]?.());
    assert(removals[place]?.() === false);
    assertEquals(queue.size, 2);
    assertEquals(`${queue.shift()}${queue.shift()}`, rest);
    assert(removals[(place + 1) % 3]?.() === false, "a value that was shifted is gone");
    assertEquals(queue.size, 0);
  }
});

Deno.test("a linked queue behaves like an array, whatever is pushed, removed and shifted", () => {
  const step = fc.oneof(
    fc.constant({ kind: "push" as const }),
    fc.constant({ kind: "shift" as const }),
    fc.nat(30).map((at) => ({ kind: "remove" as const, at })),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
    const queue = newLinkedQueue<number>();
    const model: number[] = [];
    const removals: (() => boolean)[] = [];
    for (const one of steps) {
      if (one.kind === "push") {
        model.push(removals.length);
        removals.push(queue.push(removals.length));
      } else if (one.kind === "shift") {
        assertEquals(queue.shift(), model.shift());
      } else {
        const at = model.indexOf(one.at);
        if (at >= 0) model.splice(at, 1);
        assertEquals(removals[one.at]?.() ?? false, at >= 0);
      }
      assertEquals([queue.size, queue.first], [model.length, model[0]]);
    }
    assertEquals(Array.from({ length: queue.size }, () => queue.shift()), model);
  }));
});
