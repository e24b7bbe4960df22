import fc from "fast-check";
import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import type { ObjectStore } from "../../../src/state/object_store.ts";
import { STATE_TTL_MS } from "../../../src/state/retention.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";

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
  readonly objects: ObjectStore;
}

type Step = (model: Model, real: Real) => void | Promise<void>;

const CALLER = { name: null, isIsolated: false };

function forget(model: Model): void {
  for (const id of IDS) {
    const known = model.known.get(id);
    if (known !== undefined && model.time - known.at >= STATE_TTL_MS) {
      model.known.delete(id);
      model.kept.delete(id);
    }
    if (model.time - (model.kept.get(id) ?? model.time) >= STATE_TTL_MS) model.kept.delete(id);
  }
}

/** A response that is stored and bound, as a create leaves it. */
function create(id: string, account: string, isNative: boolean): Step {
  return async (model, { objects }) => {
    const owner = { provider: account, account, origin: null, creator: null };
    const known = model.known.get(id);
    const snapshot = { resource: { id }, input: [] };
    const binding = await stored(
      objects.responses.store(id, { owner, snapshot, isNative }, CALLER),
    );
    const isConflict = known !== undefined && known.account !== account;
    // Nothing is stored under a conflict; then only a native response binds its ID.
    const isBound = isNative || known?.account !== null;
    assertEquals(binding?.kind, isBound ? isConflict ? "conflict" : "bound" : undefined);
    if (known === undefined) model.known.set(id, { account, at: model.time });
    else if (isConflict && known.account !== null) {
      model.known.set(id, { account: null, at: model.time });
    }
    if (isConflict) model.kept.delete(id);
    else model.kept.set(id, model.time);
  };
}

/** A response that only its upstream stores. */
function bind(id: string, account: string): Step {
  return async (model, { objects }) => {
    const owner = { provider: account, account, origin: null, creator: null };
    await stored(objects.responses.bind(id, owner));
    const known = model.known.get(id);
    if (known === undefined) model.known.set(id, { account, at: model.time });
    else if (known.account !== account && known.account !== null) {
      model.known.set(id, { account: null, at: model.time });
      model.kept.delete(id);
    }
  };
}

function remove(id: string, account: string): Step {
  return async (model, { objects }) => {
    const isOwner = model.known.get(id)?.account === account;
    assertEquals(await stored(objects.responses.unbind(id, account, CALLER)), isOwner);
    if (!isOwner) return;
    model.known.delete(id);
    model.kept.delete(id);
  };
}

function pass(ms: number): Step {
  return (model, real) => {
    model.time += ms;
    real.time += ms;
  };
}

async function check(model: Model, { objects }: Real): Promise<void> {
  for (const id of IDS) {
    const found = await stored(objects.responses.find(id));
    const account = found?.binding.kind === "bound" ? found.binding.owner.account : null;
    const known = model.known.get(id);
    assertEquals([found !== null, account], [known !== undefined, known?.account ?? null]);
    assertEquals((found?.snapshot ?? null) !== null, model.kept.has(id));
    assertEquals(await stored(objects.responses.findBinding(id)), found?.binding ?? null);
  }
  const all = await stored(objects.responses.findBindings(IDS));
  assertEquals([...all.keys()], IDS.filter((id) => model.known.has(id)));
  const { response_bindings, responses } = objects.stats();
  assertEquals([response_bindings.entries, responses.entries], [model.known.size, model.kept.size]);
}

const id = fc.constantFrom(...IDS);
const account = fc.constantFrom(...ACCOUNTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(id, account, fc.boolean()).map(([one, other, native]) => create(one, other, native)),
  fc.tuple(id, account).map(([one, other]) => bind(one, other)),
  fc.tuple(id, account).map(([one, other]) => remove(one, other)),
  fc.integer({ min: 1, max: STATE_TTL_MS }).map(pass),
);

Deno.test("responses and their owners follow a plain model, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const real: Real = { time: 0, objects: newMemoryObjectStore(() => real.time) };
      const model: Model = { time: 0, known: new Map(), kept: new Map() };
      for (const run of steps) {
        forget(model);
        await run(model, real);
        forget(model);
        await check(model, real);
      }
    }),
    { numRuns: 300 },
  );
});
