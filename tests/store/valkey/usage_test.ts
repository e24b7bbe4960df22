import { newValkeyUsage } from "../../../src/store/valkey/usage.ts";
import { assertEquals } from "../../support/assert.ts";
import { sharedValkeyServer, valkeyTest } from "../../support/valkey_server.ts";
import { checkUsage, checkUsageBound, usageRow } from "../conformance/usage.ts";
import { connect } from "./connections.ts";

const server = await sharedValkeyServer();

async function withUsage(run: (store: ReturnType<typeof newValkeyUsage>) => Promise<void>) {
  await server.command("FLUSHALL");
  // A server with as many rows as a day may have answers after more than the usual timeout.
  const connection = await connect(server.url);
  try {
    await run(newValkeyUsage(connection, "switchyard"));
  } finally {
    await connection.close();
  }
}

valkeyTest(
  "usage in a server is added up by day, key, provider and model, each batch once",
  async () => {
    await withUsage(checkUsage);
  },
);

valkeyTest("usage in a server is bounded by the rows of a day", async () => {
  await withUsage(checkUsageBound);
});

valkeyTest("the days of usage in a server expire by themselves", async () => {
  await withUsage(async (store) => {
    await store.add({ id: "a", rows: [usageRow()], days: 35 });
    const ttl = Number(await server.command("PTTL", "{switchyard}:u:2026-11-22"));
    const dayMs = 24 * 60 * 60 * 1000;
    assertEquals(ttl > 35 * dayMs && ttl <= 36 * dayMs, true);
  });
});
