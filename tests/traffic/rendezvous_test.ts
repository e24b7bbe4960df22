import fc from "fast-check";
import { pickRendezvous } from "../../src/traffic/rendezvous.ts";
import { assert, assertEquals } from "../support/assert.ts";

interface Item {
  readonly name: string;
  readonly weight: number;
}

const items = fc.uniqueArray(
  fc.record({ name: fc.string({ maxLength: 9 }), weight: fc.integer({ min: 1, max: 9 }) }),
  { minLength: 1, maxLength: 6, selector: ({ name }) => name },
);

function pick(key: string, list: readonly Item[]): string | undefined {
  return pickRendezvous(key, ({ name }) => name, list)?.name;
}

Deno.test("without a target only its own keys change their target", () => {
  fc.assert(
    fc.property(items, fc.nat(5), fc.array(fc.string(), { minLength: 1 }), (list, at, keys) => {
      const gone = list[at % list.length]?.name;
      const rest = list.filter(({ name }) => name !== gone);
      for (const key of keys) {
        const before = pick(key, list);
        if (before !== gone) assertEquals(pick(key, rest), before);
        else assertEquals(pick(key, rest) === undefined, rest.length === 0);
      }
    }),
  );
});

Deno.test("the order of the targets does not matter, so that replicas agree", () => {
  fc.assert(fc.property(items, fc.string(), (list, key) => {
    assertEquals(pick(key, list.toReversed()), pick(key, list));
  }));
});

Deno.test("a key has the same target in every process", () => {
  const list = ["a", "b", "c"].map((name) => ({ name, weight: 1 }));
  const keys = Array.from({ length: 12 }, (_, at) => `session ${at}`);
  assertEquals(keys.map((key) => pick(key, list)).join(""), "bcbbaccaaaba");
});

Deno.test("targets serve shares of the keys by their weights", () => {
  const list = [{ name: "a", weight: 1 }, { name: "b", weight: 3 }];
  const keys = Array.from({ length: 10_000 }, (_, at) => `k${at}`);
  const share = keys.filter((key) => pick(key, list) === "a").length / keys.length;
  assert(share > 0.23 && share < 0.27, `${share}`);
});

Deno.test("a heavier target takes keys of other targets, and no keys move between those", () => {
  fc.assert(
    fc.property(items, fc.nat(5), fc.array(fc.string(), { minLength: 1 }), (list, at, keys) => {
      const grown = list[at % list.length];
      const after = list.map((one) => one === grown ? { ...one, weight: one.weight + 3 } : one);
      for (const key of keys) {
        const now = pick(key, after);
        assert(now === grown?.name || now === pick(key, list));
      }
    }),
  );
});
