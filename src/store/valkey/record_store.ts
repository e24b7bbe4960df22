import { type Result, success } from "../../core/failure/result.ts";
import type { Stored } from "../object_store.ts";
import type { RecordBounds } from "../records/bounds.ts";
import {
  type Change,
  type Committed,
  MAX_STEP_PARTS,
  noRecordStats,
  type ReadOptions,
  type RecordId,
  type RecordStats,
  type RecordStore,
  type RecordType,
} from "../records/record_store.ts";
import { storeUnavailable } from "../store_failure.ts";
import type { Argument, ValkeyConnection } from "./connection.ts";
import {
  commitArguments,
  MAX_STEP_BYTES,
  partArguments,
  roomArguments,
  typesOf,
  writeSteps,
} from "./record_arguments.ts";
import {
  fillBodies,
  type FoundRecord,
  parseNamed,
  parseRecord,
  toStoredRecord,
} from "./record_replies.ts";
import { integerOf, listOf, textOf } from "./reply.ts";
import { replyResult, runScript, type Script } from "./script.ts";
import { READ_NAMED, READ_RECORDS } from "./scripts/read_scripts.ts";
import { COMMIT_RECORDS, WRITE_PARTS } from "./scripts/write_scripts.ts";

/** Time for which parts that were written wait for the commit of their record, in milliseconds. */
const WRITTEN_LIFE_MS = 60_000;

/** Reads of a record whose parts are removed between the steps of a read, as others change it. */
const MAX_READS = 5;

/** Returns the records on a server, whose keys begin with `start`. */
export function newValkeyRecordStore(
  connection: ValkeyConnection,
  start: string,
  bounds: RecordBounds,
): RecordStore {
  let stats = noRecordStats();

  const run = (script: Script, args: readonly Argument[]) =>
    runScript(connection, script, [start], args);

  /** Returns the bodies of parts that did not fit into the reply of a script, in several steps. */
  async function readBodies(
    type: RecordType,
    parts: readonly { readonly key: string; readonly bytes: number }[],
  ): Stored<ReadonlyMap<string, Uint8Array>> {
    const bodies = new Map<string, Uint8Array>();
    for (let at = 0; at < parts.length;) {
      const first = at;
      let bytes = 0;
      do bytes += parts[at++]?.bytes ?? 0; while (
        at < parts.length && at - first < MAX_STEP_PARTS &&
        bytes + (parts[at]?.bytes ?? 0) <= MAX_STEP_BYTES
      );
      const step = parts.slice(first, at);
      const keys = step.map(({ key }) => `${start}${type}:p:${key}`);
      const reply = replyResult(await connection.send("MGET", keys));
      if (!reply.ok) return reply;
      for (const [index, body] of listOf(reply.value).entries()) {
        if (body instanceof Uint8Array) bodies.set(step[index]?.key ?? "", body);
      }
    }
    return success(bodies);
  }

  async function read(
    ids: readonly RecordId[],
    { content, renewMs, known = [] }: ReadOptions,
  ): Promise<Result<readonly (FoundRecord | null)[]>> {
    const [kind, keys] = typeof content === "string" ? [content, []] : ["some", content];
    const lists = [keys.length, ...keys, known.length, ...known];
    const args = [renewMs ?? "", kind, MAX_STEP_BYTES, ...lists];
    const reply = await run(READ_RECORDS, [...args, ...ids.flatMap(({ type, id }) => [type, id])]);
    return reply.ok ? success(listOf(reply.value).map(parseRecord)) : reply;
  }

  /**
   * Reads the parts of a record that were not in the reply; undefined if it has changed meanwhile.
   */
  async function readRest(
    id: RecordId,
    record: FoundRecord,
    { content, known = [] }: ReadOptions,
  ): Promise<Result<FoundRecord | undefined>> {
    const wanted = Array.isArray(content) ? new Set(content) : null;
    const before = new Set(known);
    const rest = [...record.parts.values()].filter(({ key, body }) =>
      body === null && (wanted?.has(key) ?? content === "all") && !before.has(key)
    );
    if (rest.length === 0) return success(record);
    const bodies = await readBodies(id.type, rest);
    if (!bodies.ok) return bodies;
    if (bodies.value.size < rest.length) {
      const now = await read([id], { content: "head" });
      if (!now.ok) return now;
      if (now.value[0]?.version !== record.version) return success(undefined);
    }
    return success(fillBodies(record, bodies.value));
  }

  async function getOne(
    id: RecordId,
    found: FoundRecord | null,
    { content, known }: ReadOptions,
  ): Promise<Result<FoundRecord | null>> {
    const options = { content, ...known !== undefined && { known } };
    let record = found;
    for (let reads = 0; reads < MAX_READS; reads++) {
      const whole = record === null ? success(null) : await readRest(id, record, options);
      if (!whole.ok) return whole;
      if (whole.value !== undefined) return success(whole.value);
      const again = await read([id], options);
      if (!again.ok) return again;
      record = again.value[0] ?? null;
    }
    return storeUnavailable();
  }

  /**
   * Sends a commit and takes the sizes from its reply. `hasMore`: records are still to be removed.
   */
  async function runCommit(
    changes: readonly Change[],
    args: readonly Argument[],
  ): Promise<Result<{ readonly committed: Committed; readonly hasMore: boolean }>> {
    const reply = await run(COMMIT_RECORDS, args);
    if (!reply.ok) return reply;
    const [status, second, ...sizes] = listOf(reply.value);
    if (textOf(status) === "changed") {
      return success({ committed: { kind: "changed" }, hasMore: false });
    }
    if (textOf(status) === "missing") {
      const keys = new Set(listOf(second).map((key) => textOf(key) ?? ""));
      return success({ committed: { kind: "missing", keys: [...keys] }, hasMore: false });
    }
    const numbers = sizes.map((size) => integerOf(size) ?? 0);
    for (const [index, type] of typesOf(changes).entries()) {
      const [entries = 0, bodies = 0, headBytes = 0, bytes = 0] = numbers.slice(4 * index);
      const changed: RecordStats = { entries, bodies, headBytes, bytes };
      stats = { ...stats, [type]: changed };
    }
    return success({ committed: { kind: "done" }, hasMore: second === 1 });
  }

  return {
    async get(ids, options) {
      const records: (FoundRecord | null)[] = [];
      for (let at = 0; at < ids.length; at += MAX_STEP_PARTS) {
        const step = ids.slice(at, at + MAX_STEP_PARTS);
        const found = await read(step, options);
        if (!found.ok) return found;
        for (const [index, id] of step.entries()) {
          const record = await getOne(id, found.value[index] ?? null, options);
          if (!record.ok) return record;
          records.push(record.value);
        }
      }
      return success(records.map((record) => record === null ? null : toStoredRecord(record)));
    },
    async named(type, names, most) {
      const found = [];
      for (let at = 0; at < names.length;) {
        const rest = names.slice(at, at + MAX_STEP_PARTS);
        const reply = await run(READ_NAMED, [type, most, MAX_STEP_BYTES, ...rest]);
        if (!reply.ok) return reply;
        const parsed = parseNamed(listOf(reply.value), rest);
        const bodies = await readBodies(type, parsed.unread);
        if (!bodies.ok) return bodies;
        for (const { body, ...use } of parsed.uses) {
          const whole = body ?? bodies.value.get(use.key);
          if (whole !== undefined) found.push({ ...use, body: whole });
        }
        at += Math.max(1, parsed.names);
      }
      return success(found);
    },
    async commit(changes) {
      if (changes.length === 0) return success({ kind: "done" });
      const steps = writeSteps(changes);
      for (const { type, parts } of steps) {
        const written = await run(WRITE_PARTS, [type, WRITTEN_LIFE_MS, ...partArguments(parts)]);
        if (!written.ok) return written;
      }
      const first = await runCommit(changes, commitArguments(changes, bounds, steps.length > 0));
      if (!first.ok) return first;
      let { hasMore } = first.value;
      while (hasMore) {
        const next = await runCommit(changes, roomArguments(changes, bounds));
        // The commit is made: what is left is removed by the next one.
        if (!next.ok) break;
        hasMore = next.value.hasMore;
      }
      return success(first.value.committed);
    },
    stats: () => stats,
  };
}
