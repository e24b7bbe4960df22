import { newSharedQuotas } from "../../../src/store/quotas/shared_quotas.ts";
import { newValkeyQuotas } from "../../../src/store/valkey/quotas.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  startValkeyServer,
  until,
  type ValkeyServer,
  valkeyTest,
} from "../../support/valkey_server.ts";
import { use } from "../quotas/use.ts";
import { newTestConnection, valkeySettings } from "./connections.ts";

const DAY = "usd d:1";

/** Milliseconds after which a server that hangs has not answered. */
const HANGING_TIMEOUT_MS = 200;

/** Runs a test with a replica on a separate server, which has `timeoutMs` for each command. */
async function withReplica(
  run: (
    server: ValkeyServer,
    replica: Awaited<ReturnType<typeof newReplica>>,
  ) => Promise<void>,
  timeoutMs = 60_000,
): Promise<void> {
  const server = await startValkeyServer();
  const replica = await newReplica(server, timeoutMs);
  try {
    await run(server, replica);
  } finally {
    await replica.close();
    await server.close();
  }
}

async function newReplica(server: ValkeyServer, timeoutMs: number) {
  const world = newRealWorld();
  const settings = valkeySettings(server.url, { timeout: timeoutMs });
  const { connection } = await newTestConnection(settings);
  assert(await connection.open(5_000));
  const fallbacks: string[] = [];
  const quotas = newSharedQuotas(newValkeyQuotas(connection, settings.prefix), {
    world,
    onOutage: "serve",
    onFallback: (operation) => void fallbacks.push(operation),
  });
  const scopes = [{
    caller: "a",
    limits: {
      requests: { requests_per_minute: 1, burst_size: 2 },
      tokensPerMinute: null,
      maxConcurrent: null,
      budgets: [{ window: DAY, limit: 1_000 }],
    },
  }];
  return {
    quotas,
    fallbacks,
    connection,
    admit: async (call: string) => (await quotas.admit(scopes, call)).kind,
    settle: async (call: string, amount: number) =>
      await quotas.settle(call, [
        use("a", { spends: [{ window: DAY, amount, ttlMs: 86_400_000 }] }),
      ]),
    async close() {
      await quotas.close();
      await connection.close();
      world.close();
    },
  };
}

async function sum(server: ValkeyServer): Promise<number> {
  return Number(await server.command("HGET", "{switchyard}:q:s:a", DAY));
}

valkeyTest(
  "a server that hangs and continues counts each use once, although it has executed what timed out",
  async () => {
    await withReplica(async (server, replica) => {
      await replica.settle("before", 1);
      await server.pause();
      await Promise.all([replica.settle("first", 10), replica.settle("second", 100)]);
      await replica.settle("third", 500);
      assertEquals(await replica.admit("local"), "admitted");
      assertEquals(replica.fallbacks, ["settle", "settle", "settle", "admit"]);
      server.resume();
      await until(async () => await sum(server) === 611);
      await replica.settle("after", 0);
      await until(async () => await replica.admit("shared") !== "unavailable");
      assertEquals(await sum(server), 611);
    }, HANGING_TIMEOUT_MS);
  },
);

valkeyTest(
  "a server that is killed and starts empty gets the sums of its absence, and limits go on",
  async () => {
    await withReplica(async (server, replica) => {
      assertEquals(await replica.admit("first"), "admitted");
      await replica.settle("first", 1);
      await server.kill();
      assertEquals([await replica.admit("a"), await replica.admit("b"), await replica.admit("c")], [
        "admitted",
        "admitted",
        "refused",
      ]);
      await replica.settle("a", 10);
      await replica.settle("b", 100);
      await server.restart();
      await until(async () => (await replica.quotas.spent(["a"])).ok);
      assertEquals(await sum(server), 110);
      const asked = replica.fallbacks.length;
      assertEquals([await replica.admit("d"), await replica.admit("e"), await replica.admit("f")], [
        "admitted",
        "admitted",
        "refused",
      ]);
      assertEquals(replica.fallbacks.length, asked);
    });
  },
);

valkeyTest(
  "a server without room for writes is unavailable for quotas, and gets the sums later",
  async () => {
    await withReplica(async (server, replica) => {
      await server.command("CONFIG", "SET", "maxmemory", "1");
      await replica.settle("first", 10);
      assertEquals(await replica.admit("first"), "admitted");
      assertEquals(replica.fallbacks, ["settle", "admit"]);
      await server.command("CONFIG", "SET", "maxmemory", "0");
      await until(async () => await sum(server) === 10);
    });
  },
);
