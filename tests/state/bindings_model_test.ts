import fc from "fast-check";
import { type Bindings, newBindings } from "../../src/state/bindings.ts";
import { STATE_TTL } from "../../src/state/retention.ts";
import { newSnapshots, type Snapshots } from "../../src/state/snapshots.ts";
import { assertEquals } from "../support/assert.ts";

const IDS = ["a", "b", "c"] as const;
const ACCOUNTS = ["one", "two"] as const;

interface Known {
  /** Null: two accounts have returned the id. */
  readonly account: string | null;
  readonly at: number;
}

interface Model {
  time: number;
  readonly known: Map<string, Known>;
  /** When the response was kept. */
  readonly kept: Map<string, number>;
}

interface Real {
  time: number;
  readonly bindings: Bindings;
  readonly snapshots: Snapshots;
}

type Step = (model: Model, real: Real) => void;

function forget(model: Model): void {
  for (const id of IDS) {
    const known = model.known.get(id);
    if (known !== undefined && model.time - known.at >= STATE_TTL) {
      model.known.delete(id);
      model.kept.delete(id);
    }
    if (model.time - (model.kept.get(id) ?? model.time) >= STATE_TTL) model.kept.delete(id);
  }
}

/** A response that is kept and bound, as a create leaves it. */
function create(id: string, account: string): Step {
  return (model, { bindings, snapshots }) => {
    snapshots.keep(id, { resource: { id }, input: [] });
    bindings.bind(id, { provider: account, account, origin: null, creator: null });
    const known = model.known.get(id);
    const isConflict = known !== undefined && known.account !== account;
    if (known === undefined) model.known.set(id, { account, at: model.time });
    else if (isConflict && known.account !== null) {
      model.known.set(id, { account: null, at: model.time });
    }
    // What is kept under a conflict is unreachable: the owner is asked first.
    if (isConflict && known.account !== null) model.kept.delete(id);
    else model.kept.set(id, model.time);
  };
}

function remove(id: string, account: string): Step {
  return (model, { bindings }) => {
    const isOwner = model.known.get(id)?.account === account;
    assertEquals(bindings.unbind(id, account), isOwner);
    if (isOwner) model.known.delete(id);
  };
}

function pass(ms: number): Step {
  return (model, real) => {
    model.time += ms;
    real.time += ms;
  };
}

function check(model: Model, { bindings, snapshots }: Real): void {
  for (const id of IDS) {
    const binding = bindings.get(id);
    const account = binding?.state === "bound" ? binding.owner.account : null;
    const known = model.known.get(id);
    assertEquals([binding !== undefined, account], [known !== undefined, known?.account ?? null]);
    assertEquals(snapshots.get(id) !== undefined, model.kept.has(id));
  }
  assertEquals([bindings.entries, snapshots.entries], [model.known.size, model.kept.size]);
}

const id = fc.constantFrom(...IDS);
const account = fc.constantFrom(...ACCOUNTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(id, account).map(([one, other]) => create(one, other)),
  fc.tuple(id, account).map(([one, other]) => remove(one, other)),
  fc.integer({ min: 1, max: STATE_TTL }).map(pass),
);

Deno.test("bindings and what hangs on them follow a plain model, whatever happens", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let real: Real | null = null;
      const now = () => real?.time ?? 0;
      const snapshots = newSnapshots(now);
      const bindings = newBindings(now, (lost) => void snapshots.delete(lost));
      real = { time: 0, bindings, snapshots };
      const model: Model = { time: 0, known: new Map(), kept: new Map() };
      for (const run of steps) {
        forget(model);
        run(model, real);
        forget(model);
        check(model, real);
      }
    }),
    { numRuns: 300 },
  );
});
