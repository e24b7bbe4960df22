import { type Database, openDatabase } from "./database.ts";
import { problemOf } from "./errors.ts";
import type { WorkerReply, WorkerRequest } from "./messages.ts";
import type { Totals } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { readTotals } from "./operations/totals.ts";
import { type CallRunner, runCalls } from "./transactions.ts";

/**
 * Returns the receiver of the messages to the thread of a database. It has the only connection to
 * the file. `post` sends its replies.
 */
export function newDatabaseThread(
  post: (reply: WorkerReply) => void,
): (request: WorkerRequest) => void {
  let runner: CallRunner | null = null;

  function open(database: Database, retention: CallRunner["retention"]): void {
    runner = { database, operations: OPERATIONS, retention };
    post({ kind: "opened", totals: readTotals(database) });
  }

  return (request) => {
    switch (request.kind) {
      case "open":
        try {
          open(openDatabase(request.options), request.retention);
        } catch (error) {
          post({ kind: "refused", problem: problemOf(error) });
        }
        return;
      case "run": {
        if (runner === null) throw new TypeError("the database is not open");
        const { database } = runner;
        runCalls(runner, request.calls, (results) => {
          post({ kind: "results", results, totals: totalsOf(database) });
        });
        return;
      }
      case "close":
        runner?.database.close();
        runner = null;
        post({ kind: "closed" });
        return;
    }
  };
}

/** Returns the sizes; null if they cannot be read, which must not take the results with it. */
function totalsOf(database: Database): Totals | null {
  try {
    return readTotals(database);
  } catch {
    return null;
  }
}
