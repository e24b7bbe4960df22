import { type Database, openDatabase } from "../../../src/store/sqlite/database.ts";
import { commitRecords } from "../../../src/store/sqlite/operations/commit_records.ts";
import { namedParts } from "../../../src/store/sqlite/operations/read_records.ts";
import { recordBounds } from "../../../src/store/records/bounds.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { newMemoryFolder } from "./store.ts";

/** Returns the same database, and calls `onQuery` for each query with the rows of its result. */
function watched(database: Database, onQuery: (rows: number) => void): Database {
  return {
    ...database,
    row(sql, ...parameters) {
      onQuery(1);
      return database.row(sql, ...parameters);
    },
    rows(sql, ...parameters) {
      const rows = database.rows(sql, ...parameters);
      onQuery(rows.length);
      return rows;
    },
  };
}

Deno.test("a lookup of many names of one part reads its records once", async () => {
  const folder = await newMemoryFolder();
  const database = openDatabase({
    path: `${folder}/state.db`,
    synchronous: "normal",
    maxPages: null,
  });
  try {
    const bounds = recordBounds(DEFAULT_RETENTION);
    const names = Array.from({ length: 200 }, (_name, at) => `n${at}`);
    const part = { key: "p", names, bytes: 1, body: new Uint8Array([1]) };
    for (let at = 0; at < 30; at++) {
      const next = { head: "", parts: [part], share: "", lifeMs: 1_000 };
      const id = { type: "response", id: `r${at}` } as const;
      commitRecords.run({ database, bounds, now: 0 }, [{ id, expected: null, next }]);
    }
    let queries = 0, rows = 0;
    const counted = watched(database, (count) => {
      queries += 1;
      rows += count;
    });
    const lookup = { type: "response", names, most: 20 } as const;
    const found = namedParts.run({ database: counted, bounds, now: 0 }, lookup);
    assertEquals(found.length, 20 * names.length);
    assertEquals(found.slice(0, 2).map(({ id }) => id), ["r29", "r28"]);
    // One query for each name, and few for the part with its 20 records.
    assert(queries < names.length + 10, `${queries} queries`);
    assert(rows < names.length + 40, `${rows} rows`);
  } finally {
    database.close();
    await Deno.remove(folder, { recursive: true });
  }
});
