import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import type { ObjectStore } from "../../../src/state/object_store.ts";
import { heldBytes, STATE_TTL_MS } from "../../../src/state/retention.ts";
import { assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";

const NAMES = ["a", "b", "c"] as const;
const ITEMS = ["i1", "i2", "i3", "é4", "i5"] as const;

interface Known {
  readonly items: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly at: number;
}

interface Model {
  time: number;
  readonly known: Map<string, Known>;
}

interface Real {
  time: number;
  readonly objects: ObjectStore;
}

type Step = (model: Model, real: Real) => void | Promise<void>;

function itemsOf(ids: readonly string[]): readonly JsonObject[] {
  return ids.map((id) => ({ id, type: "note" }));
}

function put(id: string, ids: readonly string[]): Step {
  return async (model, { objects: { conversations: store } }) => {
    const isUnique = new Set(ids).size === ids.length;
    const items = itemsOf(ids);
    const made = store.create({ id, creator: null, createdAt: 0, metadata: {}, items });
    assertEquals(await outcomeOf(made), isUnique ? "ok" : "duplicate_item_id");
    if (isUnique) model.known.set(id, { items: ids, metadata: {}, at: model.time });
  };
}

function rename(id: string, value: string): Step {
  return async (model, { objects: { conversations: store } }) => {
    const known = model.known.get(id);
    const expected = known === undefined ? "conversation_not_found" : "ok";
    assertEquals(await outcomeOf(store.setMetadata(id, { value })), expected);
    if (known === undefined) return;
    model.known.set(id, { ...known, metadata: { value }, at: model.time });
  };
}

function append(id: string, ids: readonly string[]): Step {
  return async (model, { objects: { conversations: store } }) => {
    const known = model.known.get(id);
    const all = [...known?.items ?? [], ...ids];
    const expected = known === undefined
      ? "conversation_not_found"
      : new Set(all).size < all.length
      ? "duplicate_item_id"
      : "ok";
    assertEquals(await outcomeOf(store.append(id, itemsOf(ids))), expected);
    if (known !== undefined && expected === "ok") {
      model.known.set(id, { ...known, items: all, at: model.time });
    }
  };
}

function removeItem(id: string, item: string): Step {
  return async (model, { objects: { conversations: store } }) => {
    const known = model.known.get(id);
    const expected = known === undefined
      ? "conversation_not_found"
      : known.items.includes(item)
      ? "ok"
      : "conversation_item_not_found";
    assertEquals(await outcomeOf(store.removeItem(id, item)), expected);
    if (known !== undefined && expected === "ok") {
      const items = known.items.filter((one) => one !== item);
      model.known.set(id, { ...known, items, at: model.time });
    }
  };
}

function remove(id: string): Step {
  return async (model, { objects: { conversations: store } }) =>
    assertEquals(await stored(store.delete(id)), model.known.delete(id));
}

function pass(ms: number): Step {
  return (model, real) => {
    model.time += ms;
    real.time += ms;
    for (const [id, { at }] of model.known) {
      if (model.time - at >= STATE_TTL_MS) model.known.delete(id);
    }
  };
}

async function check({ known }: Model, { objects }: Real): Promise<void> {
  let bytes = 0;
  for (const id of NAMES) {
    const kept = await stored(objects.conversations.find(id)) ?? undefined;
    const expected = known.get(id);
    assertEquals(kept?.items.map((item) => item.id), expected?.items.map((item) => item));
    assertEquals(kept?.metadata, expected?.metadata);
    if (expected === undefined) continue;
    bytes += heldBytes(id) + heldBytes({ ...expected.metadata });
    for (const item of itemsOf(expected.items)) bytes += heldBytes(item);
  }
  assertEquals(objects.stats().conversations, { entries: known.size, bytes });
  const found = await stored(objects.conversations.findItems(new Set(ITEMS)));
  const ids = [...known.values()].flatMap(({ items }) => items);
  assertEquals(found.map(({ id }) => id).toSorted(), ids.toSorted());
}

const name = fc.constantFrom(...NAMES);
const item = fc.constantFrom(...ITEMS);
const items = fc.array(item, { maxLength: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(name, items).map(([id, ids]) => put(id, ids)),
  fc.tuple(name, items).map(([id, ids]) => append(id, ids)),
  fc.tuple(name, items).map(([id, ids]) => append(id, ids)),
  fc.tuple(name, item).map(([id, one]) => removeItem(id, one)),
  fc.tuple(name, item).map(([id, value]) => rename(id, value)),
  name.map(remove),
  fc.integer({ min: 1, max: STATE_TTL_MS }).map(pass),
);

Deno.test("conversations follow a plain model: all of a change or nothing, and its bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const real: Real = { time: 0, objects: newMemoryObjectStore(() => real.time) };
      const model: Model = { time: 0, known: new Map() };
      for (const run of steps) {
        await run(model, real);
        await check(model, real);
      }
    }),
    { numRuns: 300 },
  );
});
