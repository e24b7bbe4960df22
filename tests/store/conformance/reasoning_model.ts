import fc from "fast-check";
import type { OwnedReasoning } from "../../../src/core/stream/reasoning.ts";
import type { ReasoningKey, ReasoningStore } from "../../../src/store/object_store.ts";
import { reasoningBounds } from "../../../src/store/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type Objects, type Step, type StoreUnderTest, testModel } from "./harness.ts";

const CREATORS = ["ada", "bob", null] as const;
const CALLS = ["one", "two", "three", "four"] as const;
const TEXTS = ["a", "b"] as const;
const RETENTION = { ttlMs: 1_000_000, ownerTtlMs: 1_000_000, maxObjects: 1, maxBytes: 64 * 1024 };
const BOUNDS = reasoningBounds(RETENTION);

interface Entry extends ReasoningKey {
  readonly reasoning: OwnedReasoning;
  readonly used: number;
}

/**
 * Entries by their last use, oldest first, and the calls that had different reasoning at one time.
 */
interface Model {
  time: number;
  entries: readonly Entry[];
  readonly ambiguous: Set<string>;
}

type ReasoningStep = Step<Model, ReasoningStore>;

function groupOf({ creator, calls }: Pick<ReasoningKey, "creator" | "calls">): string {
  return JSON.stringify([creator, calls]);
}

function isSame(one: ReasoningKey, other: ReasoningKey): boolean {
  return groupOf(one) === groupOf(other) && one.text === other.text;
}

/** Removes what has expired; calls without any reasoning are free again. */
function settle(model: Model): void {
  model.entries = model.entries.filter(({ used }) => model.time - used < RETENTION.ttlMs);
  for (const group of model.ambiguous) {
    if (!model.entries.some((entry) => groupOf(entry) === group)) model.ambiguous.delete(group);
  }
}

function store(key: ReasoningKey & { readonly text: string }, thinking: string): ReasoningStep {
  return async (model, reasoningStore) => {
    settle(model);
    const value = { type: "thinking", thinking, signature: "s" };
    const reasoning = { account: "a", blocks: [{ value, callsBefore: 0 }] };
    const isLarge = thinking.length > BOUNDS.creatorBytes;
    assertEquals(await stored(reasoningStore.store(key, reasoning)), !isLarge);
    const wasAmbiguous = model.ambiguous.has(groupOf(key));
    model.entries = model.entries.filter((entry) => !isSame(entry, key));
    const isSecond = model.entries.some((entry) => groupOf(entry) === groupOf(key));
    if (isLarge) return settle(model);
    const own = model.entries.filter(({ creator }) => creator === key.creator);
    if (own.length >= BOUNDS.creatorEntries) {
      model.entries = model.entries.filter((entry) => entry !== own[0]);
    }
    model.entries = [...model.entries.slice(-BOUNDS.entries + 1), {
      ...key,
      reasoning,
      used: model.time,
    }];
    if (isSecond || wasAmbiguous) model.ambiguous.add(groupOf(key));
  };
}

/** Returns the entry under a key; its lifetime begins again. */
function take(model: Model, key: ReasoningKey): OwnedReasoning | null {
  if (key.text === null && model.ambiguous.has(groupOf(key))) return null;
  const entry = model.entries.find((one) =>
    groupOf(one) === groupOf(key) && (key.text === null || one.text === key.text)
  );
  if (entry === undefined) return null;
  const others = model.entries.filter((one) => one !== entry);
  model.entries = [...others, { ...entry, used: model.time }];
  return entry.reasoning;
}

function find(keys: readonly ReasoningKey[]): ReasoningStep {
  return async (model, reasoningStore) => {
    settle(model);
    const found = await stored(reasoningStore.find(keys));
    assertEquals(found, keys.map((key) => take(model, key)));
  };
}

const group = {
  creator: fc.constantFrom(...CREATORS, "ada", "ada"),
  calls: fc.constantFrom(...CALLS),
};
const full = fc.record({ ...group, text: fc.constantFrom(...TEXTS) });
const partial = fc.record({ ...group, text: fc.constantFrom(...TEXTS, null) });
const thinking = fc.constantFrom("1", "2", "3", "4", "x".repeat(BOUNDS.creatorBytes + 1));
const stores = fc.tuple(full, thinking).map(([key, text]) =>
  [`store ${fc.stringify(key)} ${text.length}`, store(key, text)] as const
);

const everyKey = CREATORS.flatMap((creator) =>
  CALLS.flatMap((calls) => [...TEXTS, null].map((text) => ({ creator, calls, text })))
);

/**
 * Registers the model test of reasoning. A lookup is a use, so the model is compared by lookups
 * only.
 */
export function testReasoningModel(under: StoreUnderTest<Objects>): void {
  const steps: readonly fc.Arbitrary<readonly [string, ReasoningStep]>[] = [
    stores,
    stores,
    fc.array(partial, { minLength: 1, maxLength: 3 }).map((keys) =>
      [`find ${fc.stringify(keys)}`, find(keys)] as const
    ),
    fc.constant(["find all", find(everyKey)]),
  ];
  testModel<Model, Objects>(under, "reasoning follows a plain model", {
    retention: RETENTION,
    newModel: () => ({ time: 0, entries: [], ambiguous: new Set() }),
    steps: steps.map((arbitrary) =>
      arbitrary.map((
        [text, step],
      ) => [text, (model, { objects }) => step(model, objects.reasoning)])
    ),
    check(model, { objects }) {
      settle(model);
      const { entries, bytes } = objects.stats().reasoning;
      assert(entries <= BOUNDS.entries && bytes <= BOUNDS.bytes);
      return Promise.resolve();
    },
  });
}
