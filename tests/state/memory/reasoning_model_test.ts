import fc from "fast-check";
import type { OwnedReasoning } from "../../../src/core/reasoning.ts";
import { type MemoryReasoning, newMemoryReasoning } from "../../../src/state/memory/reasoning.ts";
import type { ReasoningKey } from "../../../src/state/object_store.ts";
import {
  heldBytes,
  MAX_CREATOR_REASONING_BYTES,
  MAX_STATE_BYTES,
  STATE_TTL_MS,
} from "../../../src/state/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";

const CREATORS = ["ada", "bob", null] as const;
const CALLS = ["one", "two"] as const;
const TEXTS = ["a", "b"] as const;
const MIB = 1024 * 1024;

/** Returns the thinking of an entry with a size in MiB. */
const THINKING = [0, 1, 12, 31, 33].map((mib) => "x".repeat(mib * MIB));

interface Entry extends ReasoningKey {
  readonly reasoning: OwnedReasoning;
  readonly bytes: number;
  readonly used: number;
}

/** Entries by their last use, oldest first, and the calls that had different reasoning at one time. */
interface Model {
  time: number;
  entries: readonly Entry[];
  readonly ambiguous: Set<string>;
}

interface Real {
  time: number;
  readonly memory: MemoryReasoning;
}

type Step = (model: Model, real: Real) => Promise<void>;

function groupOf({ creator, calls }: Pick<ReasoningKey, "creator" | "calls">): string {
  return JSON.stringify([creator, calls]);
}

function isSame(one: ReasoningKey, other: ReasoningKey): boolean {
  return groupOf(one) === groupOf(other) && one.text === other.text;
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((all, { bytes }) => all + bytes, 0);
}

/** Removes what has expired; calls without any reasoning are free again. */
function settle(model: Model): void {
  model.entries = model.entries.filter(({ used }) => model.time - used < STATE_TTL_MS);
  for (const group of model.ambiguous) {
    if (!model.entries.some((entry) => groupOf(entry) === group)) model.ambiguous.delete(group);
  }
}

function store(key: ReasoningKey & { readonly text: string }, thinking: string): Step {
  return async (model, { memory }) => {
    const value = { type: "thinking", thinking, signature: "s" };
    const reasoning = { account: "a", blocks: [{ value, callsBefore: 0 }] };
    const isStored = await stored(memory.reasoning.store(key, reasoning));
    const others = model.entries.filter((entry) => !isSame(entry, key));
    const isSecond = others.some((entry) => groupOf(entry) === groupOf(key));
    const wasAmbiguous = model.ambiguous.has(groupOf(key));
    const name = `${JSON.stringify(key.creator)} ${key.calls} ${key.text}`;
    const bytes = heldBytes(name) + heldBytes("a") + heldBytes(value);
    assertEquals(isStored, bytes <= MAX_CREATOR_REASONING_BYTES);
    model.entries = others;
    if (!isStored) return settle(model);
    while (
      sum(model.entries.filter(({ creator }) => creator === key.creator)) + bytes >
        MAX_CREATOR_REASONING_BYTES
    ) {
      const oldest = model.entries.find(({ creator }) => creator === key.creator);
      model.entries = model.entries.filter((entry) => entry !== oldest);
    }
    while (sum(model.entries) + bytes > MAX_STATE_BYTES) model.entries = model.entries.slice(1);
    model.entries = [...model.entries, { ...key, reasoning, bytes, used: model.time }];
    if (isSecond || wasAmbiguous) model.ambiguous.add(groupOf(key));
  };
}

function find(key: ReasoningKey): Step {
  return async (model, { memory }) => {
    const isUnclear = key.text === null && model.ambiguous.has(groupOf(key));
    const entry = isUnclear
      ? undefined
      : model.entries.find((one) =>
        groupOf(one) === groupOf(key) && (key.text === null || one.text === key.text)
      );
    const [found] = await stored(memory.reasoning.find([key]));
    assertEquals(found ?? null, entry?.reasoning ?? null);
    if (entry === undefined) return;
    const others = model.entries.filter((one) => one !== entry);
    model.entries = [...others, { ...entry, used: model.time }];
  };
}

function pass(ms: number): Step {
  return (model, real) => {
    model.time += ms;
    real.time += ms;
    return Promise.resolve();
  };
}

const group = { creator: fc.constantFrom(...CREATORS), calls: fc.constantFrom(...CALLS) };
const full = fc.record({ ...group, text: fc.constantFrom(...TEXTS) });
const partial = fc.record({ ...group, text: fc.constantFrom(...TEXTS, null) });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(full, fc.constantFrom(...THINKING)).map((of) => store(...of)) },
  { weight: 4, arbitrary: partial.map(find) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: STATE_TTL_MS }).map(pass) },
);

Deno.test("stored reasoning follows a plain model, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const real: Real = { time: 0, memory: newMemoryReasoning(() => real.time) };
      const model: Model = { time: 0, entries: [], ambiguous: new Set() };
      for (const run of steps) {
        await run(model, real);
        settle(model);
        const { entries, bytes } = real.memory.stats();
        assertEquals([entries, bytes], [model.entries.length, sum(model.entries)]);
        assert(bytes <= MAX_STATE_BYTES);
      }
    }),
    { numRuns: 200 },
  );
});
