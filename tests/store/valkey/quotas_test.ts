import fc from "fast-check";
import { newMemoryQuotas } from "../../../src/store/memory/quotas.ts";
import { newSharedQuotas } from "../../../src/store/quotas/shared_quotas.ts";
import type { QuotaDecision, QuotaLimits } from "../../../src/store/quota_store.ts";
import type { ValkeyConnection } from "../../../src/store/valkey/connection.ts";
import { newValkeyQuotas } from "../../../src/store/valkey/quotas.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../../support/chat_call.ts";
import { keyOf } from "../../support/client_keys.ts";
import { clockWorld, keys, limitedGateway, USAGE } from "../../support/limited_gateway.ts";
import { sharedValkeyServer, valkeyTest } from "../../support/valkey_server.ts";
import { use } from "../quotas/use.ts";
import { newTestConnection, PATIENT_TIMEOUT_MS, valkeySettings } from "./connections.ts";
import { withScriptedTime } from "./scripted_time.ts";

const server = await sharedValkeyServer();

const PREFIX = "switchyard";
const NO_LIMIT: QuotaLimits = {
  requests: null,
  tokensPerMinute: null,
  maxConcurrent: null,
  budgets: [],
};
const DAY_MS = 24 * 60 * 60 * 1000;

/** Connects to the empty server for the time of a test. */
async function withConnection(run: (connection: ValkeyConnection) => Promise<void>) {
  await server.command("FLUSHALL");
  const { connection } = await newTestConnection(
    valkeySettings(server.url, { timeout: PATIENT_TIMEOUT_MS }),
  );
  assert(await connection.open(5_000));
  try {
    await run(connection);
  } finally {
    await connection.close();
  }
}

/** A step of the comparison with the memory of a process. */
interface Step {
  readonly caller: string;
  readonly passMs: number;
  readonly requests_per_minute: number;
  readonly burst_size: number;
  readonly tokensPerMinute: number;
  readonly used: number;
}

/**
 * Rates per minute whose interval is a whole number of microseconds. Then all sums are exact: with
 * others a sum could lie at a limit and be rounded differently in memory and in the script.
 */
function exactRate(max: number): fc.Arbitrary<number> {
  const rates = Array.from({ length: max }, (_rate, at) => at + 1);
  return fc.constantFrom(...rates.filter((rate) => 60_000_000 % rate === 0));
}

const step: fc.Arbitrary<Step> = fc.record({
  caller: fc.constantFrom("a", "b"),
  passMs: fc.oneof(
    fc.constant(0),
    fc.nat(50),
    fc.nat(40_000),
    fc.nat(9_000).map((microseconds) => microseconds / 1000),
  ),
  requests_per_minute: fc.oneof(fc.constant(60), exactRate(6_000)),
  burst_size: fc.integer({ min: 1, max: 6 }),
  tokensPerMinute: exactRate(100_000),
  used: fc.oneof(fc.constant(0), fc.nat(200_000)),
});

valkeyTest("the scripts do the same sums as the buckets in memory, step by step", async () => {
  await withConnection(async (connection) => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 50, maxLength: 100 }), async (steps) => {
        let microseconds = 1_000_000_000;
        let time = microseconds / 1000;
        const memory = newMemoryQuotas(() => time);
        const scripted = withScriptedTime(connection, () => time);
        const shared = newValkeyQuotas(scripted, `${PREFIX} ${++runs}`);
        for (const [at, one] of steps.entries()) {
          microseconds += Math.round(one.passMs * 1000);
          time = microseconds / 1000;
          const { caller, requests_per_minute, burst_size, tokensPerMinute, used } = one;
          const requests = { requests_per_minute, burst_size };
          const limits = { ...NO_LIMIT, requests, tokensPerMinute };
          const here = memory.admit([{ caller, limits }], `call ${at}`);
          const there = await shared.admit([{ caller, limits }], `call ${at}`);
          assert(there.ok);
          assertSameDecision(there.value, here);
          const uses = [use(caller, { tokensPerMinute, tokens: used })];
          memory.settle(`call ${at}`, uses);
          assert((await shared.settle(`call ${at}`, uses, 60_000)).ok);
        }
      }),
      { numRuns: 15 },
    );
  });
});

/** Compares decisions; the store counts its waits in whole milliseconds. */
function assertSameDecision(there: QuotaDecision, here: QuotaDecision): void {
  assert(there.kind === here.kind && there.kind !== "unavailable", `${there.kind} ${here.kind}`);
  assert(here.kind !== "unavailable");
  assertEquals(there.rests, here.rests);
  if (there.kind !== "refused" || here.kind !== "refused") return;
  assertEquals([there.reason, there.scope, there.window], [here.reason, here.scope, here.window]);
  assert(Math.abs(there.waitMs - Math.ceil(here.waitMs)) <= 1, `${there.waitMs} ${here.waitMs}`);
}

valkeyTest(
  "a rate holds in the time of the server, and a bucket that is full again takes no room",
  async () => {
    await withConnection(async (connection) => {
      const quotas = newValkeyQuotas(connection, PREFIX);
      const requests = { requests_per_minute: 6_000, burst_size: 2 };
      const scopes = [{ caller: "a", limits: { ...NO_LIMIT, requests } }];
      let admitted = 0;
      const started = performance.now();
      while (admitted < 20) {
        const decision = await quotas.admit(scopes, "call");
        assert(decision.ok && decision.value.kind !== "unavailable");
        if (decision.value.kind === "admitted") admitted++;
        else assert(decision.value.waitMs >= 1 && decision.value.waitMs <= 10);
      }
      assert(performance.now() - started >= 179, "18 requests at one in 10 ms");
      while ((await server.command("DBSIZE")) !== 0) await quotas.spent(["a"]);
    });
  },
);

valkeyTest("an admission to several callers is one command, and so is a settlement", async () => {
  await withConnection(async (connection) => {
    const sent: string[] = [];
    const counted: ValkeyConnection = {
      ...connection,
      send(command, args) {
        sent.push(command);
        return connection.send(command, args);
      },
    };
    const quotas = newValkeyQuotas(counted, PREFIX);
    const budgets = [{ window: "usd d:1", limit: 10 }, { window: "usd m:1", limit: 10 }];
    const limits = {
      requests: { requests_per_minute: 60, burst_size: 5 },
      tokensPerMinute: 1_000,
      maxConcurrent: 5,
      budgets,
    };
    const scopes = ["key a", "group b", "group c"].map((caller) => ({ caller, limits }));
    const spends = budgets.map(({ window }) => ({ window, amount: 3, ttlMs: DAY_MS }));
    const uses = scopes.map(({ caller }) =>
      use(caller, { tokensPerMinute: 1_000, holdsSlot: true, tokens: 10, spends })
    );
    // The server learns the scripts.
    await quotas.admit(scopes, "first");
    await quotas.settle("first", uses, 60_000);
    sent.length = 0;
    const decision = await quotas.admit(scopes, "second");
    await quotas.settle("second", uses, 60_000);
    assertEquals(sent, ["EVALSHA", "EVALSHA"]);
    assert(decision.ok && decision.value.kind === "admitted");
    assertEquals(
      decision.value.rests,
      scopes.map(() => ({ requests: 3, tokens: 990, spent: [3, 3] })),
    );
    const keys = await server.command("KEYS", "*");
    assert(Array.isArray(keys) && keys.length > 0);
    for (const key of keys) assert(String(key).startsWith("{switchyard}:q:"), String(key));
  });
});

valkeyTest("everything that is stored for a caller ends by itself", async () => {
  await withConnection(async (connection) => {
    const quotas = newValkeyQuotas(connection, PREFIX);
    const limits = {
      requests: { requests_per_minute: 1, burst_size: 5 },
      tokensPerMinute: 60,
      maxConcurrent: 5,
      budgets: [{ window: "usd d:1", limit: 10 }],
    };
    await quotas.admit([{ caller: "a", limits }], "running");
    const spends = [
      { window: "usd d:1", amount: 3, ttlMs: DAY_MS },
      { window: "usd h:1", amount: 3, ttlMs: 1_000 },
    ];
    await quotas.settle("ended", [use("a", { tokensPerMinute: 60, tokens: 10, spends })], 600_000);
    const most = new Map([
      ["r", 60_001],
      ["t", 10_001],
      ["l", 30_000],
      ["s", DAY_MS],
      ["e", DAY_MS],
      ["d", 600_000],
    ]);
    for (const [type, ms] of most) {
      const key = `{switchyard}:q:${type}:${type === "d" ? "ended" : "a"}`;
      const left = Number(await server.command("PTTL", key));
      assert(left > 0 && left <= ms, `${key} ends in ${left} ms`);
    }
    assertEquals(await server.command("DBSIZE"), 6);
  });
});

valkeyTest(
  "one caller has at most 10,000 sums, and those that end first are stored longest",
  async () => {
    await withConnection(async (connection) => {
      const quotas = newValkeyQuotas(connection, PREFIX);
      const spends = Array.from({ length: 10_500 }, (_, number) => ({
        window: `window ${number}`,
        amount: 1,
        ttlMs: DAY_MS + number,
      }));
      for (let at = 0; at < spends.length; at += 500) {
        await quotas.settle(
          `call ${at}`,
          [use("a", { spends: spends.slice(at, at + 500) })],
          60_000,
        );
      }
      const sums = await quotas.spent(["a"]);
      assert(sums.ok);
      const own = sums.value.get("a");
      assertEquals([own?.size, own?.has("window 0"), own?.has("window 10499")], [
        10_000,
        true,
        false,
      ]);
      assertEquals(await server.command("HLEN", "{switchyard}:q:s:a"), 10_000);
    });
  },
);

valkeyTest("more concurrent calls than one script takes are renewed and ended", async () => {
  await withConnection(async (connection) => {
    let time = 0;
    const quotas = newValkeyQuotas(withScriptedTime(connection, () => time), PREFIX);
    const limits = { ...NO_LIMIT, maxConcurrent: 1_200 };
    const calls = Array.from({ length: 1_200 }, (_, number) => ["a", `call ${number}`] as const);
    for (const [caller, call] of calls) await quotas.admit([{ caller, limits }], call);
    const count = async () => {
      const decision = await quotas.admit([{ caller: "a", limits }], "next");
      await quotas.release([["a", "next"]]);
      return decision.ok ? decision.value.kind : "failed";
    };
    assertEquals(await count(), "refused");
    time += 20_000;
    assert((await quotas.renew(calls)).ok);
    time += 20_000;
    assertEquals(await count(), "refused");
    assert((await quotas.release(calls)).ok);
    assertEquals(await count(), "admitted");
    assertEquals(await server.command("EXISTS", "{switchyard}:q:l:a"), 0);
  });
});

valkeyTest("without a connection every operation is unavailable, and none waits", async () => {
  const { connection } = await newTestConnection(valkeySettings("valkey://127.0.0.1:1/0"));
  const quotas = newValkeyQuotas(connection, PREFIX);
  const scopes = [{ caller: "a", limits: { ...NO_LIMIT, maxConcurrent: 1 } }];
  const results = [
    await quotas.admit(scopes, "call"),
    await quotas.settle("call", [use("a", { holdsSlot: true })], 60_000),
    await quotas.renew([["a", "call"]]),
    await quotas.release([["a", "call"]]),
    await quotas.spent(["a"]),
  ];
  for (const result of results) assert(!result.ok && result.failure.kind === "state_unavailable");
  await connection.close();
});

valkeyTest(
  "the clock of the server decides the window of a budget, over replicas hours apart",
  async () => {
    await withConnection(async (connection) => {
      const config = keys({ ada: { budgets: [{ per: "hour", tokens: 14 }] } });
      const replicas = [0, 2 * 60 * 60 * 1000, -2 * 60 * 60 * 1000].map((aheadMs) => {
        const world = clockWorld(() => answers(200, { ...COMPLETION, usage: USAGE }));
        world.setWall(Date.now() + aheadMs);
        const quotas = newSharedQuotas(newValkeyQuotas(connection, PREFIX, world), {
          world,
          onOutage: "refuse",
          onFallback: () => {},
        });
        const gateway = limitedGateway(config, { world });
        return { ...gateway, state: Object.assign(gateway.gateway.state, { quotas }) };
      });
      const ask = async ({ app }: (typeof replicas)[number]) => {
        const response = await app(chatRequest({ headers: keyOf("ada"), body: { model: "m" } }));
        await response.text();
        return [response.status, Number(response.headers.get("retry-after")) <= 3_600];
      };
      const [first, ...others] = replicas;
      assert(first !== undefined);
      assertEquals(await ask(first), [200, true]);
      for (const other of [...others, first]) assertEquals(await ask(other), [429, true]);
    });
  },
);

valkeyTest(
  "a call is charged in the window of the server's clock in which it ends, whatever the clock of its replica does meanwhile",
  async () => {
    await withConnection(async (connection) => {
      const config = keys({ ada: { budgets: [{ per: "month", tokens: 1_000 }] } });
      const hold = Promise.withResolvers<void>();
      let isHeld = true;
      const world = clockWorld(async () => {
        if (isHeld) await hold.promise;
        return answers(200, { ...COMPLETION, usage: USAGE });
      });
      const quotas = newSharedQuotas(newValkeyQuotas(connection, `${PREFIX} jump`, world), {
        world,
        onOutage: "refuse",
        onFallback: () => {},
      });
      const { app, gateway } = limitedGateway(config, { world });
      Object.assign(gateway.state, { quotas });
      const ask = async () => {
        const response = await app(chatRequest({ headers: keyOf("ada"), body: { model: "m" } }));
        await response.text();
        return response.headers.get("x-gateway-budget");
      };
      world.setWall(Date.now());
      const running = ask();
      while (world.waiting === 0) await new Promise((go) => setTimeout(go, 0));
      world.setWall(Date.now() + 40 * 24 * 60 * 60 * 1000);
      isHeld = false;
      hold.resolve();
      assertEquals(await running, "month tokens 0/1000");
      world.setWall(Date.now());
      assertEquals(await ask(), "month tokens 14/1000");
    });
  },
);
