import fc from "fast-check";
import { newBalancers } from "../../src/traffic/balancers.ts";
import { newTargetLoads } from "../../src/traffic/target_loads.ts";
import { assert, assertEquals } from "../support/assert.ts";

interface Item {
  readonly name: string;
  readonly weight: number;
}

const nameOf = ({ name }: Item) => name;
const VIEW = { key: nameOf, load: nameOf, session: null };

function itemsOf(weights: readonly number[]): readonly Item[] {
  return weights.map((weight, at) => ({ name: String(at), weight }));
}

/** Numbers in [0, 1) from a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

Deno.test("least-pending picks a target with the fewest running calls per weight at any time", () => {
  fc.assert(fc.property(weights, fc.array(fc.nat(9), { maxLength: 80 }), (list, steps) => {
    const loads = newTargetLoads();
    const all = newBalancers(() => 0, loads);
    const items = itemsOf(list);
    const running: { release(): void }[] = [];
    const pending = list.map(() => 0);
    const owners: number[] = [];
    for (const step of steps) {
      // Half of the steps end a call: one of those that run.
      const ended = step % 2 === 0 ? running.splice(step % (running.length || 1), 1)[0] : undefined;
      if (ended !== undefined) {
        const [owner = 0] = owners.splice(step % (owners.length || 1), 1);
        pending[owner] = (pending[owner] ?? 0) - 1;
        ended.release();
        continue;
      }
      const picked = all.pick("r", "least-pending", VIEW, items);
      assert(picked !== undefined);
      const at = Number(picked.name);
      const measures = list.map((weight, index) => (pending[index] ?? 0) / weight);
      assertEquals(measures[at], Math.min(...measures));
      pending[at] = (pending[at] ?? 0) + 1;
      owners.push(at);
      running.push(loads.begin(picked.name));
    }
  }));
});

Deno.test("calls that run at the same time are spread by least-pending exactly by weight", () => {
  fc.assert(fc.property(weights, fc.integer({ min: 1, max: 5 }), (list, rounds) => {
    const loads = newTargetLoads();
    const all = newBalancers(() => 0, loads);
    const total = list.reduce((sum, weight) => sum + weight, 0);
    for (let call = 0; call < total * rounds; call++) {
      const picked = all.pick("r", "least-pending", VIEW, itemsOf(list));
      loads.begin(picked?.name ?? "");
    }
    assertEquals(list.map((_, at) => loads.pending(String(at))), list.map((one) => one * rounds));
  }));
});

Deno.test("idle targets take turns under least-pending, by weight", () => {
  const all = newBalancers(() => 0, newTargetLoads());
  const picks = Array.from(
    { length: 8 },
    () => all.pick("r", "least-pending", VIEW, itemsOf([3, 1]))?.name,
  );
  assertEquals(picks.filter((name) => name === "0").length, 6);
});

Deno.test("lowest-latency picks the lowest median and explores other targets in 5% of the calls", () => {
  for (const count of [2, 4]) {
    const random = seeded(7);
    let explorations = 0;
    const loads = newTargetLoads();
    for (let at = 0; at < count; at++) loads.record(String(at), 100 - at);
    const fastest = String(count - 1);
    const picks: Record<string, number> = {};
    const all = newBalancers(() => {
      const value = random();
      if (value < 0.05) explorations++;
      return value;
    }, loads);
    for (let call = 0; call < 20_000; call++) {
      const name = all.pick("r", "lowest-latency", VIEW, itemsOf(Array(count).fill(1)))?.name ?? "";
      picks[name] = (picks[name] ?? 0) + 1;
    }
    const explored = 20_000 - (picks[fastest] ?? 0);
    assert(explored > 900 && explored < 1_100, `${explored} of 20000`);
    assert(explorations >= explored);
    const others = Object.entries(picks).filter(([name]) => name !== fastest);
    assertEquals(others.length, count - 1);
    for (const [name, calls] of others) {
      assert(Math.abs(calls - explored / others.length) < 80, `${name}: ${calls} of ${explored}`);
    }
  }
});

Deno.test("lowest-latency measures each target first, and follows a target that becomes slower", () => {
  const loads = newTargetLoads();
  const all = newBalancers(() => 0.5, loads);
  const items = itemsOf([1, 1, 1]);
  const pick = () => all.pick("r", "lowest-latency", VIEW, items)?.name ?? "";
  const first: string[] = [];
  for (let call = 0; call < 3; call++) {
    const name = pick();
    first.push(name);
    loads.record(name, 10 + Number(name));
  }
  assertEquals(first.toSorted(), ["0", "1", "2"]);
  assertEquals([pick(), pick()], ["0", "0"]);
  for (let call = 0; call < 3; call++) loads.record("0", 50);
  assertEquals(pick(), "1");
});

Deno.test("a lone target serves all calls of every strategy", () => {
  const loads = newTargetLoads();
  const all = newBalancers(() => 0, loads);
  for (const strategy of ["least-pending", "lowest-latency", "sticky"] as const) {
    const view = { ...VIEW, session: "s" };
    assertEquals(all.pick("r", strategy, view, itemsOf([2]))?.name, "0");
    assertEquals(all.pick("r", strategy, view, []), undefined);
  }
});

Deno.test("sticky gives a session its target, and without a session follows the weights", () => {
  const all = newBalancers(() => 0, newTargetLoads());
  const items = itemsOf([1, 1, 1]);
  const pick = (session: string | null, list = items) =>
    all.pick("r", "sticky", { ...VIEW, session }, list)?.name ?? "";
  for (let n = 0; n < 30; n++) {
    const session = `s${n}`;
    const name = pick(session);
    assertEquals([pick(session), pick(session)], [name, name]);
    // While its target is unavailable another one serves the session, which then returns.
    const rest = items.filter((item) => item.name !== name);
    assert(pick(session, rest) !== name);
    assertEquals(pick(session), name);
  }
  assertEquals([pick(null), pick(null), pick(null)].toSorted(), ["0", "1", "2"]);
});
