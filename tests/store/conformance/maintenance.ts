import type { Owner } from "../../../src/store/bindings.ts";
import type { StateInfo } from "../../../src/store/state_info.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { SHARING, type StoreUnderTest, testStore } from "./harness.ts";

const TTL_MS = 30 * 60_000;
const KIB = 1024;
const BOUNDS = { ttlMs: TTL_MS, ownerTtlMs: TTL_MS, maxObjects: 3_000, maxBytes: 1024 * KIB };

/** More owners than a store removes in one step. */
const OWNERS_COUNT = 1_200;

const OWNER: Owner = { provider: "p", account: "a", origin: null, creator: null };
const ORIGIN = { route: "", model: "m", requestedModel: null, protocol: "responses" } as const;
const KEY = { calls: "c", text: "t", creator: "ada" };

/** Stores a response, two conversations, an owner, reasoning and a cached response. */
async function fill({ objects, cachedResponses }: StateStore): Promise<void> {
  const owner = { ...OWNER, origin: { ...ORIGIN, hasSnapshot: true } };
  const snapshot = { resource: { id: "r" }, input: [{ id: "i", type: "x" }] };
  await stored(objects.responses.store("r", { owner, snapshot, isNative: false }, SHARING));
  for (const id of ["c1", "c2"]) {
    const items = [{ id: `item ${id}`, type: "x" }];
    await stored(
      objects.conversations.create({ id, creator: null, createdAt: 0, metadata: {}, items }),
    );
  }
  await stored(objects.owners.chat_completion.bind("o", OWNER));
  const blocks = [{ value: { type: "thinking", thinking: "hm", signature: "s" }, callsBefore: 0 }];
  await stored(objects.reasoning.store(KEY, { account: "a", blocks }));
  const body = new TextEncoder().encode("text");
  await cachedResponses.set("k", { status: 200, headers: {}, body }, TTL_MS);
}

/** True if nothing that `fill` stores is found. */
async function isEmpty({ objects, cachedResponses }: StateStore): Promise<boolean> {
  const found = [
    await stored(objects.responses.find("r")),
    await stored(objects.conversations.find("c1")),
    await stored(objects.conversations.find("c2")),
    await stored(objects.owners.chat_completion.findBinding("o")),
    ...await stored(objects.reasoning.find([KEY])),
    await cachedResponses.get("k"),
  ];
  return found.every((one) => one === null);
}

function entriesOf({ types }: StateInfo): Readonly<Record<string, number>> {
  return Object.fromEntries(types.map(({ type, entries }) => [type, entries]));
}

/** Registers the tests of what people see and delete of a store. */
export function testMaintenance(under: StoreUnderTest<StateStore>): void {
  testStore(
    under,
    "an empty store has a version, no records and no ages",
    BOUNDS,
    async ({ pick }) => {
      const { version, ...rest } = await stored(pick(false).stats());
      assertMatch(version, /^[A-Z][A-Za-z]+ \d+\.\d+/);
      assertEquals(rest, { types: [], oldestMs: null, newestMs: null });
    },
  );

  testStore(
    under,
    "the records of each type are counted with their bytes and ages",
    BOUNDS,
    async ({ pick, advance }) => {
      await fill(pick(false));
      await advance(50);
      await stored(pick(false).objects.owners.conversation.bind("o", OWNER));
      const info = await stored(pick(true).stats());
      assertEquals(entriesOf(info), {
        responses: 1,
        conversations: 2,
        // Of the response, of the completion and of the conversation.
        owners: 3,
        reasoning: 1,
        cached_responses: 1,
      });
      assert(info.types.every(({ bytes }) => bytes > 0));
      const { oldestMs, newestMs } = info;
      assert(oldestMs !== null && newestMs !== null && newestMs >= 0 && oldestMs >= newestMs + 50);
    },
  );

  testStore(
    under,
    "a purge removes all records, and the store can be used after it",
    BOUNDS,
    async ({ pick, reopen }) => {
      await fill(pick(false));
      assert(!await isEmpty(pick(true)));
      assert(await stored(pick(false).purge()) >= 6);
      assert(await isEmpty(pick(true)));
      assertEquals((await stored(pick(true).stats())).types, []);
      assertEquals(await stored(pick(false).purge()), 0);
      await reopen();
      assert(await isEmpty(pick(false)));
      await fill(pick(true));
      assertEquals(entriesOf(await stored(pick(false).stats())).conversations, 2);
    },
  );

  testStore(under, "a purge removes more records than one step does", BOUNDS, async ({ pick }) => {
    const { owners } = pick(false).objects;
    for (let from = 0; from < OWNERS_COUNT; from += 400) {
      const ids = Array.from({ length: 400 }, (_id, index) => `o${from + index}`);
      await Promise.all(ids.map((id) => stored(owners.conversation.bind(id, OWNER))));
    }
    assertEquals(await stored(pick(false).purge()), OWNERS_COUNT);
    assertEquals((await stored(pick(true).stats())).types, []);
  });

  testStore(
    under,
    "the sums of quotas are among the records, and a purge removes them",
    BOUNDS,
    async ({ pick, reopen }) => {
      const spends = [{ window: "usd d:1", amount: 5, ttlMs: TTL_MS }];
      const use = { caller: "key a", tokensPerMinute: null, holdsSlot: false, tokens: 0, spends };
      await pick(false).quotas.settle("call", [use]);
      const sumOf = async (store: StateStore) =>
        (await stored(store.quotas.spent(["key a"]))).get("key a")?.get("usd d:1") ?? 0;
      await reopen();
      assertEquals(await sumOf(pick(false)), 5);
      assert((entriesOf(await stored(pick(false).stats())).quotas ?? 0) > 0);
      await stored(pick(false).purge());
      assertEquals((await stored(pick(true).stats())).types, []);
      await reopen();
      assertEquals(await sumOf(pick(false)), 0);
    },
  );
}
