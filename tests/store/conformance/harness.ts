import fc from "fast-check";
import type { Caller } from "../../../src/store/bindings.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import type { Retention } from "../../../src/store/retention.ts";
import { assert } from "../../support/assert.ts";

/** A state store under test, of which the tests of a suite use only some parts. */
export interface StoreUnderTest<Store, Bounds extends Lifetime = Retention> {
  /** Name of the store in the names of the tests. */
  readonly name: string;
  /**
   * `own`: the store has a clock that no test can script, so lifetimes are short and really pass.
   */
  readonly clock: "scripted" | "own";
  /** Number of runs of each property. */
  readonly numRuns: number;
  /** Opens an empty store with these bounds. */
  open(bounds: Bounds): Promise<Harness<Store>>;
}

/** Lifetime of what a store contains, in milliseconds. */
export type Lifetime = Pick<Retention, "ttlMs">;

/** An open store. */
export interface Harness<Store> {
  readonly store: Store;
  /** Lets this time pass. */
  advance(ms: number): Promise<void>;
  /**
   * Opens a second replica on the same data; it is closed with the harness. Absent if there can be
   * none.
   */
  another?(): Promise<Store>;
  /**
   * Closes `store` and opens it again with the same data. Absent if the data ends with the store.
   */
  reopen?(): Promise<Store>;
  /** Closes all that was opened and removes the data. */
  close(): Promise<void>;
}

/** The part of a store that holds objects of clients. */
export type Objects = Pick<StateStore, "objects">;

/** A caller that sees the objects of all callers. */
export const SHARING: Caller = { name: null, isIsolated: false };

/** Lifetime that really passes in tests of a store with its own clock. */
const SHORT_TTL_MS = 300;

/** Time in which a store with its own clock must have removed what has expired. */
const EXPIRY_DEADLINE_MS = 10_000;

/** Replicas of one store during a run of commands. */
export interface Replicas<Store> {
  /** Returns the second replica if `isOther` and there is one, else the first. */
  pick(isOther: boolean): Store;
  advance(ms: number): Promise<void>;
  /** Closes the first replica and opens it again, if its data lasts. */
  reopen(): Promise<void>;
}

/** Runs a function on the replicas of a new store and closes them. */
export async function withReplicas<Store, Bounds extends Lifetime = Retention>(
  under: StoreUnderTest<Store, Bounds>,
  retention: Bounds,
  run: (replicas: Replicas<Store>) => Promise<void>,
): Promise<void> {
  const harness = await under.open(retention);
  try {
    let first = harness.store;
    const second = await harness.another?.();
    await run({
      pick: (isOther) => isOther ? second ?? first : first,
      advance: (ms) => harness.advance(ms),
      async reopen() {
        first = await harness.reopen?.() ?? first;
      },
    });
  } finally {
    await harness.close();
  }
}

/** Registers a test of the store. Its name gets the name of the store. */
export function testStore<Store, Bounds extends Lifetime = Retention>(
  under: StoreUnderTest<Store, Bounds>,
  name: string,
  retention: Bounds,
  run: (replicas: Replicas<Store>) => Promise<void>,
): void {
  Deno.test(`${under.name}: ${name}`, () => withReplicas(under, retention, run));
}

/** Registers a test of an exact lifetime, which needs a scripted clock. */
export function testLifetime<Store, Bounds extends Lifetime = Retention>(
  under: StoreUnderTest<Store, Bounds>,
  name: string,
  retention: Bounds,
  run: (replicas: Replicas<Store>) => Promise<void>,
): void {
  if (under.clock === "scripted") testStore(under, name, retention, run);
}

/** Returns the bounds for a test that waits for the end of a lifetime. */
export function expiringBounds<Store, Bounds extends Lifetime = Retention>(
  { clock }: StoreUnderTest<Store, Bounds>,
  retention: Bounds,
): Bounds {
  return clock === "own" ? { ...retention, ttlMs: SHORT_TTL_MS } : retention;
}

/** Registers a test that what `make` stores is gone after its lifetime although it is read. */
export function testExpiry<Store, Bounds extends Lifetime = Retention>(
  under: StoreUnderTest<Store, Bounds>,
  name: string,
  retention: Bounds,
  make: (store: Store) => Promise<void>,
  isFound: (store: Store) => Promise<boolean>,
): void {
  const bounds = expiringBounds(under, retention);
  const { ttlMs } = bounds;
  testStore(under, name, bounds, async ({ pick, advance }) => {
    await make(pick(false));
    if (under.clock === "scripted") {
      await advance(ttlMs - 1);
      assert(await isFound(pick(true)), "found until the end of its lifetime");
      await advance(1);
      assert(!await isFound(pick(true)), "not found after its lifetime");
      return;
    }
    const deadline = Date.now() + EXPIRY_DEADLINE_MS;
    while (await isFound(pick(true))) {
      assert(Date.now() < deadline, "not found after its lifetime");
      await advance(SHORT_TTL_MS / 10);
    }
  });
}

/** A step of a model test: changes the model and the store, and compares what the store returns. */
export type Step<Model, Store> = (model: Model, store: Store) => Promise<void>;

/** A model and the operations that a run draws from. */
export interface ModelTest<
  Model extends { time: number },
  Store,
  Bounds extends Lifetime = Retention,
> {
  readonly retention: Bounds;
  newModel(): Model;
  /** Steps with the text that is printed when a run fails. */
  readonly steps: readonly fc.Arbitrary<readonly [text: string, step: Step<Model, Store>]>[];
  /** Compares the model with the store after each step. Removes from the model what has expired. */
  check(model: Model, store: Store): Promise<void>;
}

/** Most steps of a run of a model test. */
const MAX_COMMANDS = 40;

interface Real<Store> {
  readonly replicas: Replicas<Store>;
}

/**
 * Registers a model test: half of the steps run on the second replica, and the first one is opened
 * again now and then. Time passes only where it can be scripted.
 */
export function testModel<
  Model extends { time: number },
  Store,
  Bounds extends Lifetime = Retention,
>(
  under: StoreUnderTest<Store, Bounds>,
  name: string,
  { retention, newModel, steps, check }: ModelTest<Model, Store, Bounds>,
): void {
  type Command = fc.AsyncCommand<Model, Real<Store>>;

  function newCommand(
    text: string,
    isOther: boolean,
    run: (model: Model, replicas: Replicas<Store>) => Promise<void>,
  ): Command {
    return {
      check: () => true,
      async run(model, { replicas }) {
        await run(model, replicas);
        await check(model, replicas.pick(!isOther));
      },
      toString: () => isOther ? `${text} on another replica` : text,
    };
  }

  const changes = steps.map((arbitrary) =>
    fc.tuple(arbitrary, fc.boolean()).map(([[text, step], isOther]) =>
      newCommand(text, isOther, (model, { pick }) => step(model, pick(isOther)))
    )
  );
  const { ttlMs } = retention;
  const durations = [
    fc.integer({ min: 1, max: Math.ceil(ttlMs / 4) }),
    fc.constantFrom(1, ttlMs - 1, ttlMs),
  ];
  const passes = durations.map((duration) =>
    duration.map((ms) =>
      newCommand(`pass ${ms} ms`, false, async (model, { advance }) => {
        model.time += ms;
        await advance(ms);
      })
    )
  );
  const reopens = fc.constant(newCommand("reopen", false, (_model, { reopen }) => reopen()));
  const usual = [...changes, ...under.clock === "scripted" ? passes : []];
  // To open a database again costs as much as all other steps of a run: about one in each is
  // enough.
  const rounds = Math.ceil(MAX_COMMANDS / usual.length);
  const commands = [...Array.from({ length: rounds }, () => usual).flat(), reopens];

  Deno.test(`${under.name}: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(commands, { size: "max", maxCommands: MAX_COMMANDS }),
        async (run) => {
          await withReplicas(under, retention, async (replicas) => {
            const setup = () => Promise.resolve({ model: newModel(), real: { replicas } });
            await fc.asyncModelRun(setup, run);
          });
        },
      ),
      { numRuns: under.numRuns },
    );
  });
}
