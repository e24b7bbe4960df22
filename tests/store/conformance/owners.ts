import { type Binding, type Owner, SEVERAL_CALLERS } from "../../../src/store/bindings.ts";
import { type BoundType, type OwnerStore, ownerStore } from "../../../src/store/object_store.ts";
import { relayedOwnerBounds } from "../../../src/store/retention.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import {
  type Objects,
  SHARING,
  type StoreUnderTest,
  testExpiry,
  testLifetime,
  testStore,
} from "./harness.ts";
import { testOwnerModel } from "./owners_model.ts";

const TTL_MS = 30 * 60_000;
const BOUNDS = { ttlMs: TTL_MS, ownerTtlMs: TTL_MS, maxObjects: 20, maxBytes: 1024 * 1024 };
const CONFLICT: Binding = { kind: "conflict", creator: null };

function owner(account: string, creator: Owner["creator"] = null): Owner {
  return { provider: `provider-${account}`, account, origin: null, creator };
}

function bound(account: string, creator: Owner["creator"] = null): Binding {
  return { kind: "bound", owner: owner(account, creator) };
}

function find(owners: OwnerStore, id: string): Promise<Binding | null> {
  return stored(owners.findBinding(id));
}

/**
 * Registers the tests of the owners of each type of object, and the model test of some types: they
 * differ in the name of their records alone, which the model of the records of each engine has.
 */
export function testOwners(
  under: StoreUnderTest<Objects>,
  modelled: readonly BoundType[] = ["conversation"],
): void {
  for (const type of ["chat_completion", "conversation", "response", "relayed_object"] as const) {
    testOwnersOf(under, type);
    if (type === "relayed_object") continue;
    testShortOwnersOf(under, type);
    if (modelled.includes(type)) testOwnerModel(under, type);
  }
  testRelayedOwners(under);
  testStore(under, "the owners of each type are apart", BOUNDS, async ({ pick }) => {
    const { objects } = pick(false);
    await stored(objects.owners.chat_completion.bind("x", owner("a")));
    await stored(objects.owners.conversation.bind("x", owner("b")));
    await stored(objects.responses.bind("x", owner("c")));
    await stored(objects.owners.relayed_object.bind("x", owner("d")));
    const types = ["chat_completion", "conversation", "response", "relayed_object"] as const;
    const bindings = types.map((type) => find(ownerStore(pick(true).objects, type), "x"));
    assertEquals(await Promise.all(bindings), [
      bound("a"),
      bound("b"),
      bound("c"),
      bound("d"),
    ]);
  });
}

function testOwnersOf(under: StoreUnderTest<Objects>, type: BoundType): void {
  const of = ({ objects }: Objects) => ownerStore(objects, type);
  const label = (name: string) => `owners of a ${type}: ${name}`;
  const test = (name: string, run: (first: OwnerStore, second: OwnerStore) => Promise<void>) =>
    testStore(
      under,
      label(name),
      BOUNDS,
      ({ pick }) => run(of(pick(false)), of(pick(true))),
    );

  test("the first account that returns an ID owns it", async (first, second) => {
    assertEquals(await find(first, "x"), null);
    assertEquals(await stored(first.bind("x", owner("a"))), bound("a"));
    assertEquals(await find(second, "x"), bound("a"));
    assertEquals(await stored(second.bind("x", owner("a"))), bound("a"));
  });

  test("an ID that two accounts return is a conflict", async (first, second) => {
    await stored(first.bind("x", owner("a")));
    assertEquals(await stored(second.bind("x", owner("b"))), CONFLICT);
    assertEquals(await stored(first.bind("x", owner("a"))), CONFLICT);
    assertEquals(await find(second, "x"), CONFLICT);
  });

  test(
    "a delete removes the binding of its account and never a conflict",
    async (first, second) => {
      await stored(first.bind("x", owner("a")));
      assertEquals(await stored(second.unbind("x", "b", SHARING)), false);
      assertEquals(await find(first, "x"), bound("a"));
      assertEquals(await stored(second.unbind("x", "a", SHARING)), true);
      assertEquals(await find(first, "x"), null);
      assertEquals(await stored(first.unbind("x", "a", SHARING)), false);
      await stored(first.bind("x", owner("a")));
      await stored(second.bind("x", owner("b")));
      assertEquals(await stored(first.unbind("x", "a", SHARING)), false);
      assertEquals(await find(second, "x"), CONFLICT);
    },
  );

  test(
    "an ID belongs to the caller that has received it, and to none if several have",
    async (first, second) => {
      await stored(first.bind("x", owner("a", "key ada")));
      assertEquals(await stored(second.bind("x", owner("a", "key ada"))), bound("a", "key ada"));
      const shared = bound("a", SEVERAL_CALLERS);
      assertEquals(await stored(second.bind("x", owner("a", "key bob"))), shared);
      assertEquals(await stored(first.bind("x", owner("a", "key ada"))), shared);
      assertEquals(await stored(first.bind("x", owner("a", null))), shared);
      assertEquals(await find(second, "x"), shared);
    },
  );

  test(
    "a conflict belongs to a caller while no other caller has received the ID",
    async (first, second) => {
      await stored(first.bind("x", owner("a", "key ada")));
      const own: Binding = { kind: "conflict", creator: "key ada" };
      assertEquals(await stored(second.bind("x", owner("b", "key ada"))), own);
      assertEquals(await stored(first.bind("x", owner("a", "key ada"))), own);
      const shared: Binding = { kind: "conflict", creator: SEVERAL_CALLERS };
      assertEquals(await stored(second.bind("x", owner("a", "key bob"))), shared);
      assertEquals(await stored(first.bind("x", owner("a", "key ada"))), shared);
      await stored(first.bind("y", owner("a", "key ada")));
      assertEquals(await stored(second.bind("y", owner("b", "key bob"))), shared);
    },
  );

  test("an isolated caller unbinds only what it has created itself", async (first, second) => {
    await stored(first.bind("x", owner("a", "key ada")));
    const bob = { name: "key bob", isIsolated: true };
    const ada = { name: "key ada", isIsolated: true };
    const nobody = { name: null, isIsolated: true };
    assertEquals(await stored(second.unbind("x", "a", bob)), false);
    assertEquals(await stored(second.unbind("x", "a", nobody)), false);
    assertEquals(await stored(second.unbind("x", "a", ada)), true);
    await stored(first.bind("x", owner("a", "key ada")));
    assertEquals(await stored(first.unbind("x", "a", { ...bob, isIsolated: false })), true);
  });

  test("the bindings of several IDs are found together", async (first, second) => {
    await stored(first.bind("x", owner("a")));
    await stored(second.bind("y", owner("a")));
    await stored(second.bind("y", owner("b")));
    const found = await stored(second.findBindings(["y", "unknown", "x", "x"]));
    assertEquals(new Map(found), new Map([["y", CONFLICT], ["x", bound("a")]]));
    assertEquals((await stored(first.findBindings([]))).size, 0);
  });

  test(
    "one ID that many accounts return at the same time is one conflict for all",
    async (first, second) => {
      const accounts = Array.from({ length: 20 }, (_account, at) => `account-${at}`);
      const binds = accounts.map((account, at) =>
        stored((at % 2 === 0 ? first : second).bind("x", owner(account)))
      );
      const kinds = (await Promise.all(binds)).map(({ kind }) => kind);
      assertEquals(kinds.filter((kind) => kind === "bound").length, 1);
      assertEquals(await find(first, "x"), CONFLICT);
      assertEquals(await find(second, "x"), CONFLICT);
    },
  );

  test("of concurrent deletes one removes the binding", async (first, second) => {
    await stored(first.bind("x", owner("a")));
    const deletes = Array.from(
      { length: 20 },
      (_delete, at) => stored((at % 2 === 0 ? first : second).unbind("x", "a", SHARING)),
    );
    assertEquals((await Promise.all(deletes)).filter((isRemoved) => isRemoved).length, 1);
    assertEquals(await find(first, "x"), null);
  });
}

/** Registers the tests of the lifetime and the bounds of owners that are not those of files. */
function testShortOwnersOf(under: StoreUnderTest<Objects>, type: BoundType): void {
  const of = ({ objects }: Objects) => ownerStore(objects, type);
  const label = (name: string) => `owners of a ${type}: ${name}`;
  const test = (name: string, run: (first: OwnerStore, second: OwnerStore) => Promise<void>) =>
    testStore(under, label(name), BOUNDS, ({ pick }) => run(of(pick(false)), of(pick(true))));

  test("at most max_entries IDs are bound, and the oldest makes room", async (first, second) => {
    for (let at = 0; at <= BOUNDS.maxObjects; at++) await stored(first.bind(`x${at}`, owner("a")));
    assertEquals(await find(second, "x0"), null);
    assertEquals(await find(second, "x1"), bound("a"));
    assertEquals(await find(second, `x${BOUNDS.maxObjects}`), bound("a"));
  });

  test(
    "a client with very many IDs makes the store forget its own, never another's",
    async (first, second) => {
      for (const id of ["a1", "a2"]) await stored(first.bind(id, owner("a", "key ada")));
      for (let at = 0; at < 10 * BOUNDS.maxObjects; at++) {
        await stored(second.bind(`b${at}`, owner("a", "key bob")));
      }
      for (const id of ["a1", "a2"]) assertEquals(await find(first, id), bound("a", "key ada"));
      assertEquals(await find(first, "b0"), null);
      assertEquals(
        await find(second, `b${10 * BOUNDS.maxObjects - 1}`),
        bound("a", "key bob"),
      );
    },
  );

  testExpiry(
    under,
    label("a binding ends after its lifetime, however often the ID is read"),
    BOUNDS,
    async (store) => void await stored(of(store).bind("x", owner("a"))),
    async (store) => await find(of(store), "x") !== null,
  );

  testLifetime(
    under,
    label("a binding lasts from its creation, however often the ID is returned"),
    BOUNDS,
    async ({ pick, advance }) => {
      await stored(of(pick(false)).bind("x", owner("a")));
      await advance(TTL_MS - 1);
      await stored(of(pick(true)).bind("x", owner("a")));
      assertEquals(await find(of(pick(false)), "x"), bound("a"));
      await advance(1);
      assertEquals(await find(of(pick(false)), "x"), null);
    },
  );

  testLifetime(
    under,
    label("a conflict lasts from its discovery; then the ID is free"),
    BOUNDS,
    async ({ pick, advance }) => {
      const owners = of(pick(false));
      await stored(owners.bind("x", owner("a")));
      await advance(TTL_MS - 1);
      await stored(owners.bind("x", owner("b")));
      await advance(TTL_MS - 1);
      assertEquals(await find(owners, "x"), CONFLICT);
      await advance(1);
      assertEquals(await find(owners, "x"), null);
      assertEquals(await stored(owners.bind("x", owner("b"))), bound("b"));
    },
  );
}

/** Registers the tests of the lifetime and the bounds of the owners of files. */
function testRelayedOwners(under: StoreUnderTest<Objects>): void {
  const of = ({ objects }: Objects) => objects.owners.relayed_object;
  const label = (name: string) => `owners of a relayed_object: ${name}`;
  const ownerTtlMs = 48 * TTL_MS;

  testLifetime(
    under,
    label("an owner lasts from the last lookup of its ID alone"),
    { ...BOUNDS, ownerTtlMs },
    async ({ pick, advance }) => {
      for (const id of ["looked up", "listed"]) await stored(of(pick(false)).bind(id, owner("a")));
      await advance(ownerTtlMs - 1);
      assertEquals(await find(of(pick(true)), "looked up"), bound("a"));
      assertEquals((await stored(of(pick(true)).findBindings(["looked up", "listed"]))).size, 2);
      await advance(1);
      const left = await stored(of(pick(false)).findBindings(["looked up", "listed"]));
      assertEquals([...left.keys()], ["looked up"]);
      await advance(ownerTtlMs - 1);
      assertEquals(await find(of(pick(false)), "looked up"), null);
    },
  );

  testLifetime(
    under,
    label("a lookup does not renew the owners of other objects"),
    { ...BOUNDS, ownerTtlMs },
    async ({ pick, advance }) => {
      const { owners } = pick(false).objects;
      const types = [owners.conversation, owners.relayed_object];
      for (const one of types) await stored(one.bind("x", owner("a")));
      await advance(TTL_MS - 1);
      for (const one of types) assertEquals(await find(one, "x"), bound("a"));
      await advance(1);
      assertEquals(await Promise.all(types.map((one) => find(one, "x"))), [null, bound("a")]);
    },
  );

  testStore(
    under,
    label("they have bounds of their own, within which no client can remove those of another"),
    { ...BOUNDS, maxObjects: 1 },
    async ({ pick }) => {
      const { entries } = relayedOwnerBounds({ maxObjects: 1 });
      await stored(of(pick(false)).bind("a", owner("a", "key ada")));
      for (let at = 0; at < entries; at++) {
        await stored(of(pick(true)).bind(`b${at}`, owner("a", "key bob")));
      }
      const found = await stored(of(pick(false)).findBindings(["a", "b0", "b1"]));
      assertEquals([...found.keys()], ["a", "b1"]);
      assertEquals(pick(true).objects.stats().relayed_object_bindings.entries, entries);
    },
  );
}
