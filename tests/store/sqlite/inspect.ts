import { DatabaseSync } from "node:sqlite";

/** Runs a query on a file that no store has open. */
export function query(path: string, sql: string): readonly Readonly<Record<string, unknown>>[] {
  using database = closing(new DatabaseSync(path));
  return database.prepare(sql).all();
}

/** Runs statements on a file that no store has open. */
export function execute(path: string, sql: string): void {
  using database = closing(new DatabaseSync(path));
  database.exec(sql);
}

/** Returns what is wrong with a file that no store has open; empty if nothing is. */
export function damageOf(path: string): readonly unknown[] {
  using database = closing(new DatabaseSync(path));
  const all = (sql: string) => database.prepare(sql).all().flatMap((row) => Object.values(row));
  const damage = all("pragma integrity_check").filter((line) => line !== "ok");
  const orphans = all(`
    select 'part ' || digest from part where key not in (select part from holds)
    union all select 'name ' || name from name where part not in (select key from part)
    union all select 'holds ' || record from holds where
      part not in (select key from part) or record not in (select key from record)`);
  const sums = all(`
    select type from record_total as total where
      entries <> (select count(*) from record where type = total.type) or
      bytes <> (select coalesce(sum(bytes), 0) from record where type = total.type) +
        (select coalesce(sum(bytes), 0) from part where type = total.type)
    union all select share from share as own where
      entries <> (select count(*) from record where type = own.type and share = own.share) or
      bytes <>
        (select coalesce(sum(bytes), 0) from record where type = own.type and share = own.share) +
        (select coalesce(sum(bytes), 0) from part where type = own.type and share = own.share)`);
  return [...damage, ...orphans, ...sums];
}

function closing(database: DatabaseSync): DatabaseSync & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}
