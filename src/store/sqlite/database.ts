import { resolve } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqliteSettings } from "../settings.ts";
import { STATE_TABLES } from "./schema.ts";
import type { Tables } from "./tables.ts";

/** A value of a column, or a parameter of a statement. */
export type SqlValue = null | number | string | Uint8Array<ArrayBuffer>;

/** A row of a result, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** An open database. Statements are prepared once; each throws if SQLite reports an error. */
export interface Database {
  /** Runs a statement and returns the number of rows that it has changed. */
  change(sql: string, ...parameters: readonly SqlValue[]): number;
  /** Returns the first row of a query; undefined without one. */
  row(sql: string, ...parameters: readonly SqlValue[]): Row | undefined;
  /** Returns all rows of a query. */
  rows(sql: string, ...parameters: readonly SqlValue[]): readonly Row[];
  /** Returns the number of rows that `change` has changed since the file was opened. */
  changes(): number;
  /** Throws if the file was removed: what is written to it then ends with the process. */
  checkFile(): void;
  /** Writes back what is in the write-ahead log, and releases the file. */
  close(): void;
}

/** How a database is opened. */
export interface DatabaseOptions extends SqliteSettings {
  /** Maximum number of pages of the file; null for the limit of SQLite. */
  readonly maxPages: number | null;
}

/** Problem of a file that this process cannot use although it can be read. */
export class UnusableDatabase extends Error {
  /** `newer`: written by a later version; `foreign`: by another program; `locked`: in use. */
  readonly reason: "newer" | "foreign" | "locked" | "removed" | "no_file";

  constructor(reason: UnusableDatabase["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/** Pages of the write-ahead log after which it is written back to the file. */
const MAX_LOG_PAGES_COUNT = 500;

/** Size to which the write-ahead log is cut then; one large transaction may make it larger. */
const MAX_LOG_BYTES = 2 * 1024 * 1024;

/**
 * Opens a database file and creates its tables. One connection with an exclusive lock: no other
 * process may use the file, and none of its content is in shared memory.
 */
export function openDatabase(options: DatabaseOptions, tables: Tables = STATE_TABLES): Database {
  const { synchronous, maxPages } = options;
  // SQLite takes a relative path such as `:memory:` or `file:x` for something else than a file.
  const path = resolve(options.path);
  const file = openFile(path);
  try {
    return withStatements(connect(path, tables, synchronous, maxPages), file);
  } catch (error) {
    closeFile(file);
    throw error;
  }
}

/**
 * Closes the file. A process that is being started has a copy of it until its program is loaded,
 * so the lock is given back, which ends it for every copy.
 */
function closeFile(file: Deno.FsFile): void {
  if (Deno.build.os === "linux") file.unlockSync();
  file.close();
}

/**
 * Opens the file, and creates it if there is none, readable by its user only. SQLite would let all
 * users read it; its write-ahead log gets the mode of the file. The file is locked as long as it is
 * open: the kernel releases SQLite's own locks as soon as this process closes the file anywhere,
 * which the runtime's watcher of the configuration does if both are in one folder.
 */
function openFile(path: string): Deno.FsFile {
  // To open a pipe would wait for its reader.
  if (isOther(path)) throw new UnusableDatabase("no_file");
  const file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
  // Elsewhere this lock would keep SQLite out too.
  if (Deno.build.os !== "linux" || file.tryLockSync(true)) return file;
  file.close();
  throw new UnusableDatabase("locked");
}

/** True if something else than a file is at a path. */
function isOther(path: string): boolean {
  try {
    return !Deno.statSync(path).isFile;
  } catch {
    // There is nothing, or opening it reports why it cannot be used.
    return false;
  }
}

function connect(
  path: string,
  tables: Tables,
  synchronous: SqliteSettings["synchronous"],
  maxPages: number | null,
): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    // Before the first access, so that no file for shared memory is made.
    database.prepare("pragma locking_mode = exclusive").all();
    // Before the first change, so that a file that is refused stays as it is.
    checkedVersion(database, tables);
    configure(database, synchronous, maxPages);
    prepareTables(database, tables);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function configure(
  database: DatabaseSync,
  synchronous: SqliteSettings["synchronous"],
  maxPages: number | null,
): void {
  const pragmas = [
    // Before the first table, else it has no effect.
    "auto_vacuum = incremental",
    "journal_mode = wal",
    `synchronous = ${synchronous}`,
    "secure_delete = on",
    "cache_size = -4000",
    // Else what statements may have to undo is written to another file.
    "temp_store = memory",
    `wal_autocheckpoint = ${MAX_LOG_PAGES_COUNT}`,
    `journal_size_limit = ${MAX_LOG_BYTES}`,
  ];
  if (maxPages !== null) pragmas.push(`max_page_count = ${maxPages}`);
  // Statements report the code of an error, which `exec` does not.
  for (const pragma of pragmas) database.prepare(`pragma ${pragma}`).all();
}

/**
 * Returns the version of the tables in the file; null for a new one. Throws if another program or a
 * later version has written it.
 */
function checkedVersion(database: DatabaseSync, tables: Tables): number | null {
  const number = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
  const version = number("pragma user_version");
  if (version === 0 && number("select count(*) from sqlite_schema") === 0) return null;
  if (number("pragma application_id") !== tables.application) throw new UnusableDatabase("foreign");
  if (version > tables.version) throw new UnusableDatabase("newer");
  return version;
}

/** Creates the tables of a new file, and brings those of an earlier version to the current one. */
function prepareTables(database: DatabaseSync, tables: Tables): void {
  database.prepare("begin immediate").run();
  const version = checkedVersion(database, tables);
  if (version === null) {
    database.exec(
      `${tables.create} pragma application_id = ${tables.application}; pragma user_version = ${tables.version};`,
    );
  } else if (version < tables.version) {
    database.exec(`${tables.upgrade(version)} pragma user_version = ${tables.version};`);
  }
  database.prepare("commit").run();
}

function withStatements(database: DatabaseSync, file: Deno.FsFile): Database {
  const prepared = new Map<string, StatementSync>();
  let changes = 0;

  function statement(sql: string): StatementSync {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const one = database.prepare(sql);
    prepared.set(sql, one);
    return one;
  }

  return {
    change(sql, ...parameters) {
      const changed = Number(statement(sql).run(...parameters).changes);
      changes += changed;
      return changed;
    },
    changes: () => changes,
    row: (sql, ...parameters) => statement(sql).get(...parameters),
    rows: (sql, ...parameters) => statement(sql).all(...parameters),
    checkFile() {
      if (file.statSync().nlink === 0) throw new UnusableDatabase("removed");
    },
    close() {
      database.close();
      closeFile(file);
    },
  };
}

/** Undoes the changes of a transaction. */
export function rollBack(database: Database): void {
  try {
    database.change("rollback");
  } catch {
    // After some errors SQLite has rolled back already, and there is no transaction.
  }
}

/** Returns a column that is an integer. Throws for any other value: the file is damaged. */
export function integerOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`column ${column} is no number`);
  return value;
}

/** Returns a column that is text. Throws for any other value: the file is damaged. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`column ${column} is no text`);
  return value;
}

/** Returns a column that is a record. Throws for any other value: the file is damaged. */
export function recordOf(row: Row, column: string): Uint8Array<ArrayBuffer> {
  const value = row[column];
  if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) {
    throw new TypeError(`column ${column} is no record`);
  }
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
