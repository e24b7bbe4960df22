import { success } from "../../core/failure/result.ts";
import { NO_TURNS } from "../../traffic/loop_turns.ts";
import type { StoreDependencies } from "../store_dependencies.ts";
import { newTextContent } from "../objects/content_codec.ts";
import { newObjects, type RecordObjects } from "../objects/new_objects.ts";
import { type RecordBounds, recordBounds } from "../records/bounds.ts";
import { retentionOf } from "../retention.ts";
import type { StateSettings } from "../settings.ts";
import type { OpenedStore, StateStore } from "../state_store.ts";
import type { Link, LinkLimits } from "./link.ts";
import { openLink } from "./open_link.ts";
import { openingProblem } from "./problems.ts";
import { openSqliteQuotas, type SqliteQuotas } from "./quotas.ts";
import { newSqliteRecords } from "./records.ts";
import { startSweep } from "./sweep.ts";
import type { StartThread } from "./thread.ts";
import { newSqliteUsage } from "./usage.ts";

/** Settings of the store that have no key in the configuration. */
export interface SqliteOptions {
  /** Maximum number of pages of the file; the limit of SQLite if absent. */
  readonly maxPages?: number;
  /** Bounds of the records; by the settings if absent. */
  readonly bounds?: RecordBounds;
  readonly limits?: LinkLimits;
  readonly start?: StartThread;
}

/** Opens the store in the file `state.sqlite.path`, which is created if there is none. */
export async function openSqliteStore(
  settings: StateSettings,
  dependencies: StoreDependencies,
  { maxPages, bounds: given, ...options }: SqliteOptions = {},
): Promise<OpenedStore> {
  const { sqlite } = settings;
  const retention = retentionOf(settings);
  const bounds = given ?? recordBounds(retention);
  const opening = { options: { ...sqlite, maxPages: maxPages ?? null }, bounds };
  const opened = await openLink(opening, { ...dependencies, ...options });
  if (!opened.ok) return opened;
  const quotas = await openSqliteQuotas(opened.link, dependencies.world);
  if (quotas.ok) {
    const { codec, world, turns = NO_TURNS } = dependencies;
    const content = newTextContent(codec, world);
    const objects = newObjects(newSqliteRecords(opened.link), content, bounds, retention, turns);
    return { ok: true, store: newStore(opened.link, quotas.value, objects, dependencies) };
  }
  await opened.link.close();
  return { ok: false, problem: openingProblem("other", sqlite.path) };
}

function newStore(
  link: Link,
  quotas: SqliteQuotas,
  objects: RecordObjects,
  { world }: StoreDependencies,
): StateStore {
  const endSweep = startSweep(world, link);
  return {
    name: "sqlite",
    ...objects,
    quotas,
    usage: newSqliteUsage(link, world),
    async ping(doesWrite = false) {
      const replied = await link.run(doesWrite ? "writePing" : "ping", undefined);
      return replied.ok ? success(undefined) : replied;
    },
    stats: () => link.run("readInfo", undefined),
    async purge() {
      for (let removed = 0;;) {
        const part = await link.run("removeSomeRecords", undefined);
        if (!part.ok) return part;
        removed += part.value.records;
        if (part.value.isMore) continue;
        await emptyFile(link);
        return success(removed);
      }
    },
    async close() {
      endSweep();
      await quotas.close();
      await link.close();
    },
  };
}

/** Gives the space of removed records back to the disk. */
async function emptyFile(link: Link): Promise<void> {
  for (;;) {
    const isMore = await link.runInBackground("freePages", () => undefined);
    if (!isMore.ok || !isMore.value) return;
  }
}
