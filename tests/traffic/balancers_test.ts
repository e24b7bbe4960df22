import fc from "fast-check";
import { assert, assertEquals } from "../support/assert.ts";
import { type Balancers, newBalancers, type Strategy } from "../../src/traffic/balancers.ts";
import { newTargetLoads } from "../../src/traffic/target_loads.ts";

const STRATEGIES = [
  "weighted",
  "round-robin",
  "random",
  "least-pending",
  "lowest-latency",
  "sticky",
] as const;

interface Item {
  readonly name: string;
  readonly weight: number;
}

function itemsOf(weights: Readonly<Record<string, number>>): readonly Item[] {
  return Object.entries(weights).map(([name, weight]) => ({ name, weight }));
}

const VIEW = { key: ({ name }: Item) => name, load: ({ name }: Item) => name, session: null };

/** Returns the names of the next picks; "-" for no pick. */
function picks(
  all: Balancers,
  strategy: Strategy,
  items: readonly Item[],
  count: number,
  route = "r",
): string {
  const names: string[] = [];
  for (let call = 0; call < count; call++) {
    names.push(all.pick(route, strategy, VIEW, items)?.name ?? "-");
  }
  return names.join("");
}

/** Balancers whose chance counts through the given numbers. */
function scripted(...chances: readonly number[]): Balancers {
  let next = 0;
  return newBalancers(() => chances[next++ % chances.length] ?? 0, newTargetLoads());
}

Deno.test("weighted picks are spread, not bunched", () => {
  const items = itemsOf({ a: 5, b: 1, c: 1 });
  assertEquals(picks(scripted(), "weighted", items, 14), "aabacaaaabacaa");
});

Deno.test("equal weights alternate in order", () => {
  assertEquals(picks(scripted(), "weighted", itemsOf({ a: 7, b: 7 }), 6), "ababab");
  assertEquals(picks(scripted(), "weighted", itemsOf({ a: 2, b: 2, c: 2 }), 6), "abcabc");
});

Deno.test("round-robin takes turns whatever the weights", () => {
  assertEquals(picks(scripted(), "round-robin", itemsOf({ a: 9, b: 1, c: 3 }), 7), "abcabca");
});

Deno.test("random follows chance, with the weights as shares", () => {
  const all = scripted(0, 0.24, 0.25, 0.74, 0.75, 0.999);
  assertEquals(picks(all, "random", itemsOf({ a: 1, b: 2, c: 1 }), 6), "aabbcc");
});

Deno.test("a target of weight 0 is never picked, and nothing is when all are", () => {
  for (const strategy of STRATEGIES) {
    const all = scripted(0, 0.5, 0.999);
    const sticky = all.pick("r", strategy, { ...VIEW, session: "s" }, itemsOf({ a: 0, b: 0 }));
    assertEquals(sticky, undefined);
    assertEquals(picks(all, strategy, itemsOf({ a: 0, b: 1, c: 0 }), 3), "bbb");
    assertEquals(picks(all, strategy, itemsOf({ a: 0, b: 0 }), 1), "-");
    assertEquals(picks(all, strategy, [], 1), "-");
  }
});

Deno.test("routes do not touch each other", () => {
  const all = scripted();
  const items = itemsOf({ a: 1, b: 1 });
  assertEquals(picks(all, "weighted", items, 1, "r"), "a");
  assertEquals(picks(all, "weighted", items, 2, "s"), "ab");
  assertEquals(picks(all, "weighted", items, 1, "r"), "b");
});

Deno.test("calls that only some targets can serve do not starve the other targets", () => {
  const all = scripted();
  const [first, second] = [itemsOf({ a: 1, b: 1 }), itemsOf({ b: 1, c: 1 })];
  let names = "";
  for (let call = 0; call < 30; call++) {
    names += picks(all, "weighted", first, 1) + picks(all, "weighted", second, 1);
  }
  for (const name of "abc") {
    const share = [...names].filter((one) => one === name).length;
    assert(share >= 14, `${name} was picked ${share} times`);
  }
});

Deno.test("new weights count from the first call on", () => {
  const all = scripted();
  picks(all, "weighted", itemsOf({ a: 1_000, b: 1 }), 400);
  assertEquals(picks(all, "weighted", itemsOf({ a: 1, b: 1 }), 4), "abab");
  assertEquals(picks(all, "weighted", itemsOf({ a: 1, b: 3 }), 8), "babbbabb");
});

Deno.test("a target that was unavailable for long has no claim left", () => {
  const all = scripted();
  const both = itemsOf({ a: 1, b: 900 });
  picks(all, "weighted", both, 400);
  const one = itemsOf({ b: 900 });
  picks(all, "weighted", one, 3_000);
  assertEquals(picks(all, "weighted", both, 449), "b".repeat(449));
});

const weights = fc.array(fc.nat(9), { minLength: 1, maxLength: 5 })
  .filter((list) => list.some((weight) => weight > 0));

Deno.test("every window as long as the sum of the weights has exact shares", () => {
  fc.assert(fc.property(weights, fc.nat(60), (list, offset) => {
    const all = scripted();
    const items = list.map((weight, index) => ({ name: String(index), weight }));
    picks(all, "weighted", items, offset);
    const total = list.reduce((sum, weight) => sum + weight, 0);
    const names = picks(all, "weighted", items, total);
    assertEquals(list.map((_, index) => names.split(String(index)).length - 1), list);
  }));
});
