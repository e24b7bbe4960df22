import fc from "fast-check";
import { BoundedStore, type Limits } from "../../src/store/bounded_store.ts";
import { assert, assertEquals } from "../support/assert.ts";

interface Kept {
  readonly key: string;
  readonly value: number;
  readonly bytes: number;
  readonly at: number;
}

/** All that was set and is not gone, oldest first. */
interface Model {
  time: number;
  values: number;
  limits: Limits;
  kept: readonly Kept[];
}

interface Real {
  time: number;
  readonly store: BoundedStore<number>;
}

const KEYS = ["a", "b", "c", "d", "e"] as const;

function good(model: Readonly<Model>): readonly Kept[] {
  return model.kept.filter(({ at }) => model.time - at < model.limits.ttl);
}

function sum(kept: readonly Kept[]): number {
  return kept.reduce((all, { bytes }) => all + bytes, 0);
}

function check(model: Readonly<Model>, { store }: Real): void {
  const kept = good(model);
  // Counting removes what has expired: the values must be right before it, too.
  for (const key of KEYS) {
    assertEquals(store.get(key), kept.find((one) => one.key === key)?.value);
  }
  assertEquals([store.entries, store.bytes], [kept.length, sum(kept)]);
  assert(store.entries <= model.limits.entries && store.bytes <= model.limits.bytes);
}

class Set implements fc.Command<Model, Real> {
  constructor(readonly key: string, readonly bytes: number, readonly isChecked: boolean) {}

  check = () => true;

  run(model: Model, real: Real): void {
    const { limits } = model;
    const fits = this.bytes <= limits.bytes && limits.entries > 0;
    const value = ++model.values;
    assertEquals(real.store.set(this.key, value, this.bytes), fits);
    if (fits) {
      const others = good(model).filter(({ key }) => key !== this.key);
      let kept = [...others, { key: this.key, value, bytes: this.bytes, at: model.time }];
      while (kept.length > limits.entries || sum(kept) > limits.bytes) kept = kept.slice(1);
      model.kept = kept;
    }
    if (this.isChecked) check(model, real);
  }

  toString = () => `set ${this.key} of ${this.bytes}`;
}

class Delete implements fc.Command<Model, Real> {
  constructor(readonly key: string) {}

  check = () => true;

  run(model: Model, real: Real): void {
    const isThere = good(model).some(({ key }) => key === this.key);
    assertEquals(real.store.delete(this.key), isThere);
    model.kept = model.kept.filter(({ key }) => key !== this.key);
    check(model, real);
  }

  toString = () => `delete ${this.key}`;
}

class Reset implements fc.Command<Model, Real> {
  constructor(readonly limits: Limits) {}

  check = () => true;

  run(model: Model, real: Real): void {
    real.store.reset(this.limits);
    model.limits = this.limits;
    model.kept = [];
    check(model, real);
  }

  toString = () => `reset to ${JSON.stringify(this.limits)}`;
}

class Pass implements fc.Command<Model, Real> {
  constructor(readonly ms: number, readonly isChecked: boolean) {}

  check = () => true;

  run(model: Model, real: Real): void {
    model.time += this.ms;
    real.time += this.ms;
    if (this.isChecked) check(model, real);
  }

  toString = () => `pass ${this.ms}`;
}

const limits = fc.record({
  ttl: fc.integer({ min: 1, max: 50 }),
  entries: fc.nat(4),
  bytes: fc.nat(20),
});
const key = fc.constantFrom(...KEYS);
const set = fc.tuple(key, fc.nat(12), fc.boolean())
  .map(([name, bytes, isChecked]) => new Set(name, bytes, isChecked));
const pass = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.boolean())
  .map(([ms, isChecked]) => new Pass(ms, isChecked));

Deno.test("a store stays within its limits, whatever is set, deleted or expires", () => {
  const steps = [set, set, set, pass, key.map((name) => new Delete(name))];
  const rare = [...steps, ...steps, limits.map((next) => new Reset(next))];
  fc.assert(
    fc.property(limits, fc.commands(rare, { size: "max", maxCommands: 100 }), (first, run) => {
      fc.modelRun(() => {
        const real: Real = { time: 0, store: new BoundedStore(first, () => real.time) };
        return { model: { time: 0, values: 0, limits: first, kept: [] }, real };
      }, run);
    }),
    { numRuns: 300 },
  );
});
