import type { Bounds, RecordBounds } from "../../records/bounds.ts";
import type { RecordId, RecordType } from "../../records/record_store.ts";
import { type Database, integerOf, type Row, textOf } from "../database.ts";

/** Removes records until the type of a changed record is within its bounds. */
export function makeRoom(database: Database, { type, id }: RecordId, bounds: RecordBounds): void {
  const needing = database.row("select key, share from record where type = ? and id = ?", type, id);
  if (needing === undefined) return;
  const [key, share] = [integerOf(needing, "key"), textOf(needing, "share")];
  const remove = (row: Row | undefined): boolean =>
    row !== undefined &&
    database.change("delete from record where key = ?", integerOf(row, "key")) > 0;
  const { shareEntries = Infinity, shareBytes = Infinity } = bounds[type];
  while (shareEntries < Infinity || shareBytes < Infinity) {
    const own = database.row(
      "select entries, bytes from share where type = ? and share = ?",
      type,
      share,
    );
    if (own === undefined || !isAbove(own, shareEntries, shareBytes)) break;
    if (!remove(oldestOf(database, type, share, key))) break;
  }
  for (;;) {
    const { entries, bytes, headBytes: heads = bytes } = bounds[type];
    const total = database.row(
      "select entries, head_bytes, bytes from record_total where type = ?",
      type,
    ) ?? {};
    if (!isAbove(total, entries, bytes) && integerOf(total, "head_bytes") <= heads) return;
    const isCrowded = integerOf(total, "entries") > entries;
    if (!remove(toRemove(database, { type, share, key, isCrowded }, bounds[type]))) return;
  }
}

function isAbove(size: Row, entries: number, bytes: number): boolean {
  return integerOf(size, "entries") > entries || integerOf(size, "bytes") > bytes;
}

interface Needing {
  readonly type: RecordType;
  readonly share: string;
  readonly key: number;
  /** True if there are too many records; else they have too many bytes. */
  readonly isCrowded: boolean;
}

/** Returns the record that makes room; see `Bounds`. */
function toRemove(
  database: Database,
  { type, share, key, isCrowded }: Needing,
  { room }: Bounds,
): Row | undefined {
  if (room === "largest_share") {
    const column = isCrowded ? "entries" : "bytes";
    const hasOther =
      "exists (select 1 from record where type = ?1 and record.share = share.share and key <> ?2)";
    const largest = database.row(
      `select share, ${column} as size from share where type = ?1 and ${hasOther}
         order by ${column} desc limit 1`,
      type,
      key,
    );
    // A query apart: an order of two columns would sort all creators that have as much.
    const own = database.row(
      `select share from share where type = ?1 and share = ?3 and ${column} = ?4 and ${hasOther}`,
      type,
      key,
      share,
      largest === undefined ? null : integerOf(largest, "size"),
    );
    if (largest !== undefined) {
      return oldestOf(database, type, textOf(own ?? largest, "share"), key);
    }
  }
  return database.row(
    "select key from record where type = ? and key <> ? order by seq limit 1",
    type,
    key,
  );
}

function oldestOf(
  database: Database,
  type: RecordType,
  share: string,
  needing: number,
): Row | undefined {
  return database.row(
    "select key from record where type = ? and share = ? and key <> ? order by seq limit 1",
    type,
    share,
    needing,
  );
}
