import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { query } from "./inspect.ts";
import { withFile } from "./store.ts";

/** Tables that count rows of others. */
const COUNTERS = ["total", "record_total", "counter"];

Deno.test("a purge leaves no row in any table, also if only settled calls are left", async () => {
  await withFile(async (file) => {
    const store = await file.open();
    const spends = [{ window: "usd d:1", amount: 1, ttlMs: 60_000 }];
    const use = { caller: "key a", tokensPerMinute: null, holdsSlot: false, tokens: 0, spends };
    for (let group = 0; group < 3; group++) {
      const calls = Array.from({ length: 400 }, (_call, index) => `call ${group} ${index}`);
      await Promise.all(calls.map(async (call) => await store.quotas.settle(call, [use])));
    }
    assertEquals(await stored(store.purge()), 1);
    await store.close();
    const tables = query(
      file.path,
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
    ).map(({ name }) => String(name)).filter((name) => !COUNTERS.includes(name));
    for (const table of tables) {
      assertEquals(query(file.path, `select * from ${table}`), [], table);
    }
  });
});
