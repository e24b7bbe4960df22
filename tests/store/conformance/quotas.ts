import { Buffer } from "node:buffer";
import type { QuotaDecision, QuotaLimits, QuotaScope } from "../../../src/store/quota_store.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { use } from "../quotas/use.ts";
import { type StoreUnderTest, testStore } from "./harness.ts";
import { testQuotaModels } from "./quotas_model.ts";

/** The part of a store that counts what callers use. */
export type Quotas = Pick<StateStore, "quotas">;

const NO_LIMIT: QuotaLimits = {
  requests: null,
  tokensPerMinute: null,
  maxConcurrent: null,
  budgets: [],
};

const DAY_MS = 24 * 60 * 60 * 1000;

function scope(caller: string, limits: Partial<QuotaLimits>): QuotaScope {
  return { caller, limits: { ...NO_LIMIT, ...limits } };
}

const BURST = { requests_per_minute: 1, burst_size: 5 };

/** Registers the promises of every store of quotas. */
export function testQuotas(under: StoreUnderTest<Quotas>): void {
  const test = (name: string, run: Parameters<typeof testStore<Quotas>>[3]) =>
    testStore(under, name, DEFAULT_RETENTION, run);

  test("40 calls at once get a burst of 5, and no call more", async ({ pick }) => {
    const decisions = await Promise.all(
      numbers(40).map(async (number) =>
        await pick(number % 2 === 1).quotas.admit(
          [scope("a", { requests: BURST })],
          `call ${number}`,
        )
      ),
    );
    assertEquals(admitted(decisions), 5);
    assertEquals(
      decisions.flatMap((one) => one.kind === "admitted" ? one.rests[0]?.requests : [])
        .toSorted(),
      [0, 1, 2, 3, 4],
    );
  });

  test("20 calls at once get 3 concurrent calls, and each that ends makes room for one", async ({ pick }) => {
    const scopes = [scope("a", { maxConcurrent: 3 })];
    const ask = async (number: number) =>
      await pick(number % 2 === 1).quotas.admit(scopes, `call ${number}`);
    const decisions = await Promise.all(numbers(20).map(ask));
    assertEquals(admitted(decisions), 3);
    const refused = decisions.find(({ kind }) => kind === "refused");
    assert(refused?.kind === "refused");
    assertEquals([refused.reason, refused.waitMs], ["concurrency", 1_000]);
    const first = decisions.findIndex(({ kind }) => kind === "admitted");
    await pick(false).quotas.settle(`call ${first}`, [use("a", { holdsSlot: true })]);
    assertEquals(admitted(await Promise.all(numbers(9).map((one) => ask(100 + one)))), 1);
  });

  test("sums are exact however many calls end at once, and however often each is settled", async ({ pick }) => {
    const spends = (amount: number) => [{ window: "usd d:1", amount, ttlMs: DAY_MS }];
    await Promise.all(
      numbers(60).map(async (number) =>
        await pick(number % 2 === 1).quotas.settle(`call ${number % 30}`, [
          use("a", { spends: spends(number % 30) }),
          use("b", { spends: [...spends(1), { window: "tokens d:1", amount: 7, ttlMs: DAY_MS }] }),
        ])
      ),
    );
    const sums = await pick(true).quotas.spent(["a", "b", "c"]);
    assert(sums.ok);
    assertEquals(
      [...sums.value].map(([caller, windows]) => [caller, Object.fromEntries(windows)]),
      [
        ["a", { "usd d:1": 435 }],
        ["b", { "usd d:1": 30, "tokens d:1": 210 }],
        ["c", {}],
      ],
    );
  });

  test("a call that one of its callers refuses takes nothing from any of them", async ({ pick }) => {
    const limits = { requests: BURST, maxConcurrent: 1 };
    const none = scope("none", { requests: BURST, maxConcurrent: 0 });
    for (const scopes of [[scope("a", limits), none], [none, scope("a", limits)]]) {
      for (const number of numbers(7)) {
        const decision = await pick(false).quotas.admit(scopes, `refused ${number}`);
        assert(decision.kind === "refused");
        assertEquals([decision.reason, decision.scope], ["concurrency", scopes.indexOf(none)]);
        assertEquals(decision.rests.map(({ requests }) => requests), [5, 5]);
      }
    }
    const decision = await pick(true).quotas.admit([scope("a", limits)], "admitted");
    assertEquals(decision, {
      kind: "admitted",
      rests: [{ requests: 4, tokens: null, spent: [] }],
    });
  });

  test("a caller is checked in the order budgets, tokens, concurrent calls, requests", async ({ pick }) => {
    const { quotas } = pick(false);
    const budgets = [{ window: "usd d:1", limit: 10 }, { window: "usd m:1", limit: 20 }];
    const limits: QuotaLimits = {
      requests: { requests_per_minute: 1, burst_size: 1 },
      tokensPerMinute: 100,
      maxConcurrent: 1,
      budgets,
    };
    const ask = async (changes: Partial<QuotaLimits>) => {
      const decision = await quotas.admit([scope("a", { ...limits, ...changes })], "next");
      assert(decision.kind === "refused");
      return [decision.reason, decision.window];
    };
    assertEquals((await quotas.admit([scope("a", limits)], "first")).kind, "admitted");
    await quotas.settle("other", [use("a", {
      tokensPerMinute: 100,
      tokens: 150,
      spends: [
        { window: "usd d:1", amount: 9, ttlMs: DAY_MS },
        { window: "usd m:1", amount: 20, ttlMs: DAY_MS },
      ],
    })]);
    const refused = await quotas.admit([scope("a", limits)], "next");
    assert(refused.kind === "refused");
    assertEquals(refused.rests, [{ requests: 0, tokens: -50, spent: [9, 20] }]);
    assertEquals([refused.reason, refused.window, refused.waitMs], ["budget", "usd m:1", 0]);
    assertEquals(await ask({ budgets: [] }), ["tokens", null]);
    assertEquals(await ask({ budgets: [], tokensPerMinute: null }), ["concurrency", null]);
    assertEquals(await ask({ budgets: [], tokensPerMinute: null, maxConcurrent: null }), [
      "requests",
      null,
    ]);
  });

  test("what an upstream claims cannot make a sum inexact or a wait endless", async ({ pick }) => {
    const { quotas } = pick(false);
    const spends = [{ window: "tokens d:1", amount: Number.MAX_SAFE_INTEGER, ttlMs: DAY_MS }];
    const all = use("a", { tokensPerMinute: 1, tokens: Number.MAX_VALUE, spends });
    await quotas.settle("first", [all]);
    await quotas.settle("second", [all]);
    const sums = await quotas.spent(["a"]);
    assert(sums.ok);
    assertEquals(sums.value.get("a")?.get("tokens d:1"), Number.MAX_SAFE_INTEGER);
    const decision = await quotas.admit([scope("a", { tokensPerMinute: 1 })], "third");
    assert(decision.kind === "refused" && Number.isFinite(decision.waitMs));
  });

  test("callers and windows may have any names", async ({ pick }) => {
    const names = ["__proto__", "a:r", "}{", "key \u0000 name", '"quoted"', "ключ", ""];
    for (const name of names) {
      const spends = [{ window: name, amount: Buffer.byteLength(name) + 1, ttlMs: DAY_MS }];
      await pick(false).quotas.settle(`call ${name}`, [use(name, { spends })]);
    }
    const sums = await pick(true).quotas.spent(names);
    assert(sums.ok);
    for (const name of names) {
      assertEquals([...sums.value.get(name) ?? []], [[name, Buffer.byteLength(name) + 1]]);
    }
  });

  if (under.clock === "scripted") {
    test("concurrent calls of a process that dies end after 30 s", async ({ pick, advance }) => {
      const ask = async (call: string) => {
        const scopes = [scope("a", { maxConcurrent: 2 })];
        return (await pick(true).quotas.admit(scopes, call)).kind;
      };
      assertEquals(
        (await pick(false).quotas.admit([scope("a", { maxConcurrent: 2 })], "lost")).kind,
        "admitted",
      );
      assertEquals(await ask("renewed"), "admitted");
      await advance(30_000 - 1);
      assertEquals(await ask("early"), "refused");
      await pick(true).quotas.renew([["a", "renewed"], ["a", "unknown"], ["b", "renewed"]]);
      await advance(1);
      assertEquals(await ask("third"), "admitted");
      await advance(30_000 - 2);
      assertEquals(await ask("fourth"), "refused");
      await advance(1);
      assertEquals(await ask("fifth"), "admitted", "the renewed call was not renewed again");
    });

    test("a sum is forgotten after its time, which each amount extends", async ({ pick, advance }) => {
      const add = async (call: string, window: string, ttlMs: number) =>
        await pick(false).quotas.settle(call, [
          use("a", { spends: [{ window, amount: 1, ttlMs }] }),
        ]);
      const sums = async () => {
        const found = await pick(true).quotas.spent(["a"]);
        assert(found.ok);
        return Object.fromEntries(found.value.get("a") ?? []);
      };
      await add("one", "h:1", 10_000);
      await add("two", "d:1", 60_000);
      await advance(9_999);
      assertEquals(await sums(), { "h:1": 1, "d:1": 1 });
      await add("three", "h:1", 10_000);
      await advance(9_999);
      assertEquals(await sums(), { "h:1": 2, "d:1": 1 });
      await advance(1);
      assertEquals(await sums(), { "d:1": 1 });
      await add("four", "h:1", 10_000);
      assertEquals(await sums(), { "h:1": 1, "d:1": 1 });
    });
  }

  testQuotaModels(under);
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}

function admitted(decisions: readonly QuotaDecision[]): number {
  return decisions.filter(({ kind }) => kind === "admitted").length;
}
