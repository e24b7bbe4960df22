import { success } from "../../core/failure/result.ts";
import type { RecordBounds } from "../records/bounds.ts";
import {
  type Change,
  type Committed,
  recordStats,
  type RecordStore,
  type RecordType,
  type StoredRecord,
} from "../records/record_store.ts";
import { type MemoryTable, newMemoryTable } from "./table.ts";

/**
 * Returns an empty store in the memory of the process. It never fails, and every operation takes
 * effect before it returns its promise. `now` returns milliseconds that never go back.
 */
export function newMemoryRecords<Body>(
  now: () => number,
  bounds: RecordBounds,
): RecordStore<Body> {
  const tables = new Map<RecordType, MemoryTable<Body>>();

  function tableOf(type: RecordType): MemoryTable<Body> {
    const table = tables.get(type) ?? newMemoryTable<Body>(now, bounds[type]);
    tables.set(type, table);
    return table;
  }

  function commit(changes: readonly Change<Body>[]): Committed {
    const hasChanged = changes.some(({ id: { type, id }, expected }) =>
      expected !== "any" && (tableOf(type).get(id)?.version ?? null) !== expected
    );
    if (hasChanged) return { kind: "changed" };
    const keys = changes.flatMap(({ id, next }) => tableOf(id.type).missing(next?.parts ?? []));
    if (keys.length > 0) return { kind: "missing", keys: [...new Set(keys)] };
    for (const { id: { type, id }, next } of changes) {
      const table = tableOf(type);
      if (next === null) table.remove(id);
      else table.set(id, next);
    }
    for (const { id, next } of changes) {
      if (next !== null) tableOf(id.type).makeRoom(id.id);
    }
    return { kind: "done" };
  }

  return {
    get(ids, { content, renewMs, known = [] }) {
      const found = ids.map(({ type, id }): StoredRecord<Body> | null => {
        const table = tableOf(type);
        const record = table.get(id);
        if (record === null) return null;
        if (renewMs !== undefined) table.renew(id, renewMs);
        const { version, head } = record;
        if (content === "head") return { version, head, body: null, parts: [] };
        const body = record.body?.body ?? null;
        if (content === "body") return { version, head, body, parts: [] };
        const parts = table.partsOf(record).map((part) =>
          known.includes(part.key) ? { ...part, names: [], body: null } : part
        );
        if (content === "all") return { version, head, body, parts };
        const keys = new Set(content);
        const read = parts.map((part) => keys.has(part.key) ? part : { ...part, body: null });
        return { version, head, body, parts: read };
      });
      return Promise.resolve(success(found));
    },
    named(type, names, most) {
      return Promise.resolve(success(tableOf(type).named(names, most)));
    },
    commit: (changes) => Promise.resolve(success(commit(changes))),
    stats: () => recordStats((type) => tableOf(type).stats()),
  };
}
