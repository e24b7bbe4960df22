import { newMemoryQuotas } from "../../../src/store/memory/quotas.ts";
import type { QuotaLimits } from "../../../src/store/quota_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { use } from "../quotas/use.ts";

const NO_LIMIT: QuotaLimits = {
  requests: null,
  tokensPerMinute: null,
  maxConcurrent: null,
  budgets: [],
};

Deno.test("quotas in memory decide without a promise", () => {
  const quotas = newMemoryQuotas(() => 0);
  const limits = { ...NO_LIMIT, requests: { requests_per_minute: 60, burst_size: 1 } };
  assertEquals(quotas.admit([{ caller: "a", limits }], "first"), {
    kind: "admitted",
    rests: [{ requests: 0, tokens: null, spent: [] }],
  });
  assertEquals(quotas.admit([{ caller: "a", limits }], "second"), {
    kind: "refused",
    reason: "requests",
    scope: 0,
    window: null,
    waitMs: 1_000,
    rests: [{ requests: 0, tokens: null, spent: [] }],
  });
  assertEquals(quotas.admit([{ caller: "a", limits: NO_LIMIT }], "third").kind, "admitted");
  assertEquals(quotas.settle("third", []), undefined);
});

Deno.test("a call that uses 90,000 of 60,000 tokens a minute lets the next one in after 30 seconds", () => {
  let time = 0;
  const quotas = newMemoryQuotas(() => time);
  const limits = { ...NO_LIMIT, tokensPerMinute: 60_000 };
  const ask = () => quotas.admit([{ caller: "a", limits }], "call");
  assertEquals(ask().kind, "admitted");
  quotas.settle("first", [use("a", { tokensPerMinute: 60_000, tokens: 90_000 })]);
  const refused = ask();
  assert(refused.kind === "refused" && refused.reason === "tokens");
  assertEquals([refused.waitMs, refused.rests[0]?.tokens], [30_001, -30_000]);
  time = 30_000;
  assertEquals(ask().kind, "refused");
  time = 30_001;
  assertEquals(ask().kind, "admitted");
});

Deno.test("other limits from one call to the next count for what was used before", () => {
  const quotas = newMemoryQuotas(() => 0);
  const budget = (limit: number) => ({ ...NO_LIMIT, budgets: [{ window: "usd d:1", limit }] });
  const ask = (limits: QuotaLimits) => quotas.admit([{ caller: "a", limits }], crypto.randomUUID());
  quotas.settle("first", [
    use("a", { spends: [{ window: "usd d:1", amount: 50, ttlMs: 1_000 }] }),
  ]);
  assertEquals([ask(budget(50)).kind, ask(budget(51)).kind], ["refused", "admitted"]);
  assertEquals(ask({ ...NO_LIMIT, maxConcurrent: 2 }).kind, "admitted");
  assertEquals(ask({ ...NO_LIMIT, maxConcurrent: 1 }).kind, "refused");
});

Deno.test("requests from 10,000 networks without a key leave the rate of a key as it is", () => {
  const quotas = newMemoryQuotas(() => 0);
  const limits = { ...NO_LIMIT, requests: { requests_per_minute: 1, burst_size: 1 } };
  const admit = (caller: string) => quotas.admit([{ caller, limits }], "call").kind;
  assertEquals(admit("key ada"), "admitted");
  for (let count = 0; count < 10_000; count++) admit(`address 10.0.${count}`);
  assertEquals(admit("key ada"), "refused");
});
