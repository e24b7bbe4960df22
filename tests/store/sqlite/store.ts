import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import type { RecordCodec } from "../../../src/store/records/record_codec.ts";
import { DEFAULT_RETENTION, type Retention } from "../../../src/store/retention.ts";
import type { StateSettings } from "../../../src/store/settings.ts";
import { openSqliteStore, type SqliteOptions } from "../../../src/store/sqlite/open.ts";
import type { OpenedStore, StateStore } from "../../../src/store/state_store.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

/** Returns the settings of a store in this file. */
export function settingsOf(path: string, retention: Retention = DEFAULT_RETENTION): StateSettings {
  return {
    store: "sqlite",
    ttl: retention.ttlMs,
    owner_ttl: retention.ownerTtlMs,
    max_entries: retention.maxObjects,
    max_bytes: retention.maxBytes,
    max_items: 10_000,
    on_outage: "serve",
    usage_days: 35,
    required: false,
    encryption_keys: [],
    sqlite: { path, synchronous: "full" },
    valkey: { url: "", prefix: "", sentinels: [], cluster: false, timeout: 500 },
  };
}

/** A database file in a separate folder, with a world and a log that tests read. */
export interface TestFile {
  readonly folder: string;
  readonly path: string;
  readonly world: ScriptedWorld;
  readonly log: string[];
  /** Opens the store in the file. */
  tryOpen(options?: SqliteOptions, retention?: Retention): Promise<OpenedStore>;
  /** As `tryOpen`; throws if the store cannot be opened. */
  open(options?: SqliteOptions, retention?: Retention): Promise<StateStore>;
}

/** Runs a test with a database file that does not exist yet; its folder is removed afterwards. */
export async function withFile(
  run: (file: TestFile) => Promise<void>,
  codec: RecordCodec = newPlainCodec(),
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-sqlite-" });
  try {
    await run(newTestFile(folder, codec));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Folder in memory of Linux. */
const MEMORY_FOLDER = "/dev/shm";

const IN_MEMORY = isFolder(MEMORY_FOLDER) ? { dir: MEMORY_FOLDER } : {};

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/**
 * Returns a new folder for a database, in memory where there is one: the database makes the same
 * calls there, and no test waits for the disk at every commit. What a crash leaves on a disk is
 * tested elsewhere.
 */
export function newMemoryFolder(): Promise<string> {
  return Deno.makeTempDir({ prefix: "switchyard-sqlite-", ...IN_MEMORY });
}

/** Returns a database file in a folder. */
export function newTestFile(folder: string, codec: RecordCodec = newPlainCodec()): TestFile {
  const path = `${folder}/state.db`;
  const world = scriptedWorld();
  const log: string[] = [];
  const write = (message: string) => void log.push(message);
  const file: TestFile = {
    folder,
    path,
    world,
    log,
    tryOpen(options, retention) {
      const dependencies = { world, codec, log: { warn: write, error: write } };
      return openSqliteStore(settingsOf(path, retention), dependencies, options);
    },
    async open(options, retention) {
      const opened = await file.tryOpen(options, retention);
      if (!opened.ok) throw new Error(opened.problem);
      return opened.store;
    },
  };
  return file;
}
