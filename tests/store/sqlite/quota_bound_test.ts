import { recordBounds } from "../../../src/store/records/bounds.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { storeUses } from "../../../src/store/sqlite/operations/quotas.ts";
import { assertEquals } from "../../support/assert.ts";
import { newMemoryFolder } from "./store.ts";

Deno.test("a file has at most 980,000 sums, and those of clients with tokens and of end users make room first, by the end of their windows", async () => {
  const folder = await newMemoryFolder();
  const database = openDatabase({
    path: `${folder}/state.db`,
    synchronous: "normal",
    maxPages: null,
  });
  try {
    const bounds = recordBounds(DEFAULT_RETENTION);
    const store = (caller: string, now: number) =>
      storeUses.run({ database, bounds, now }, {
        sums: [{ caller, window: "usd m:1", amount: 1, expires: 1_000 + now % 2 }],
        calls: [],
        callsExpire: 0,
      });
    const callers = () => database.rows("select caller from spent order by caller");
    ["key ada", "subject token corp/ada", 'subject user ["web","bob"]', "group all"]
      .forEach(store);
    // A million rows would take seconds: the total says that they are there.
    database.change("update total set entries = 979999");
    store("subject token corp/eve", 4);
    assertEquals(callers().length, 5);
    store("subject token corp/zoe", 5);
    assertEquals(callers().map(({ caller }) => caller), [
      "group all",
      "key ada",
      "subject token corp/ada",
      "subject token corp/eve",
      "subject token corp/zoe",
    ]);
  } finally {
    database.close();
    await Deno.remove(folder, { recursive: true });
  }
});
