import type { GatewayStore } from "../../src/store/gateway_store.ts";
import type { QuotaStore } from "../../src/store/quota_store.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { clockWorld, keys, limitedGateway, USAGE } from "../support/limited_gateway.ts";
import { newSwitchedStore } from "../support/switched_store.ts";
import { scriptedStore } from "../store/quotas/scripted_remote.ts";
import { withFile } from "../store/sqlite/store.ts";

const BUDGET = keys({ ada: { budgets: [{ per: "month", tokens: 50 }] } });

/** A store with these quotas, whose objects are not used. */
function storeWith(quotas: QuotaStore): GatewayStore {
  return {
    ...newSwitchedStore(() => 0),
    quotas,
    availability: {
      isUp: () => true,
      pendingWrites: () => 0,
      awayForMs: () => null,
      pingMs: () => null,
    },
    outcomes: undefined as never,
  };
}

function gatewayOver(quotas: QuotaStore, world = completing()) {
  const gateway = limitedGateway(BUDGET, { world, store: storeWith(quotas) });
  return async () => {
    const received = await got(await gateway.app(chatRequest({ headers: keyOf("ada") })));
    await world.advance(0);
    return [verdictOf(received)[2] ?? received.status, received.headers.get("x-gateway-budget")];
  };
}

function completing() {
  return clockWorld(() => answers(200, { ...COMPLETION, usage: USAGE }));
}

const at = (spent: number) => `month tokens ${spent}/50`;

Deno.test("a store that is unavailable for a while keeps the spent sums, and counts what was used meanwhile", async () => {
  const store = scriptedStore();
  // One world, so that no two calls and batches have one ID.
  const world = { ...completing(), ...store.world, send: completing().send };
  const ask = gatewayOver(store.quotas, world);
  const other = gatewayOver(store.another(), world);
  assertEquals(await ask(), [200, at(0)]);
  assertEquals(await other(), [200, at(14)]);
  assertEquals(await ask(), [200, at(28)]);
  store.mode = "away";
  // This replica knows what the store knew last.
  assertEquals(await ask(), [200, at(42)]);
  assertEquals(await ask(), ["budget_exceeded", at(56)]);
  store.mode = "up";
  await store.world.advance(1_000);
  assertEquals(await other(), ["budget_exceeded", at(56)]);
  const spent = await store.quotas.spent(["key ada"]);
  assertEquals(spent.ok && [...spent.value.get("key ada")?.values() ?? []], [56]);
});

Deno.test("with state.on_outage refuse a call with a budget is 503 while the store is unavailable", async () => {
  const store = scriptedStore("refuse");
  const ask = gatewayOver(store.quotas);
  assertEquals(await ask(), [200, at(0)]);
  store.mode = "away";
  assertEquals(await ask(), ["state_unavailable", null]);
  store.mode = "up";
  await store.world.advance(2_000);
  assertEquals(await ask(), [200, at(14)]);
});

Deno.test("a settlement whose reply is lost counts once", async () => {
  const store = scriptedStore();
  const ask = gatewayOver(store.quotas);
  assertEquals(await ask(), [200, at(0)]);
  store.mode = "silent";
  assertEquals(await ask(), [200, at(14)]);
  store.mode = "up";
  await store.world.advance(2_000);
  assertEquals(await ask(), [200, at(28)]);
});

Deno.test("a restart of a gateway with a database keeps what its keys have spent", async () => {
  await withFile(async (file) => {
    for (const spent of [0, 14]) {
      const store = await file.open();
      const ask = gatewayOver(store.quotas);
      assertEquals(await ask(), [200, at(spent)]);
      await store.close();
    }
  });
});
