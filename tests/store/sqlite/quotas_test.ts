import { success } from "../../../src/core/failure/result.ts";
import type { QuotaStore } from "../../../src/store/quota_store.ts";
import type { Link } from "../../../src/store/sqlite/link.ts";
import { openSqliteQuotas } from "../../../src/store/sqlite/quotas.ts";
import { storeUnavailable } from "../../../src/store/store_failure.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";
import { use } from "../quotas/use.ts";
import { withFile } from "./store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const LIMITS = {
  requests: { requests_per_minute: 1, burst_size: 1 },
  tokensPerMinute: null,
  maxConcurrent: null,
  budgets: [],
};

function spend(amount: number, window = "usd d:1", ttlMs = DAY_MS) {
  return [use("a", { spends: [{ window, amount, ttlMs }] })];
}

async function sums(quotas: QuotaStore): Promise<Readonly<Record<string, number>>> {
  const found = await quotas.spent(["a"]);
  assert(found.ok);
  return Object.fromEntries(found.value.get("a") ?? []);
}

Deno.test("a restart keeps sums and settled calls, and fills the buckets", async () => {
  await withFile(async (file) => {
    const first = await file.open();
    await first.quotas.settle("one", spend(5));
    await first.quotas.settle("two", spend(7, "usd h:1", 3_600_000));
    assertEquals(
      (await first.quotas.admit([{ caller: "a", limits: LIMITS }], "x")).kind,
      "admitted",
    );
    assertEquals(
      (await first.quotas.admit([{ caller: "a", limits: LIMITS }], "y")).kind,
      "refused",
    );
    await first.close();
    const second = await file.open();
    assertEquals(await sums(second.quotas), { "usd d:1": 5, "usd h:1": 7 });
    await second.quotas.settle("one", spend(5));
    await second.quotas.settle("three", spend(1));
    assertEquals(
      (await second.quotas.admit([{ caller: "a", limits: LIMITS }], "z")).kind,
      "admitted",
    );
    await file.world.advance(3_600_000);
    await second.close();
    const third = await file.open();
    assertEquals(await sums(third.quotas), { "usd d:1": 6 });
    await third.close();
  });
});

Deno.test("after a restart the clients that the configuration does not name are known until their last window ends", async () => {
  await withFile(async (file) => {
    const first = await file.open();
    const spends = [
      { window: "usd h:1", amount: 1, ttlMs: DAY_MS + 1_000 },
      { window: "usd d:1", amount: 1, ttlMs: DAY_MS + 5_000 },
    ];
    const ended = [{ window: "usd h:0", amount: 1, ttlMs: DAY_MS }];
    await first.quotas.settle("one", [
      use("subject token corp/ada", { spends }),
      use("key web", { spends }),
      use("subject token corp/bob", { spends: ended }),
    ]);
    await first.close();
    await file.world.advance(2_000);
    const second = await file.open();
    assertEquals([...second.quotas.earlier ?? []], [
      ["subject token corp/ada", file.world.now() + 3_000],
    ]);
    await second.close();
  });
});

Deno.test("more sums and calls than one read takes are loaded", async () => {
  await withFile(async (file) => {
    const first = await file.open();
    for (let count = 0; count < 2_500; count++) {
      void first.quotas.settle(`call ${count}`, spend(1, `window ${count}`));
    }
    await first.close();
    const second = await file.open();
    assertEquals(Object.keys(await sums(second.quotas)).length, 2_500);
    for (let count = 0; count < 2_500; count++) {
      await second.quotas.settle(`call ${count}`, spend(1));
    }
    assertEquals((await sums(second.quotas))["usd d:1"], undefined);
    await second.close();
  });
});

Deno.test("sums count as records of the store, and are removed with all others", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    await store.quotas.settle("one", spend(5));
    await store.quotas.settle("two", spend(5, "usd m:1"));
    const info = await store.stats();
    assert(info.ok);
    assertEquals(info.value.types.map(({ type, entries }) => [type, entries]), [["quotas", 2]]);
    assertEquals(await store.purge(), success(2));
    await store.close();
  });
});

/** A link to a database that fails when a test says so, with what was written. */
function scriptedLink() {
  const written: unknown[] = [];
  const script = { isFailing: false, written };
  const link = {
    run: () => Promise.resolve(success([])),
    async runInBackground(_name: string, parameters: () => unknown) {
      await Promise.resolve();
      if (script.isFailing) return storeUnavailable();
      written.push(parameters());
      return success(null);
    },
  } as unknown as Link;
  return { script, link };
}

Deno.test("a write that fails is made later, with the sums as they are then", async () => {
  const world = scriptedWorld();
  const { script, link } = scriptedLink();
  const opened = await openSqliteQuotas(link, world);
  assert(opened.ok);
  const quotas = opened.value;
  script.isFailing = true;
  await quotas.settle("one", spend(5));
  await quotas.settle("two", spend(6));
  assertEquals(await sums(quotas), { "usd d:1": 11 });
  await world.advance(1_000);
  assertEquals([script.written, world.waiting], [[], 1]);
  script.isFailing = false;
  await world.advance(1_000);
  const { amount, calls } = writtenIn(script.written[0]);
  assertEquals([script.written.length, amount, calls, world.waiting], [1, 11, ["one", "two"], 0]);
  script.isFailing = true;
  await quotas.settle("three", spend(1));
  script.isFailing = false;
  await quotas.close();
  assertEquals([writtenIn(script.written[1]).amount, world.waiting], [12, 0]);
});

function writtenIn(parameters: unknown) {
  const { sums, calls } = parameters as {
    readonly sums: readonly { readonly amount: number }[];
    readonly calls: readonly string[];
  };
  return { amount: sums[0]?.amount, calls };
}

Deno.test("sums and calls that wait for a database that fails are bounded", async () => {
  const world = scriptedWorld();
  const { script, link } = scriptedLink();
  const opened = await openSqliteQuotas(link, world);
  assert(opened.ok);
  script.isFailing = true;
  for (let count = 0; count < 100_010; count++) {
    void opened.value.settle(`call ${count}`, spend(1));
  }
  script.isFailing = false;
  await opened.value.close();
  const written = script.written.map(writtenIn);
  assertEquals(written.flatMap(({ calls }) => calls).length, 100_000);
  assertEquals(written[0]?.amount, 100_010);
});

Deno.test("what is charged while a transaction runs is in the next one, also if that one fails", async () => {
  const begun: (() => { end(isOk: boolean): void; parameters: unknown })[] = [];
  const link = {
    run: () => Promise.resolve(success([])),
    runInBackground(_name: string, parameters: () => unknown) {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const end = (isOk: boolean) => resolve(isOk ? success(null) : storeUnavailable());
      begun.push(() => ({ end, parameters: parameters() }));
      return promise;
    },
  } as unknown as Link;
  const world = scriptedWorld();
  const opened = await openSqliteQuotas(link, world);
  assert(opened.ok);
  const { settle, close } = opened.value;
  const begin = () => {
    const next = begun.shift()?.();
    assert(next !== undefined);
    return { ...writtenIn(next.parameters), end: next.end };
  };
  void settle("one", spend(1));
  const first = begin();
  void settle("two", spend(2));
  void settle("three", spend(4));
  assertEquals(begun.length, 1);
  const second = begin();
  assertEquals([first.amount, first.calls], [1, ["one"]]);
  assertEquals([second.amount, second.calls], [7, ["two", "three"]]);
  second.end(true);
  first.end(false);
  await Promise.resolve();
  assertEquals(begun.length, 0);
  await world.advance(1_000);
  const third = begin();
  assertEquals([third.amount, third.calls], [undefined, ["one"]]);
  third.end(true);
  await close();
});
