import { type Result, success } from "../../core/failure/result.ts";
import type { Stored } from "../object_store.ts";
import type {
  NextRecord,
  ReadOptions,
  RecordId,
  RecordStore,
  StoredRecord,
} from "../records/record_store.ts";
import { storeUnavailable } from "../store_failure.ts";

/** Result of a rule for a record that it has read. */
export interface Decision<Body, Value> {
  readonly value: Value;
  /**
   * Returns the next state of the record, null to remove it. Parts in `missing` have a body.
   * Absent: nothing is to be changed.
   */
  readonly next?: (missing: ReadonlySet<string>) => Promise<NextRecord<Body> | null>;
}

/** Decides what becomes of a record; a failure changes nothing. */
export type Decide<Body, Value> = (
  found: StoredRecord<Body> | null,
) => Result<Decision<Body, Value>> | Promise<Result<Decision<Body, Value>>>;

/** Changes one record by a rule. */
export interface RecordChanger<Body> {
  /**
   * Reads a record and commits what the rule decides; if another change came first, the rule
   * decides again. Changes of one record by this process are made one after the other.
   */
  change<Value>(
    id: RecordId,
    options: ReadOptions,
    decide: Decide<Body, Value>,
  ): Stored<Value>;
  /** The same for a record that is probably new: the first decision is made without a read. */
  add<Value>(id: RecordId, decide: Decide<Body, Value>): Stored<Value>;
}

/** Number of commits of one change: other processes may change the record in between. */
export const MAX_ATTEMPTS = 50;

const NOTHING: ReadonlySet<string> = new Set();

/** Returns the changes of the records of a store. */
export function newRecordChanger<Body>(records: RecordStore<Body>): RecordChanger<Body> {
  const changing = new Map<string, Promise<unknown>>();

  /** Runs a change after the changes of the same record that have begun. */
  async function inOrder<Value>({ type, id }: RecordId, run: () => Stored<Value>): Stored<Value> {
    const key = `${type} ${id}`;
    const before = changing.get(key);
    const running = before === undefined ? run() : before.then(run, run);
    changing.set(key, running);
    try {
      return await running;
    } finally {
      if (changing.get(key) === running) changing.delete(key);
    }
  }

  async function read(id: RecordId, options: ReadOptions) {
    const found = await records.get([id], options);
    return found.ok ? success(found.value[0] ?? null) : found;
  }

  async function decideAndCommit<Value>(
    id: RecordId,
    options: ReadOptions,
    decide: Decide<Body, Value>,
    first: "absent" | "read",
  ): Stored<Value> {
    let missing = NOTHING;
    let isKnown = first === "absent";
    let found: StoredRecord<Body> | null = null;
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      if (!isKnown) {
        const current = await read(id, options);
        if (!current.ok) return current;
        found = current.value;
      }
      const decision = await decide(found);
      if (!decision.ok) return decision;
      const { value, next } = decision.value;
      if (next === undefined) {
        if (attempts > 0 || first === "read") return success(value);
        // A rule that changes nothing has decided without knowledge of the record.
        isKnown = false;
        first = "read";
        continue;
      }
      const expected = found?.version ?? null;
      const committed = await records.commit([{ id, expected, next: await next(missing) }]);
      if (!committed.ok) return committed;
      if (committed.value.kind === "done") return success(value);
      isKnown = committed.value.kind === "missing";
      missing = committed.value.kind === "missing" ? new Set(committed.value.keys) : NOTHING;
    }
    return storeUnavailable();
  }

  return {
    change: (id, options, decide) =>
      inOrder(id, () => decideAndCommit(id, options, decide, "read")),
    add: (id, decide) =>
      inOrder(id, () => decideAndCommit(id, { content: "head" }, decide, "absent")),
  };
}
