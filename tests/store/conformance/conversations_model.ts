import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { Conversation } from "../../../src/store/conversations.ts";
import type { ConversationStore, Stored } from "../../../src/store/object_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { type Objects, type Step, type StoreUnderTest, testModel } from "./harness.ts";

const NAMES = ["a", "b", "c", "d"] as const;
const ITEMS = ["i1", "i2", "i3", "é4", "i5"] as const;
const RETENTION = { ttlMs: 1_000_000, ownerTtlMs: 1_000_000, maxObjects: 3, maxBytes: 1024 * 1024 };

interface Known {
  readonly creator: string | null;
  /** Creator for whom the record counts: the first one. */
  readonly share: string | null;
  readonly items: readonly JsonObject[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Time of the last change. */
  readonly at: number;
}

/** Conversations by ID, that of the oldest change first. */
interface Model {
  time: number;
  readonly known: Map<string, Known>;
}

type ConversationStep = Step<Model, ConversationStore>;

/** Items whose content differs between conversations, so that none is found for another. */
function itemsOf(conversation: string, ids: readonly string[]): readonly JsonObject[] {
  return ids.map((id) => ({ id, type: "note", text: `${conversation} "\u0000 ${id}` }));
}

function hasDuplicate(items: readonly JsonObject[]): boolean {
  return new Set(items.map(({ id }) => id)).size < items.length;
}

/** Returns the compared members of a conversation. Its size depends on the store. */
function contentOf(
  conversation: Omit<Known, "share"> | Conversation | null | undefined,
): unknown {
  if (conversation === null || conversation === undefined) return null;
  const { creator, items, metadata } = conversation;
  return { creator, items, metadata };
}

/**
 * Sets a conversation as the last changed one. If there are too many, the creator that has most
 * loses its oldest other one; of two that have most it is that of the change.
 */
function change({ known, time }: Model, id: string, changed: Omit<Known, "at" | "share">): void {
  const earlier = known.get(id);
  const share = earlier === undefined ? changed.creator : earlier.share;
  known.delete(id);
  known.set(id, { ...changed, share, at: time });
  if (known.size <= RETENTION.maxObjects) return;
  const countOf = (of: string | null) =>
    known.values().filter((one) => one.share === of).toArray().length;
  const others = [...known].filter(([other]) => other !== id);
  const most = Math.max(...others.map(([, one]) => countOf(one.share)));
  const largest = others.filter(([, one]) => countOf(one.share) === most);
  const [victim = ""] = largest.find(([, one]) => one.share === share) ?? largest[0] ?? [];
  known.delete(victim);
}

/** Compares the result of a change: its refusal, or the changed conversation. */
async function compare(
  operation: Stored<Conversation>,
  expected: string,
  model: Model,
  id: string,
): Promise<void> {
  const result = await operation;
  assertEquals(result.ok ? "ok" : result.failure.kind, expected);
  if (result.ok) assertEquals(contentOf(result.value), contentOf(model.known.get(id)));
}

function create(id: string, creator: string | null, ids: readonly string[]): ConversationStep {
  return async (model, store) => {
    const items = itemsOf(id, ids);
    const metadata = { name: id };
    const made = store.create({ id, creator, createdAt: 17, metadata, items });
    const isRefused = hasDuplicate(items);
    if (!isRefused) change(model, id, { creator, metadata, items });
    await compare(made, isRefused ? "duplicate_item_id" : "ok", model, id);
  };
}

function setMetadata(id: string, value: string): ConversationStep {
  return async (model, store) => {
    const known = model.known.get(id);
    if (known !== undefined) change(model, id, { ...known, metadata: { value } });
    const expected = known === undefined ? "conversation_not_found" : "ok";
    await compare(store.setMetadata(id, { value }), expected, model, id);
  };
}

function append(id: string, ids: readonly string[]): ConversationStep {
  return async (model, store) => {
    const known = model.known.get(id);
    const items = [...known?.items ?? [], ...itemsOf(id, ids)];
    const isRefused = hasDuplicate(items);
    if (known !== undefined && !isRefused) change(model, id, { ...known, items });
    const expected = isRefused ? "duplicate_item_id" : "ok";
    const outcome = known === undefined ? "conversation_not_found" : expected;
    await compare(store.append(id, itemsOf(id, ids)), outcome, model, id);
  };
}

function removeItem(id: string, item: string): ConversationStep {
  return async (model, store) => {
    const known = model.known.get(id);
    const isThere = known?.items.some((one) => one.id === item) ?? false;
    if (known !== undefined && isThere) {
      change(model, id, { ...known, items: known.items.filter((one) => one.id !== item) });
    }
    const expected = isThere ? "ok" : "conversation_item_not_found";
    const outcome = known === undefined ? "conversation_not_found" : expected;
    await compare(store.removeItem(id, item), outcome, model, id);
  };
}

function remove(id: string): ConversationStep {
  return async ({ known }, store) => assertEquals(await stored(store.delete(id)), known.delete(id));
}

function refusedLarge(id: string): ConversationStep {
  return async ({ known }, store) => {
    const item = { id: "large", type: "note", text: "x".repeat(2 * RETENTION.maxBytes) };
    const expected = known.has(id) ? "state_too_large" : "conversation_not_found";
    assertEquals(await outcomeOf(store.append(id, [item])), expected);
  };
}

async function check({ known, time }: Model, store: ConversationStore): Promise<void> {
  for (const [id, { at }] of known) if (time - at >= RETENTION.ttlMs) known.delete(id);
  for (const id of NAMES) {
    const found = await stored(store.find(id));
    assertEquals(contentOf(found), contentOf(known.get(id)));
    if (found !== null) assertEquals([found.id, found.createdAt], [id, 17]);
  }
  const wanted = new Set(["i1", "é4", "unknown"]);
  const items = await stored(store.findItems(wanted));
  const expected = [...known.values()].flatMap(({ creator, items }) =>
    items.filter(({ id }) => wanted.has(String(id)))
      .map((item) => ({ id: String(item.id), item, creator }))
  );
  assertEquals(items.map(({ id, item, creator }) => ({ id, item, creator })), expected);
}

const name = fc.constantFrom(...NAMES);
const item = fc.constantFrom(...ITEMS);
const items = fc.array(item, { maxLength: 3 });
const creator = fc.constantFrom("ada", null);
const appends = fc.tuple(name, items).map(([id, ids]) =>
  [`append ${id} ${ids}`, append(id, ids)] as const
);

/** Registers the model test of conversations. */
export function testConversationModel(under: StoreUnderTest<Objects>): void {
  const steps: readonly fc.Arbitrary<readonly [string, ConversationStep]>[] = [
    fc.tuple(name, creator, items).map(([id, by, ids]) =>
      [`create ${id} ${by} ${ids}`, create(id, by, ids)] as const
    ),
    appends,
    appends,
    fc.tuple(name, item).map(([id, one]) => [`remove ${id} ${one}`, removeItem(id, one)] as const),
    fc.tuple(name, item).map(([id, one]) => [`set ${id} ${one}`, setMetadata(id, one)] as const),
    name.map((id) => [`delete ${id}`, remove(id)] as const),
    name.map((id) => [`append too much to ${id}`, refusedLarge(id)] as const),
  ];
  testModel<Model, Objects>(under, "conversations follow a plain model: all of a change or none", {
    retention: RETENTION,
    newModel: () => ({ time: 0, known: new Map() }),
    steps: steps.map((arbitrary) =>
      arbitrary.map(([text, step]) => [
        text,
        (model, { objects }) => step(model, objects.conversations),
      ])
    ),
    check: (model, { objects }) => check(model, objects.conversations),
  });
}
