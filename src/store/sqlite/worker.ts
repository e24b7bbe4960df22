import { buffersOf } from "./bytes_of.ts";
import { type Database, openDatabase } from "./database.ts";
import { problemOf } from "./errors.ts";
import type { OperationCall, WorkerReply, WorkerRequest } from "./messages.ts";
import type { Totals } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { readTotals } from "./operations/totals.ts";
import { type CallRunner, runCalls } from "./transactions.ts";

type OpenRequest = Extract<WorkerRequest, { readonly kind: "open" }>;

/**
 * Returns the receiver of the messages to the thread of a database. It has the only connection to
 * the file. `post` sends its replies; the memory of `moved` goes with them.
 */
export function newDatabaseThread(
  post: (reply: WorkerReply, moved: readonly ArrayBuffer[]) => void,
): (request: WorkerRequest) => void {
  let runner: CallRunner | null = null;

  function open({ options, bounds }: OpenRequest): void {
    try {
      const database = openDatabase(options);
      runner = { database, operations: OPERATIONS, bounds };
      post({ kind: "opened", totals: readTotals(database) }, []);
    } catch (error) {
      post({ kind: "refused", problem: problemOf(error) }, []);
    }
  }

  function run(calls: readonly OperationCall[]): void {
    if (runner === null) throw new TypeError("the database is not open");
    const { database } = runner;
    runCalls(runner, calls, (results) => {
      const hasWritten = results.some((result) => result.ok && result.hasWritten);
      const totals = hasWritten ? totalsOf(database) : null;
      // What was read is of no use here any more.
      post({ kind: "results", results, totals }, buffersOf(results));
    });
  }

  function receive(request: WorkerRequest): void {
    switch (request.kind) {
      case "open":
        return open(request);
      case "run":
        return run(request.calls);
      case "close":
        runner?.database.close();
        runner = null;
        return post({ kind: "closed" }, []);
    }
  }

  return (request) => {
    try {
      receive(request);
    } catch {
      // The runtime would write the error to the log, and errors may contain what a client has
      // sent.
      post({ kind: "broken" }, []);
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
