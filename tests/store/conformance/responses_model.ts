import fc from "fast-check";
import type { Binding, Caller, Owner, ResponseProvenance } from "../../../src/store/bindings.ts";
import type { ResponseStore } from "../../../src/store/object_store.ts";
import type { Snapshot } from "../../../src/store/snapshots.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type Objects, type Step, type StoreUnderTest, testModel } from "./harness.ts";
import { bindingAfter, creatorIn, isSameBinding, makeRoom } from "./owners_model.ts";

const IDS = ["a", "b", "c", "d"] as const;
const RETENTION = { ttlMs: 1_000_000, ownerTtlMs: 1_000_000, maxObjects: 3, maxBytes: 64 * 1024 };

interface Known {
  readonly binding: Binding;
  /** Time of the last change of the binding. */
  readonly at: number;
  /** Creator for whom the ID counts: the first one. */
  readonly share: Owner["creator"];
  /** `unclear`: expired under a binding that was changed later; a store may still have it. */
  readonly snapshot: { readonly value: Snapshot; readonly at: number } | "unclear" | null;
}

/** Responses by ID, that of the oldest change of a binding first. */
interface Model {
  time: number;
  /** Number of stored responses, which makes each one different. */
  made: number;
  readonly known: Map<string, Known>;
}

type ResponseStep = Step<Model, ResponseStore>;

const ORIGIN: ResponseProvenance = {
  route: "",
  model: "m",
  requestedModel: null,
  protocol: "responses",
  hasSnapshot: true,
};

function ownerOf(account: string, creator: string | null, hasSnapshot: boolean): Owner {
  return { provider: `of ${account}`, account, origin: { ...ORIGIN, hasSnapshot }, creator };
}

/** Returns the binding in the model after an account has returned the ID. */
function bindIn(model: Model, id: string, owner: Owner): Binding {
  const earlier = model.known.get(id);
  const binding = bindingAfter(earlier?.binding, owner);
  if (isSameBinding(earlier?.binding, binding)) return binding;
  const snapshot = binding.kind === "conflict" ? null : earlier?.snapshot ?? null;
  const share = earlier === undefined ? owner.creator : earlier.share;
  model.known.delete(id);
  model.known.set(id, { binding, snapshot, at: model.time, share });
  makeRoom(model.known, id, RETENTION.maxObjects);
  return binding;
}

interface Create {
  readonly id: string;
  readonly account: string;
  readonly caller: Caller;
  readonly isNative: boolean;
  readonly isLarge: boolean;
}

/** A response that is stored and bound, as a create leaves it. */
function create({ id, account, caller, isNative, isLarge }: Create): ResponseStep {
  return async (model, store) => {
    const { time: at, known } = model;
    const text = isLarge ? "x".repeat(2 * RETENTION.maxBytes) : `${++model.made}`;
    const item = (name: string) => ({ id: name, type: "message", of: id, text });
    const value: Snapshot = {
      resource: { id, output: [item("both"), item(`output ${id}`)] },
      input: [item("shared"), item("both")],
    };
    const owner = ownerOf(account, caller.name, true);
    const binding = await stored(store.store(id, { owner, snapshot: value, isNative }, caller));

    const earlier = known.get(id)?.binding;
    const isVisible = earlier === undefined ||
      (earlier.kind === "bound" && (!caller.isIsolated || creatorIn(earlier) === caller.name));
    const isStored = isVisible && !isLarge;
    if (!isStored && !isNative) return assertEquals(binding, null);
    const next = bindIn(model, id, ownerOf(account, caller.name, isStored));
    assertEquals(binding, next);
    const bound = known.get(id);
    if (isStored && bound !== undefined && next.kind === "bound") {
      known.set(id, { ...bound, snapshot: { value, at } });
    }
  };
}

/** A response that only its upstream stores. */
function bind(id: string, account: string, creator: string | null): ResponseStep {
  return async (model, store) => {
    const owner = ownerOf(account, creator, false);
    assertEquals(await stored(store.bind(id, owner)), bindIn(model, id, owner));
  };
}

function unbind(id: string, account: string, caller: Caller): ResponseStep {
  return async ({ known }, store) => {
    const binding = known.get(id)?.binding;
    const isRemoved = binding?.kind === "bound" && binding.owner.account === account &&
      (!caller.isIsolated || binding.owner.creator === caller.name);
    assertEquals(await stored(store.unbind(id, account, caller)), isRemoved);
    if (isRemoved) known.delete(id);
  };
}

/** Removes from the model what has expired. */
function expire({ known, time }: Model): void {
  for (const [id, { at, share, binding, snapshot }] of known) {
    if (time - at >= RETENTION.ttlMs) known.delete(id);
    else if (snapshot !== null && snapshot !== "unclear") {
      if (time - snapshot.at >= RETENTION.ttlMs) {
        known.set(id, { at, share, binding, snapshot: "unclear" });
      }
    }
  }
}

async function check(model: Model, store: ResponseStore): Promise<void> {
  expire(model);
  const { known } = model;
  for (const id of IDS) {
    const found = await stored(store.find(id));
    const expected = known.get(id);
    assertEquals(found?.binding ?? null, expected?.binding ?? null);
    const snapshot = expected?.snapshot ?? null;
    if (snapshot !== "unclear") assertEquals(found?.snapshot ?? null, snapshot?.value ?? null);
  }
  if ([...known.values()].some(({ snapshot }) => snapshot === "unclear")) return;
  const items = [...known].flatMap(([id, { binding, snapshot }]) =>
    snapshot === null || snapshot === "unclear" ? [] : [...snapshot.value.input, {
      ...snapshot.value.input[0],
      id: `output ${id}`,
    }].map((item) => JSON.stringify([item.id, item, binding]))
  );
  const names = ["shared", "both", "unknown", ...IDS.map((id) => `output ${id}`)];
  const found = await stored(store.findItems(new Set(names)));
  const texts = found.map(({ id, item, binding }) => JSON.stringify([id, item, binding]));
  assertEquals(texts.toSorted(), items.toSorted());
}

const id = fc.constantFrom(...IDS);
const account = fc.constantFrom("one", "two");
const caller = fc.record({ name: fc.constantFrom("ada", "bob", null), isIsolated: fc.boolean() });
const ada = fc.constant({ name: "ada", isIsolated: true });
const flags = { isNative: fc.boolean(), isLarge: fc.constantFrom(false, false, false, true) };

/** Registers the model test of responses. */
export function testResponseModel(under: StoreUnderTest<Objects>): void {
  const creates = [
    fc.record({ id, account, caller, ...flags }),
    fc.record({ id, account: fc.constant("one"), caller: ada, ...flags }),
  ].map((drawn) => drawn.map((of) => [`create ${fc.stringify(of)}`, create(of)] as const));
  const steps: readonly fc.Arbitrary<readonly [string, ResponseStep]>[] = [
    ...creates,
    fc.tuple(id, account, caller).map(([id, account, { name }]) =>
      [`bind ${id} ${account} ${name}`, bind(id, account, name)] as const
    ),
    fc.tuple(id, account, caller).map(([id, account, caller]) =>
      [`unbind ${id} ${account} ${fc.stringify(caller)}`, unbind(id, account, caller)] as const
    ),
  ];
  testModel<Model, Objects>(under, "responses and their owners follow a plain model", {
    retention: RETENTION,
    newModel: () => ({ time: 0, made: 0, known: new Map() }),
    steps: steps.map((arbitrary) =>
      arbitrary.map((
        [text, step],
      ) => [text, (model, { objects }) => step(model, objects.responses)])
    ),
    check: (model, { objects }) => check(model, objects.responses),
  });
}
