import fc from "fast-check";
import { type Binding, type Owner, SEVERAL_CALLERS } from "../../../src/store/bindings.ts";
import { type BoundType, type OwnerStore, ownerStore } from "../../../src/store/object_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type Objects, type Step, type StoreUnderTest, testModel } from "./harness.ts";

const IDS = ["a", "b", "c", "é\0 d"] as const;
const RETENTION = { ttlMs: 1_000_000, ownerTtlMs: 1_000_000, maxObjects: 3, maxBytes: 1024 * 1024 };

/** Model of the binding of an ID. */
export interface KnownBinding {
  readonly binding: Binding;
  /** Time of the last change. */
  readonly at: number;
  /** Creator for whom the ID counts: the first one. */
  readonly share: Owner["creator"];
}

/** Bindings by ID, that of the oldest change first. */
interface Model {
  time: number;
  readonly known: Map<string, KnownBinding>;
}

/** Returns the binding after an account has returned the ID to a caller. */
export function bindingAfter(earlier: Binding | undefined, owner: Owner): Binding {
  if (earlier === undefined) return { kind: "bound", owner };
  const before = earlier.kind === "bound" ? earlier.owner.creator : earlier.creator;
  const creator = before === owner.creator ? before : SEVERAL_CALLERS;
  if (earlier.kind === "conflict" || earlier.owner.account !== owner.account) {
    return { kind: "conflict", creator };
  }
  return { kind: "bound", owner: { ...earlier.owner, creator } };
}

/** True if both bindings have the same content. */
export function isSameBinding(one: Binding | undefined, other: Binding): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the creator of a binding. */
export function creatorIn(binding: Binding): Owner["creator"] {
  return binding.kind === "bound" ? binding.owner.creator : binding.creator;
}

/**
 * Removes the oldest ID of the creator that has most, if there are too many, but not `needing`: of
 * several such creators that of `needing` if it is one of them.
 */
export function makeRoom(
  known: Map<string, { readonly share: Owner["creator"] }>,
  needing: string,
  maxCount: number,
): void {
  if (known.size <= maxCount) return;
  const own = known.get(needing)?.share;
  const others = [...known].filter(([id]) => id !== needing);
  const countOf = (creator: Owner["creator"] | undefined) =>
    [...known.values()].filter(({ share }) => share === creator).length;
  const most = Math.max(...others.map(([, { share }]) => countOf(share)));
  const largest = others.filter(([, { share }]) => countOf(share) === most);
  const [victim] = largest.find(([, { share }]) => share === own) ?? largest[0] ?? [];
  if (victim !== undefined) known.delete(victim);
}

function bind(id: string, owner: Owner): Step<Model, OwnerStore> {
  return async (model, store) => {
    const earlier = model.known.get(id);
    const binding = bindingAfter(earlier?.binding, owner);
    assertEquals(await stored(store.bind(id, owner)), binding);
    if (isSameBinding(earlier?.binding, binding)) return;
    const share = earlier === undefined ? owner.creator : earlier.share;
    model.known.delete(id);
    model.known.set(id, { binding, at: model.time, share });
    makeRoom(model.known, id, RETENTION.maxObjects);
  };
}

function unbind(
  id: string,
  account: string,
  caller: { readonly name: string | null; readonly isIsolated: boolean },
): Step<Model, OwnerStore> {
  return async ({ known }, store) => {
    const binding = known.get(id)?.binding;
    const isRemoved = binding?.kind === "bound" && binding.owner.account === account &&
      (!caller.isIsolated || binding.owner.creator === caller.name);
    assertEquals(await stored(store.unbind(id, account, caller)), isRemoved);
    if (isRemoved) known.delete(id);
  };
}

async function check({ known, time }: Model, store: OwnerStore): Promise<void> {
  for (const [id, { at }] of known) if (time - at >= RETENTION.ttlMs) known.delete(id);
  const expected = IDS.filter((id) => known.has(id)).map((id) => [id, known.get(id)?.binding]);
  const found = await stored(store.findBindings(IDS));
  assertEquals(IDS.filter((id) => found.has(id)).map((id) => [id, found.get(id)]), expected);
  for (const id of IDS) {
    assertEquals(await stored(store.findBinding(id)), known.get(id)?.binding ?? null);
  }
}

const id = fc.constantFrom(...IDS);
const account = fc.constantFrom("one", "two");
const creator = fc.constantFrom("ada", "bob", null);
const steps = [
  fc.tuple(id, account, creator),
  fc.tuple(id, fc.constant("one"), fc.constant("ada")),
].map((drawn) =>
  drawn.map(([id, account, creator]) => {
    const owner = { provider: `of ${account}`, account, origin: null, creator };
    return [`bind ${id} ${account} ${creator}`, bind(id, owner)] as const;
  })
);
const unbinds = fc.tuple(id, account, creator, fc.boolean()).map((
  [id, account, name, isIsolated],
) =>
  [
    `unbind ${id} ${account} ${name} ${isIsolated}`,
    unbind(id, account, { name, isIsolated }),
  ] as const
);

/** Registers the model test of the owners of a type of object. */
export function testOwnerModel(under: StoreUnderTest<Objects>, type: BoundType): void {
  const of = ({ objects }: Objects) => ownerStore(objects, type);
  testModel<Model, Objects>(under, `owners of a ${type} follow a plain model`, {
    retention: RETENTION,
    newModel: () => ({ time: 0, known: new Map() }),
    steps: [...steps, unbinds].map((arbitrary) =>
      arbitrary.map(([text, step]) => [text, (model, store) => step(model, of(store))])
    ),
    check: (model, store) => check(model, of(store)),
  });
}
