import { type Database, openDatabase } from "../../../src/store/sqlite/database.ts";
import { commitRecords } from "../../../src/store/sqlite/operations/commit_records.ts";
import { type Bounds, recordBounds } from "../../../src/store/records/bounds.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { assertEquals } from "../../support/assert.ts";
import { newMemoryFolder } from "./store.ts";

/** Returns the same database, and adds each query to a set. */
function watched(database: Database, queries: Set<string>): Database {
  return {
    ...database,
    row(sql, ...parameters) {
      queries.add(sql);
      return database.row(sql, ...parameters);
    },
  };
}

const EACH_FULL: readonly Partial<Bounds>[] = [{ entries: 3 }, { bytes: 6 }];

for (const full of EACH_FULL) {
  Deno.test(`to make room takes no longer with more creators: no query sorts them (${JSON.stringify(full)})`, async () => {
    const folder = await newMemoryFolder();
    const path = `${folder}/state.db`;
    const database = openDatabase({ path, synchronous: "normal", maxPages: null });
    try {
      const all = recordBounds(DEFAULT_RETENTION);
      const bounds = { ...all, relayed_owner: { ...all.relayed_owner, ...full } };
      const queries = new Set<string>();
      const context = { database: watched(database, queries), bounds, now: 0 };
      for (const name of ["a", "b", "c", "d"]) {
        const id = { type: "relayed_owner", id: name } as const;
        const next = { head: "h", share: name, lifeMs: 1_000 };
        commitRecords.run(context, [{ id, expected: null, next }]);
      }
      assertEquals(database.rows("select id from record").length, 3);
      const sorting = [...queries].filter((sql) =>
        database.rows(`explain query plan ${sql}`)
          .some(({ detail }) => String(detail).includes("TEMP B-TREE"))
      );
      assertEquals(sorting, []);
    } finally {
      database.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
