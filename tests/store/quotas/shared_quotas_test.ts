import fc from "fast-check";
import type {
  QuotaDecision,
  QuotaLimits,
  QuotaScope,
  QuotaUse,
} from "../../../src/store/quota_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { use } from "./use.ts";
import { type Mode, type ScriptedStore, scriptedStore } from "./scripted_remote.ts";

const NO_LIMIT: QuotaLimits = {
  requests: null,
  tokensPerMinute: null,
  maxConcurrent: null,
  budgets: [],
};
const DAY = "usd d:1";
const DAY_MS = 24 * 60 * 60 * 1000;

function scope(limits: Partial<QuotaLimits>, caller = "a"): QuotaScope {
  return { caller, limits: { ...NO_LIMIT, ...limits } };
}

function spend(amount: number, caller = "a"): QuotaUse {
  return use(caller, { spends: [{ window: DAY, amount, ttlMs: DAY_MS }] });
}

function sumOf({ content }: ScriptedStore, caller = "a"): number {
  return content.ledger.sums.get(caller, DAY);
}

function reasonOf(decision: QuotaDecision): string {
  return decision.kind === "refused" ? decision.reason : decision.kind;
}

const RATE = { requests_per_minute: 60, burst_size: 2 };

Deno.test("without any limit, and for a use of nothing, no store is queried and no promise is made", () => {
  const { quotas, asked } = scriptedStore();
  const decision = quotas.admit([scope({}), scope({}, "b")], "call");
  assert(!(decision instanceof Promise));
  assertEquals(decision.kind, "admitted");
  assertEquals(quotas.settle("call", [use("a", { tokens: 5 })]), undefined);
  assertEquals(quotas.renew([]), undefined);
  assertEquals(asked, []);
});

Deno.test("while the store is unavailable a call is counted in the process with full limits", async () => {
  const store = scriptedStore();
  const { quotas, world } = store;
  const ask = async () => reasonOf(await quotas.admit([scope({ requests: RATE })], world.uuid()));
  assertEquals([await ask(), await ask()], ["admitted", "admitted"]);
  store.mode = "away";
  assertEquals([await ask(), await ask(), await ask()], ["admitted", "admitted", "requests"]);
  assertEquals(store.fallbacks, ["admit", "admit", "admit"]);
  store.mode = "up";
  assertEquals(await ask(), "requests", "the store has given its burst");
  await world.advance(1_000);
  assertEquals(await ask(), "admitted");
  assertEquals(store.fallbacks.length, 3);
  await quotas.close();
});

Deno.test("while the store is unavailable and such calls are refused, the decision is that it is not available", async () => {
  const store = scriptedStore("refuse");
  const scopes = [scope({ maxConcurrent: 1 })];
  store.mode = "silent";
  assertEquals(await store.quotas.admit(scopes, "first"), { kind: "unavailable" });
  assertEquals(store.fallbacks, []);
  store.mode = "up";
  assertEquals(await store.quotas.admit(scopes, "second"), { kind: "unavailable" });
  assertEquals(store.content.ledger.leases.count("a"), 1, "the store has granted the first call");
  await store.world.advance(1_000);
  assertEquals(store.content.ledger.leases.count("a"), 0);
  assertEquals((await store.quotas.admit(scopes, "third")).kind, "admitted");
  await store.quotas.close();
});

Deno.test("while the store is unavailable a budget counts from the last known sum on, and its sum is sent once", async () => {
  const store = scriptedStore();
  const { quotas, world } = store;
  const other = store.another();
  const scopes = [scope({ budgets: [{ window: DAY, limit: 100 }] })];
  await other.settle("other", [spend(60)]);
  assertEquals(reasonOf(await quotas.admit(scopes, "first")), "admitted");
  store.mode = "away";
  assertEquals(reasonOf(await quotas.admit(scopes, "second")), "admitted");
  await quotas.settle("first", [spend(30)]);
  const decision = await quotas.admit(scopes, "third");
  assert(decision.kind === "admitted");
  assertEquals(decision.rests[0]?.spent, [90]);
  await quotas.settle("second", [spend(9)]);
  await quotas.settle("third", [spend(1)]);
  await quotas.settle("third", [spend(1)]);
  assertEquals(reasonOf(await quotas.admit(scopes, "fourth")), "budget");
  assertEquals(store.fallbacks.filter((operation) => operation === "settle").length, 3);
  assertEquals(sumOf(store), 60);
  store.mode = "up";
  await world.advance(1_000);
  assertEquals(sumOf(store), 100);
  assertEquals(reasonOf(await other.admit(scopes, "fifth")), "budget");
  await world.advance(60_000);
  assertEquals([sumOf(store), world.waiting], [100, 0]);
});

Deno.test("a use whose reply is lost is counted once, and so are sums that were sent together", async () => {
  const store = scriptedStore();
  const { quotas, world } = store;
  store.mode = "silent";
  await quotas.settle("first", [spend(1)]);
  assertEquals(sumOf(store), 1, "counted, but the process does not know it");
  await quotas.settle("second", [spend(10)]);
  await quotas.settle("third", [spend(100)]);
  await world.advance(3_000);
  store.mode = "away";
  await quotas.settle("fourth", [spend(1_000)]);
  await world.advance(3_000);
  store.mode = "silent";
  await world.advance(3_000);
  store.mode = "up";
  await world.advance(1_000);
  assertEquals([sumOf(store), world.waiting], [1_111, 0]);
});

Deno.test("whatever the store does, in the end each call is counted once", async () => {
  const modes: readonly Mode[] = ["up", "away", "silent"];
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("mode" as const), mode: fc.constantFrom(...modes) }),
      fc.record({
        kind: fc.constant("settle" as const),
        call: fc.nat(30),
        caller: fc.constantFrom("a", "b"),
        replica: fc.boolean(),
      }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(2_500) }),
      fc.record({ kind: fc.constant("admit" as const), caller: fc.constantFrom("a", "b") }),
    ),
    { maxLength: 60, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const store = scriptedStore();
      const other = store.another();
      const settled = new Set<string>();
      const sums = { a: 0, b: 0 };
      const running: unknown[] = [];
      for (const step of all) {
        if (step.kind === "mode") store.mode = step.mode;
        else if (step.kind === "pass") await store.world.advance(step.ms);
        else if (step.kind === "admit") {
          const scopes = [scope({ budgets: [{ window: DAY, limit: 1e9 }] }, step.caller)];
          running.push(store.quotas.admit(scopes, "any"));
        } else {
          // A call runs in one replica.
          const call = `call ${step.call} ${step.replica}`;
          if (!settled.has(call)) sums[step.caller] += 1 + step.call;
          settled.add(call);
          const quotas = step.replica ? other : store.quotas;
          running.push(quotas.settle(call, [spend(1 + step.call, step.caller)]));
        }
      }
      store.mode = "up";
      await store.world.advance(5_000);
      await Promise.all(running);
      assertEquals({ a: sumOf(store, "a"), b: sumOf(store, "b") }, sums);
      assertEquals(store.world.waiting, 0);
    }),
    { numRuns: 150 },
  );
});

Deno.test("tokens that were used while the store was unavailable are taken when it is back, except those that have come back", async () => {
  const store = scriptedStore();
  const { quotas, world } = store;
  const limits = scope({ tokensPerMinute: 600 });
  store.mode = "away";
  await quotas.admit([limits], "first");
  await quotas.settle("first", [use("a", { tokensPerMinute: 600, tokens: 900 })]);
  assertEquals(reasonOf(await quotas.admit([limits], "second")), "tokens");
  await world.advance(10_000);
  store.mode = "up";
  await world.advance(1_000);
  const decision = await quotas.admit([limits], "third");
  assert(decision.kind === "refused");
  assertEquals([decision.reason, decision.rests[0]?.tokens], ["tokens", 600 - 900 + 110]);
  await quotas.close();
});

Deno.test("concurrent calls that end while the store is unavailable are free there as soon as it is back", async () => {
  const store = scriptedStore();
  const { quotas, world } = store;
  const scopes = [scope({ maxConcurrent: 2 })];
  const end = async (call: string) => await quotas.settle(call, [use("a", { holdsSlot: true })]);
  await quotas.admit(scopes, "first");
  await quotas.admit(scopes, "second");
  store.mode = "away";
  assertEquals(reasonOf(await quotas.admit(scopes, "third")), "concurrency", "both still run");
  await end("first");
  assertEquals(reasonOf(await quotas.admit(scopes, "fourth")), "admitted");
  assertEquals(store.content.ledger.leases.count("a"), 2);
  store.mode = "up";
  await world.advance(1_000);
  assertEquals(store.content.ledger.leases.count("a"), 1);
  await end("second");
  await end("fourth");
  assertEquals([store.content.ledger.leases.count("a"), world.waiting], [0, 0]);
});

Deno.test("running calls are renewed in the store and in the process", async () => {
  const store = scriptedStore();
  const { quotas, world, content } = store;
  const scopes = [scope({ maxConcurrent: 1 })];
  await quotas.admit(scopes, "first");
  for (let count = 0; count < 5; count++) {
    await world.advance(20_000);
    await quotas.renew([["a", "first"]]);
  }
  assertEquals(content.ledger.leases.count("a"), 1);
  store.mode = "away";
  await quotas.renew([["a", "first"]]);
  assertEquals(store.fallbacks, ["renew"]);
  assertEquals(reasonOf(await quotas.admit(scopes, "second")), "concurrency");
  await quotas.close();
});

Deno.test("a caller that was refused for its requests is refused without the store until its wait is over", async () => {
  const store = scriptedStore();
  const { quotas, world, asked } = store;
  const scopes = [scope({ requests: RATE })];
  const ask = async (all = scopes) => await quotas.admit(all, world.uuid());
  await ask();
  await ask();
  const refused = await ask();
  assertEquals([reasonOf(refused), asked.length], ["requests", 3]);
  await world.advance(400);
  const again = quotas.admit(scopes, "again");
  assert(!(again instanceof Promise) && again.kind === "refused");
  assertEquals([again.waitMs, again.rests], [600, [{ requests: 0, tokens: null, spent: [] }]]);
  const grouped = quotas.admit([scope({ requests: RATE }, "b"), ...scopes], "grouped");
  assert(!(grouped instanceof Promise) && grouped.kind === "refused");
  assertEquals([grouped.scope, asked.length], [1, 3]);
  await world.advance(600);
  assertEquals([reasonOf(await ask()), asked.length], ["admitted", 4]);
});

Deno.test("changed limits of a refused caller are sent to the store at once", async () => {
  const store = scriptedStore();
  const ask = async (requests: QuotaLimits["requests"]) =>
    reasonOf(await store.quotas.admit([scope({ requests })], store.world.uuid()));
  await ask(RATE);
  await ask(RATE);
  assertEquals([await ask(RATE), await ask(RATE), store.asked.length], ["requests", "requests", 3]);
  assertEquals(await ask({ ...RATE, burst_size: 3 }), "admitted");
  assertEquals([await ask(RATE), store.asked.length], ["requests", 5], "nothing is remembered");
  assertEquals([await ask({ ...RATE, requests_per_minute: 1e6 }), store.asked.length], [
    "requests",
    6,
  ]);
});

Deno.test("refusals for other reasons are not remembered, because another replica may change them", async () => {
  const store = scriptedStore();
  const other = store.another();
  const scopes = [scope({ maxConcurrent: 1, requests: RATE })];
  await other.admit(scopes, "other");
  assertEquals(reasonOf(await store.quotas.admit(scopes, "first")), "concurrency");
  await other.settle("other", [use("a", { holdsSlot: true })]);
  assertEquals(reasonOf(await store.quotas.admit(scopes, "second")), "admitted");
});

Deno.test("sums are those of the store with all that was counted here, and fail while it is unavailable", async () => {
  const store = scriptedStore();
  const { quotas } = store;
  await quotas.settle("first", [spend(1)]);
  store.mode = "away";
  await quotas.settle("second", [spend(10)]);
  const failed = await quotas.spent(["a"]);
  assert(!failed.ok && failed.failure.kind === "state_unavailable");
  store.mode = "up";
  const found = await quotas.spent(["a"]);
  assert(found.ok);
  assertEquals(found.value.get("a"), new Map([[DAY, 11]]));
  await quotas.close();
});

Deno.test("what waits is sent before the process ends, and no timer stays", async () => {
  const store = scriptedStore();
  store.mode = "away";
  await store.quotas.settle("first", [spend(1)]);
  store.mode = "up";
  await store.quotas.close();
  assertEquals([sumOf(store), store.world.waiting], [1, 0]);
  const lost = scriptedStore();
  lost.mode = "away";
  await lost.quotas.settle("first", [spend(1)]);
  await lost.quotas.close();
  assertEquals(lost.world.waiting, 0);
});
