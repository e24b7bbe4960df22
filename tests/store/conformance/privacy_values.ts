import type { TokenizedValue, ValuedObject } from "../../../src/store/privacy_values.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type StoreUnderTest, testLifetime, testStore } from "./harness.ts";

const TTL_MS = 60_000;
const BOUNDS = { ttlMs: TTL_MS, ownerTtlMs: TTL_MS, maxObjects: 100, maxBytes: 64 * 1024 };

/** The part of a store that holds the values of privacy rules. */
export type Valued = Pick<StateStore, "privacyValues">;

const of = (id: string, creator: string | null = "ada"): ValuedObject => ({ creator, id });

const one = (core: string, value = "v"): TokenizedValue => ({ core, label: "email", value });

async function add(
  { privacyValues }: Valued,
  object: ValuedObject,
  ...values: readonly TokenizedValue[]
): Promise<void> {
  assert(privacyValues !== null);
  await stored(privacyValues.add(object, { values, isJsonText: false }));
}

async function find({ privacyValues }: Valued, ...objects: readonly ValuedObject[]) {
  assert(privacyValues !== null);
  return (await stored(privacyValues.find(objects))).flatMap(({ values }) => values);
}

/** Registers the tests of the values of objects that providers store. */
export function testPrivacyValues(under: StoreUnderTest<Valued>): void {
  testStore(
    under,
    "an object has the values of all replicas for its client alone, also after a restart",
    BOUNDS,
    async ({ pick, reopen }) => {
      await add(pick(false), of("r"), one("x"), one("y", "é\n😀"));
      await add(pick(true), of("r"), one("x"), one("z"));
      await add(pick(true), of("s"), one("w"));
      await reopen();
      const all = [one("x"), one("y", "é\n😀"), one("z")];
      assertEquals(await find(pick(false), of("r")), all);
      assertEquals(await find(pick(true), of("s"), of("none"), of("r")), [one("w"), ...all]);
      for (const creator of ["bob", null]) {
        assertEquals(await find(pick(true), of("r", creator)), []);
      }
    },
  );

  testStore(
    under,
    "an object keeps for each replica that its text is JSON, whatever is added later",
    BOUNDS,
    async ({ pick, reopen }) => {
      const areJson = async (privacyValues: Valued["privacyValues"]) => {
        assert(privacyValues !== null);
        const found = await stored(privacyValues.find([of("r"), of("none"), of("s")]));
        return found.map(({ isJsonText }) => isJsonText);
      };
      const { privacyValues } = pick(false);
      assert(privacyValues !== null);
      await stored(privacyValues.add(of("r"), { values: [one("x")], isJsonText: true }));
      await add(pick(true), of("s"), one("x"));
      assertEquals(await areJson(pick(true).privacyValues), [true, false, false]);
      await add(pick(true), of("r"), one("y"));
      await reopen();
      assertEquals(await areJson(pick(true).privacyValues), [true, false, false]);
      assertEquals(await find(pick(false), of("r")), [one("x"), one("y")]);
    },
  );

  testStore(
    under,
    "replicas that add values at the same time lose none",
    BOUNDS,
    async ({ pick }) => {
      const cores = Array.from({ length: 20 }, (_one, at) => `core${at}`);
      await Promise.all(cores.map((core, at) => add(pick(at % 2 === 0), of("r"), one(core))));
      const found = await find(pick(true), of("r"));
      assertEquals(found.map(({ core }) => core).toSorted(), cores.toSorted());
    },
  );

  testLifetime(
    under,
    "values have a lifetime that each use renews",
    BOUNDS,
    async ({ pick, advance }) => {
      await add(pick(false), of("r"), one("x"));
      for (const use of [1, 2]) {
        await advance(TTL_MS - 1);
        assertEquals(await find(pick(use === 1), of("r")), [one("x")]);
      }
      await advance(TTL_MS);
      assertEquals(await find(pick(false), of("r")), []);
    },
  );

  testStore(
    under,
    "an object has at most 64 KiB of values, and no client pushes out those of another",
    BOUNDS,
    async ({ pick }) => {
      const large = "v".repeat(20_000);
      await add(pick(false), of("r"), one("x", large), one("y", large), one("z"));
      assertEquals((await find(pick(true), of("r"))).map(({ core }) => core), ["x", "z"]);
      for (let at = 0; at < 3 * BOUNDS.maxObjects; at++) {
        await add(pick(false), of(`other ${at}`, "bob"), one("x"));
      }
      assertEquals((await find(pick(true), of("r"))).map(({ core }) => core), ["x", "z"]);
      assertEquals(await find(pick(true), of("other 0", "bob")), []);
      assertEquals(await find(pick(true), of("other 299", "bob")), [one("x")]);
    },
  );
}
