import fc from "fast-check";
import { assert, assertEquals } from "../support/assert.ts";
import { type Balancers, newBalancers } from "../../src/traffic/balancers.ts";
import { newTargetLoads } from "../../src/traffic/target_loads.ts";

/** Expected share of each target so far, in parts of a call, and the calls that it received. */
interface Model {
  weights: readonly number[];
  due: number[];
  got: number[];
}

interface Item {
  readonly index: number;
  readonly weight: number;
}

const keyOf = ({ index }: Item) => `t${index}`;
const VIEW = { key: keyOf, load: keyOf, session: null };

class Pick implements fc.Command<Model, Balancers> {
  constructor(readonly able: readonly boolean[]) {}

  check = () => true;

  run(model: Model, all: Balancers): void {
    const eligible = model.weights.flatMap((weight, index) =>
      this.able[index] === true ? [{ index, weight }] : []
    );
    const picked = all.pick("r", "weighted", VIEW, eligible);
    const total = eligible.reduce((sum, { weight }) => sum + weight, 0);
    if (total === 0) return assertEquals(picked, undefined);
    assert(picked !== undefined && picked.weight > 0 && eligible.includes(picked));
    for (const { index, weight } of eligible) {
      model.due[index] = (model.due[index] ?? 0) + weight;
    }
    model.got[picked.index] = (model.got[picked.index] ?? 0) + total;
    checkFairness(model);
  }

  toString = () => `pick of ${this.able.map(Number).join("")}`;
}

/**
 * Asserts that no target is ahead or behind by more than two whole calls, however the eligible
 * targets change.
 */
function checkFairness({ weights, due, got }: Model): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, share] of due.entries()) {
    const debt = Math.abs(share - (got[index] ?? 0));
    assert(debt <= 2 * total, `target ${index} is off by ${debt} of ${total}`);
  }
}

class Reload implements fc.Command<Model, Balancers> {
  constructor(readonly weights: readonly number[]) {}

  check = (model: Readonly<Model>) => this.weights.every((one, at) => one !== model.weights[at]);

  run(model: Model, all: Balancers): void {
    model.weights = this.weights;
    model.due = this.weights.map(() => 0);
    model.got = this.weights.map(() => 0);
    new Pick(this.weights.map(() => true)).run(model, all);
  }

  toString = () => `reload with ${this.weights.join(" ")}`;
}

const TARGET_COUNT = 4;
const weights = fc.array(fc.integer({ min: 0, max: 6 }), {
  minLength: TARGET_COUNT,
  maxLength: TARGET_COUNT,
});
const able = fc.array(fc.boolean(), { minLength: TARGET_COUNT, maxLength: TARGET_COUNT });

Deno.test("shares stay fair while targets come and go and weights are reloaded", () => {
  const pick = able.map((flags) => new Pick(flags));
  const steps = [pick, pick, pick, pick, weights.map((list) => new Reload(list))];
  const commands = fc.commands(steps, { size: "max", maxCommands: 200 });
  fc.assert(
    fc.property(weights, commands, (first, run) => {
      fc.modelRun(
        () => ({
          model: { weights: first, due: first.map(() => 0), got: first.map(() => 0) },
          real: newBalancers(() => 0, newTargetLoads()),
        }),
        run,
      );
    }),
    { numRuns: 200 },
  );
});
