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
    select 'item ' || key from item where key not in (select item from response_item)
    union all select 'response ' || id from response
      where id not in (select id from binding where type = 'response')`);
  const sums = all(`
    select name from total where name = 'responses' and (
      entries <> (select count(*) from response) or
      bytes <> (select coalesce(sum(bytes), 0) from response) +
        (select coalesce(sum(bytes), 0) from item))
    union all select name from total where name = 'conversations' and (
      entries <> (select count(*) from conversation) or
      bytes <> (select coalesce(sum(bytes), 0) from conversation))
    union all select name from total where name = 'reasoning' and (
      entries <> (select count(*) from reasoning) or
      bytes <> (select coalesce(sum(bytes), 0) from reasoning))
    union all select name from total where name like '%_bindings' and (
      entries <> (select count(*) from binding where type || '_bindings' = name) or
      bytes <> (select coalesce(sum(bytes), 0) from binding where type || '_bindings' = name))`);
  return [...damage, ...all("pragma foreign_key_check"), ...orphans, ...sums];
}

function closing(database: DatabaseSync): DatabaseSync & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}
