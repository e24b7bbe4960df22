import type { OwnedReasoning } from "../../../src/core/stream/reasoning.ts";
import type { ReasoningKey } from "../../../src/store/object_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import {
  expiringBounds,
  type Objects,
  type StoreUnderTest,
  testLifetime,
  testStore,
} from "./harness.ts";
import { testReasoningModel } from "./reasoning_model.ts";

const TTL_MS = 30 * 60_000;
const KIB = 1024;
const BOUNDS = { ttlMs: TTL_MS, ownerTtlMs: TTL_MS, maxObjects: 5, maxBytes: 64 * KIB };

function key(calls: string, text: string | null = "t", creator: string | null = "ada") {
  return { calls, text, creator };
}

function reasoning(thinking: string): OwnedReasoning {
  const value = { type: "thinking", thinking, signature: "s" };
  return {
    account: "a",
    blocks: [{ value, callsBefore: 0 }, { value, callsBefore: 1, textBefore: 7 }],
  };
}

function found({ objects }: Objects, ...keys: ReasoningKey[]): Promise<readonly unknown[]> {
  return stored(objects.reasoning.find(keys));
}

function put({ objects }: Objects, where: ReasoningKey, thinking = "hm"): Promise<boolean> {
  return stored(objects.reasoning.store(where, reasoning(thinking)));
}

/** Registers the tests of reasoning of tool loops. */
export function testReasoning(under: StoreUnderTest<Objects>): void {
  testReasoningModel(under);

  const test = (name: string, run: (first: Objects, second: Objects) => Promise<void>) =>
    testStore(under, name, BOUNDS, ({ pick }) => run(pick(false), pick(true)));

  test(
    "reasoning is found by its calls, with its text or without any, and by nothing else",
    async (first, second) => {
      assertEquals(await put(first, key("c")), true);
      const keys = [key("c"), key("c", null), key("c", "other"), key("d"), key("d", null)];
      assertEquals(await found(second, ...keys), [
        reasoning("hm"),
        reasoning("hm"),
        null,
        null,
        null,
      ]);
      assertEquals(await found(first), []);
    },
  );

  test("the same calls of two callers have the reasoning of each caller", async (first, second) => {
    const callers = ["ada", "bob", null];
    for (const creator of callers) await put(first, key("c", "t", creator), `of ${creator}`);
    for (const creator of callers) {
      const own = reasoning(`of ${creator}`);
      assertEquals(await found(second, key("c", "t", creator), key("c", null, creator)), [
        own,
        own,
      ]);
    }
    assertEquals(await found(first, key("c", "t", "null"), key("c", null, "eve")), [null, null]);
  });

  test(
    "calls that a caller has received with different reasoning need the text",
    async (first, second) => {
      await put(first, key("c", "one"), "1");
      await put(second, key("c", "two"), "2");
      const keys = [key("c", "one"), key("c", "two"), key("c", null)];
      assertEquals(await found(first, ...keys), [reasoning("1"), reasoning("2"), null]);
    },
  );

  test(
    "reasoning that is stored again under its key replaces the earlier one",
    async (first, second) => {
      await put(first, key("c"), "1");
      await put(second, key("c"), "2");
      assertEquals(await found(first, key("c"), key("c", null)), [reasoning("2"), reasoning("2")]);
    },
  );

  test(
    "one caller has at most 4 entries for each of max_entries, and only its own oldest make room",
    async (first, second) => {
      await put(first, key("c", "t", "bob"));
      for (let at = 0; at <= 4 * BOUNDS.maxObjects; at++) await put(first, key(`c${at}`));
      const keys = [key("c0"), key("c0", null), key("c1"), key("c", "t", "bob")];
      assertEquals(await found(second, ...keys), [null, null, reasoning("hm"), reasoning("hm")]);
    },
  );

  test("the entry that was not used the longest makes room", async (first, second) => {
    for (let at = 0; at < 4 * BOUNDS.maxObjects; at++) await put(first, key(`c${at}`));
    await found(second, key("c0", null));
    await put(first, key("one more"));
    const own = [key("c0"), key("c1"), key("c2")];
    assertEquals(await found(second, ...own), [reasoning("hm"), null, reasoning("hm")]);
    for (let at = 0; at < 6 * BOUNDS.maxObjects; at++) {
      await put(first, key(`d${at}`, "t", `key ${at % 2}`));
    }
    await found(second, key("c3"));
    await put(first, key("c", "t", "bob"));
    const all = [key("c3"), key("c4"), key("c5")];
    assertEquals(await found(second, ...all), [reasoning("hm"), null, reasoning("hm")]);
  });

  test(
    "all callers have at most 10 entries for each of max_entries; the oldest makes room",
    async (first, second) => {
      for (let at = 0; at <= 10 * BOUNDS.maxObjects; at++) {
        await put(first, key(`c${at}`, "t", `key ${at % 7}`));
      }
      assertEquals(await found(second, key("c0", null, "key 0")), [null]);
      assertEquals(await found(second, key("c1", null, "key 1")), [reasoning("hm")]);
    },
  );

  test(
    "one caller's reasoning takes at most half of max_bytes, that of all at most max_bytes",
    async (first, second) => {
      // Each entry has two blocks.
      const thinking = "x".repeat(5 * KIB);
      const all = (creator: string, count: number) =>
        Array.from({ length: count }, (_key, at) => key(`c${at}`, "t", creator));
      for (const one of all("ada", 4)) await put(first, one, thinking);
      const whole = reasoning(thinking);
      assertEquals(await found(second, ...all("ada", 4)), [null, whole, whole, whole]);
      for (const creator of ["bob", "eve"]) {
        for (const one of all(creator, 3)) await put(first, one, thinking);
      }
      assertEquals(await found(second, ...all("ada", 4)), [null, null, null, null]);
      assertEquals(await found(second, ...all("bob", 3)), [whole, whole, whole]);
      assertEquals(await put(first, key("large", "t", "eve"), "x".repeat(32 * KIB)), false);
      assertEquals(await found(second, key("large", "t", "eve")), [null]);
      assertEquals(await found(second, ...all("eve", 3)), [whole, whole, whole]);
    },
  );

  test(
    "reasoning that is stored and found at the same time is found whole",
    async (first, second) => {
      const puts = Array.from(
        { length: 10 },
        (_put, at) => put(at % 2 === 0 ? first : second, key("c"), `${at}`),
      );
      const finds = Array.from({ length: 10 }, () => found(second, key("c")));
      assertEquals(new Set(await Promise.all(puts)), new Set([true]));
      const possible = [null, ...Array.from({ length: 10 }, (_put, at) => reasoning(`${at}`))];
      const texts = possible.map((one) => JSON.stringify(one));
      for (const [one] of await Promise.all(finds)) {
        assertEquals(texts.includes(JSON.stringify(one)), true);
      }
      assertEquals((await found(first, key("c", null)))[0], (await found(second, key("c")))[0]);
    },
  );

  testLifetime(under, "reasoning lasts from its last use", BOUNDS, async ({ pick, advance }) => {
    const store = pick(false);
    await put(store, key("c"));
    await put(store, key("d"));
    await advance(TTL_MS - 1);
    assertEquals(await found(pick(true), key("c", null)), [reasoning("hm")]);
    await advance(1);
    assertEquals(await found(store, key("d")), [null]);
    await advance(TTL_MS - 2);
    assertEquals(await found(store, key("c")), [reasoning("hm")]);
    await advance(TTL_MS);
    assertEquals(await found(store, key("c"), key("c", null)), [null, null]);
  });

  testLifetime(
    under,
    "calls with different reasoning need the text until all of it has expired",
    BOUNDS,
    async ({ pick, advance }) => {
      const store = pick(false);
      await put(store, key("c", "one"), "1");
      await put(store, key("c", "two"), "2");
      await advance(TTL_MS - 1);
      await found(store, key("c", "two"));
      await advance(1);
      const keys = [key("c", "one"), key("c", "two"), key("c", null)];
      assertEquals(await found(pick(true), ...keys), [null, reasoning("2"), null]);
      await advance(TTL_MS);
      await put(store, key("c", "three"), "3");
      assertEquals(await found(store, key("c", null)), [reasoning("3")]);
    },
  );

  const { ttlMs } = expiringBounds(under, BOUNDS);
  testStore(
    under,
    "reasoning that is not used ends after its lifetime",
    { ...BOUNDS, ttlMs },
    async ({ pick, advance }) => {
      await put(pick(false), key("c"));
      await put(pick(false), key("d"));
      await advance(2 * ttlMs);
      assertEquals(await found(pick(true), key("c"), key("d", null)), [null, null]);
    },
  );
}
