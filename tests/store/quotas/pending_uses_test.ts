import { newPendingUses } from "../../../src/store/quotas/pending_uses.ts";
import { LEASE_MS } from "../../../src/store/quota_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { use } from "./use.ts";

function scripted() {
  const clock = { time: 0 };
  let ids = 0;
  return { clock, pending: newPendingUses(() => clock.time, () => `batch ${++ids}`) };
}

const spends = [{ window: "d:1", amount: 1, ttlMs: 60_000 }];

Deno.test("uses that were not sent make one sum for each caller and window, under an ID that stays", () => {
  const { clock, pending } = scripted();
  assert(pending.isEmpty && pending.batch() === null);
  for (let count = 0; count < 1_000; count++) {
    pending.addUnsent(`call ${count}`, [use(count % 2 === 0 ? "a" : "b", { spends })]);
  }
  clock.time = 10_000;
  const batch = pending.batch();
  assertEquals(batch?.uses.map(({ caller, spends }) => [caller, spends]), [
    ["a", [{ window: "d:1", amount: 500, ttlMs: 50_000 }]],
    ["b", [{ window: "d:1", amount: 500, ttlMs: 50_000 }]],
  ]);
  pending.addUnsent("later", [use("a", { spends })]);
  assertEquals(pending.batch(), batch);
  pending.removeBatch();
  const next = pending.batch();
  assertEquals([next?.uses.length, next?.uses[0]?.spends[0]?.amount], [1, 1]);
  assert(next?.id !== batch?.id);
  pending.removeBatch();
  assert(pending.isEmpty);
});

Deno.test("what end users have used never pushes out what a key has used", () => {
  const { pending } = scripted();
  pending.addUnsent("first", [use("key web", { spends })]);
  for (let count = 0; count < 100_000; count++) {
    pending.addUnsent(`call ${count}`, [use(`subject user ${count}`, { spends })]);
  }
  assertEquals(pending.batch()?.uses[0]?.caller, "key web");
});

Deno.test("a batch has at most 500 amounts", () => {
  const { pending } = scripted();
  for (let count = 0; count < 1_100; count++) {
    pending.addUnsent(`call ${count}`, [use(`caller ${count}`, { spends })]);
  }
  const sizes: (number | undefined)[] = [];
  for (let batch = pending.batch(); batch !== null; batch = pending.batch()) {
    sizes.push(batch.uses.length);
    pending.removeBatch();
  }
  assertEquals(sizes, [500, 500, 100]);
});

Deno.test("at most 10,000 uses that were sent wait, and the oldest goes into the sums", () => {
  const { pending } = scripted();
  for (let count = 0; count < 10_002; count++) {
    pending.addSent({ call: `call ${count}`, uses: [use("a", { spends })] });
  }
  assertEquals(pending.sent().map(({ call }) => call).slice(0, 2), ["call 2", "call 3"]);
  assertEquals(pending.sent().length, 100);
  assertEquals(pending.batch()?.uses[0]?.spends[0]?.amount, 2);
  let sent = 0;
  for (let some = pending.sent(); some.length > 0; some = pending.sent()) {
    for (const { call } of some) pending.removeSent(call);
    sent += some.length;
  }
  assertEquals(sent, 10_000);
});

Deno.test("concurrent calls that have ended by themselves meanwhile are not sent, and at most 10,000 are", () => {
  const { clock, pending } = scripted();
  pending.addUnsent("old", [use("a", { holdsSlot: true })]);
  clock.time = 1;
  pending.addUnsent("new", [use("a", { holdsSlot: true })]);
  clock.time = LEASE_MS;
  assertEquals(pending.takeReleases(), [["a", "new"]]);
  assert(pending.isEmpty);
  for (let count = 0; count < 10_001; count++) pending.addRelease(["a", `call ${count}`]);
  const releases = pending.takeReleases();
  assertEquals([releases.length, releases[0]], [10_000, ["a", "call 1"]]);
});

Deno.test("the rates of callers with used tokens wait until they are removed", () => {
  const { pending } = scripted();
  assertEquals(pending.tokenDebts(), null);
  pending.addUnsent("first", [
    use("a", { tokensPerMinute: 60, tokens: 5 }),
    use("b", { tokensPerMinute: 60, tokens: 0 }),
    use("c", { tokens: 5 }),
  ]);
  const debts = pending.tokenDebts();
  assertEquals(debts?.rates, new Map([["a", 60]]));
  const id = debts?.id;
  pending.removeTokenDebts();
  assert(pending.isEmpty);
  pending.addUnsent("second", [use("a", { tokensPerMinute: 60, tokens: 5 })]);
  assert(pending.tokenDebts()?.id !== id);
  for (let count = 0; count < 2_000; count++) {
    pending.addUnsent(`call ${count}`, [use(`caller ${count}`, { tokensPerMinute: 1, tokens: 1 })]);
  }
  assertEquals(pending.tokenDebts()?.rates.size, 1_000);
});
