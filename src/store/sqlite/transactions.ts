import type { RecordBounds } from "../records/bounds.ts";
import { bytesOf } from "./bytes_of.ts";
import { type Database, rollBack } from "./database.ts";
import { problemOf } from "./errors.ts";
import type { CallResult, OperationCall } from "./messages.ts";
import type { Operation, OperationContext } from "./operation.ts";

/** Results above this size are sent before the next operation runs. */
const MAX_RESULT_BYTES = 8 * 1024 * 1024;

/** An operation that a call can name. */
export type Operations = Readonly<Record<string, Operation>>;

/** Context in which calls are run. */
export interface CallRunner {
  readonly database: Database;
  readonly operations: Operations;
  readonly bounds: RecordBounds;
}

/**
 * Runs calls in their order and passes on their results in groups. The changes of a group are
 * committed before its results are passed on. All calls of a group share one transaction, so they
 * wait for the disk once. After an error each call of the group runs again in a separate
 * transaction, so that a call that fails takes no other one with it.
 */
export function runCalls(
  runner: CallRunner,
  calls: readonly OperationCall[],
  pass: (results: readonly CallResult[]) => void,
): void {
  for (let from = 0; from < calls.length;) {
    const group = runGroup(runner, calls, from);
    pass(group.results ?? group.calls.map((call) => runAlone(runner, call)));
    from += group.calls.length;
  }
}

interface Group {
  readonly calls: readonly OperationCall[];
  /** Null after an error, which has undone the group. */
  readonly results: readonly CallResult[] | null;
}

/** Runs calls from an index on, in one transaction that begins with the first one that writes. */
function runGroup(runner: CallRunner, calls: readonly OperationCall[], from: number): Group {
  const { database } = runner;
  const results: CallResult[] = [];
  let to = from;
  let bytes = 0;
  let isWriting = false;
  try {
    for (const call of calls.slice(from)) {
      const kind = kindOf(runner, call);
      if (kind === "maintenance" && to > from) break;
      to++;
      if (kind !== "read" && !isWriting) database.checkFile();
      if (kind === "write" && !isWriting) {
        database.change("begin immediate");
        isWriting = true;
      }
      const before = database.changes();
      const value = runOperation(runner, call);
      const hasWritten = database.changes() !== before;
      results.push({ id: call.id, ok: true, value, hasWritten });
      bytes += bytesOf(value);
      if (kind === "maintenance" || bytes > MAX_RESULT_BYTES) break;
    }
    if (isWriting) database.change("commit");
    return { calls: calls.slice(from, to), results };
  } catch {
    rollBack(database);
    return { calls: calls.slice(from, to), results: null };
  }
}

function runAlone(runner: CallRunner, call: OperationCall): CallResult {
  const { database } = runner;
  const kind = kindOf(runner, call);
  try {
    if (kind !== "read") database.checkFile();
    if (kind === "write") database.change("begin immediate");
    const before = database.changes();
    const value = runOperation(runner, call);
    const hasWritten = database.changes() !== before;
    if (kind === "write") database.change("commit");
    return { id: call.id, ok: true, value, hasWritten };
  } catch (error) {
    rollBack(database);
    return { id: call.id, ok: false, problem: problemOf(error) };
  }
}

function kindOf({ operations }: CallRunner, { name }: OperationCall): Operation["kind"] | null {
  return operations[name]?.kind ?? null;
}

function runOperation(
  { database, operations, bounds }: CallRunner,
  { name, now, parameters }: OperationCall,
): unknown {
  const operation = operations[name];
  if (operation === undefined) throw new TypeError(`there is no operation ${name}`);
  const context: OperationContext = { database, now, bounds };
  return operation.run(context, parameters);
}
