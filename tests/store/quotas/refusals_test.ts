import { newRefusals } from "../../../src/store/quotas/refusals.ts";
import type { QuotaDecision, QuotaScope } from "../../../src/store/quota_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const REQUESTS = { requests_per_minute: 60, burst_size: 1 };

function scopes(caller: string): readonly QuotaScope[] {
  const limits = { requests: REQUESTS, tokensPerMinute: null, maxConcurrent: null, budgets: [] };
  return [{ caller, limits }];
}

function refused(waitMs: number): QuotaDecision {
  const rests = [{ requests: 0, tokens: null, spent: [] }];
  return { kind: "refused", reason: "requests", scope: 0, window: null, waitMs, rests };
}

Deno.test("a refusal counts from the time of the query", () => {
  let time = 100;
  const refusals = newRefusals(() => time);
  assertEquals(refusals.find(scopes("a")), null);
  refusals.add(scopes("a"), refused(1_000), 40);
  const found = refusals.find(scopes("a"));
  assert(found?.kind === "refused");
  assertEquals(found.waitMs, 940);
  time = 1_040;
  assertEquals([refusals.find(scopes("a")), refusals.size], [null, 0]);
});

Deno.test("refusals of at most 10,000 callers are remembered, and the oldest is forgotten first", () => {
  const refusals = newRefusals(() => 0);
  for (let count = 0; count < 10_000; count++) {
    refusals.add(scopes(`caller ${count}`), refused(1_000), 0);
  }
  refusals.add(scopes("caller 0"), refused(1_000), 0);
  refusals.add(scopes("one more"), refused(1_000), 0);
  assertEquals(refusals.size, 10_000);
  const found = ["caller 0", "caller 1", "caller 2", "one more"].map((caller) =>
    refusals.find(scopes(caller)) !== null
  );
  assertEquals(found, [true, false, true, true]);
});
