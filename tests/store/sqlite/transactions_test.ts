import { recordBounds } from "../../../src/store/records/bounds.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { type Database, openDatabase } from "../../../src/store/sqlite/database.ts";
import type { CallResult } from "../../../src/store/sqlite/messages.ts";
import type { OperationContext } from "../../../src/store/sqlite/operation.ts";
import { runCalls } from "../../../src/store/sqlite/transactions.ts";
import { assertEquals } from "../../support/assert.ts";
import { withFile } from "./store.ts";

const KIB = 1024;

const OPERATIONS = {
  insert: {
    kind: "write" as const,
    run: ({ database }: OperationContext, key: string) =>
      database.change("insert into settled (call, expires) values (?, 0)", key),
  },
  insertTwoAndFail: {
    kind: "write" as const,
    run(context: OperationContext, key: string) {
      OPERATIONS.insert.run(context, `${key} one`);
      OPERATIONS.insert.run(context, `${key} two`);
      throw new Error("content of a client");
    },
  },
  fillDisk: {
    kind: "write" as const,
    run(context: OperationContext, key: string) {
      for (let at = 0; at < 1_000; at++) OPERATIONS.insert.run(context, `${key} ${at}`.repeat(500));
    },
  },
  count: {
    kind: "read" as const,
    run: ({ database }: OperationContext) =>
      database.row("select count(*) as number from settled")?.number,
  },
  large: { kind: "read" as const, run: () => "x".repeat(5 * KIB * KIB) },
  checkpoint: {
    kind: "maintenance" as const,
    run: ({ database }: OperationContext) => database.row("pragma wal_checkpoint(truncate)")?.busy,
  },
};

/** Runs calls in a new file and returns their results in groups. */
async function run(
  names: readonly (keyof typeof OPERATIONS | "unknown")[],
  maxPages: number | null = null,
): Promise<readonly (readonly CallResult[])[]> {
  const groups: (readonly CallResult[])[] = [];
  await withFile(({ path }) => {
    const database: Database = openDatabase({ path, synchronous: "normal", maxPages });
    const runner = { database, operations: OPERATIONS, bounds: recordBounds(DEFAULT_RETENTION) };
    const calls = names.map((name, id) => ({ id, name, now: 0, parameters: `key ${id}` }));
    runCalls(runner, calls, (results) => void groups.push(results));
    database.close();
    return Promise.resolve();
  });
  return groups;
}

function values(group: readonly CallResult[] = []): readonly unknown[] {
  return group.map((result) => result.ok ? result.value : result.problem);
}

Deno.test("calls of one transaction see what earlier ones have written", async () => {
  const groups = await run(["count", "insert", "count", "insert", "count"]);
  assertEquals(groups.map(values), [[0, 1, 1, 1, 2]]);
});

Deno.test("a call that fails changes nothing, and takes no other call with it", async () => {
  const groups = await run(["insert", "insertTwoAndFail", "count", "unknown", "insert", "count"]);
  // The error's text is not passed on.
  assertEquals(groups.flatMap(values), [1, "other", 1, "other", 1, 2]);
});

Deno.test("a call for which the disk has no room takes no other call with it", async () => {
  const groups = await run(["insert", "fillDisk", "count", "insert", "count"], 60);
  assertEquals(groups.flatMap(values), [1, "full", 1, 1, 2]);
});

Deno.test("large results are passed on before the next call runs", async () => {
  const groups = await run(["insert", "large", "large", "insert", "count"]);
  assertEquals(groups.map((group) => group.map(({ id }) => id)), [[0, 1, 2], [3, 4]]);
  assertEquals(values(groups[1]), [1, 2]);
});

Deno.test("maintenance runs between transactions", async () => {
  const groups = await run(["insert", "checkpoint", "insert"]);
  assertEquals(groups.map(values), [[1], [0], [1]]);
});
