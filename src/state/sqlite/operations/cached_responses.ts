import { recordOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import type { EncodedRecord } from "./responses.ts";
import { readNumber, removeOldest } from "./table.ts";

/** Returns the record of a cached response; null if there is none. */
export const findCachedResponse = {
  kind: "read" as const,
  run({ database, now }: OperationContext, key: string): EncodedRecord | null {
    const row = database.row(
      "select body from cached_response where key = ? and expires > ?",
      key,
      now,
    );
    return row === undefined ? null : recordOf(row, "body");
  },
};

/** Stores a cached response as the youngest one. A response that is too large is not stored. */
export const storeCachedResponse = {
  kind: "write" as const,
  run(
    { database, now, retention: { maxObjects, maxBytes } }: OperationContext,
    { key, body, bytes, ttlMs }: {
      readonly key: string;
      readonly body: EncodedRecord;
      readonly bytes: number;
      readonly ttlMs: number;
    },
  ): null {
    if (bytes > maxBytes) return null;
    database.change("delete from cached_response where key = ?", key);
    database.change(
      "insert into cached_response (key, seq, body, bytes, changed, expires) values (?, ?, ?, ?, ?, ?)",
      key,
      readNumber(database, "select coalesce(max(seq), 0) + 1 from cached_response"),
      body,
      bytes,
      now,
      Math.ceil(now + ttlMs),
    );
    removeOldest(
      database,
      "cached_responses",
      { entries: maxObjects, bytes: maxBytes },
      "delete from cached_response where seq = (select min(seq) from cached_response)",
    );
    return null;
  },
};
