import { success } from "../../core/result.ts";
import type { StoreDependencies } from "../store_dependencies.ts";
import { type RecordBounds, recordBounds } from "../records/bounds.ts";
import type { Retention } from "../retention.ts";
import type { StateSettings } from "../settings.ts";
import type { OpenedStore, StateStore } from "../state_store.ts";
import { newSqliteCachedResponses } from "./cached_responses.ts";
import { newSqliteConversations } from "./conversations.ts";
import type { Link, LinkLimits } from "./link.ts";
import { openLink } from "./open_link.ts";
import { newSqliteOwners } from "./owners.ts";
import { openingProblem } from "./problems.ts";
import { openSqliteQuotas, type SqliteQuotas } from "./quotas.ts";
import { newSqliteReasoning } from "./reasoning.ts";
import { newSqliteResponses } from "./responses.ts";
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
  { ttl, max_entries, max_bytes, sqlite }: StateSettings,
  dependencies: StoreDependencies,
  { maxPages, bounds: given, ...options }: SqliteOptions = {},
): Promise<OpenedStore> {
  const retention: Retention = { ttlMs: ttl, maxObjects: max_entries, maxBytes: max_bytes };
  const bounds = given ?? recordBounds(retention);
  const opening = { options: { ...sqlite, maxPages: maxPages ?? null }, retention, bounds };
  const opened = await openLink(opening, { ...dependencies, ...options });
  if (!opened.ok) return opened;
  const quotas = await openSqliteQuotas(opened.link, dependencies.world);
  if (quotas.ok) {
    return { ok: true, store: newStore(opened.link, quotas.value, retention, dependencies) };
  }
  await opened.link.close();
  return { ok: false, problem: openingProblem("other", sqlite.path) };
}

function newStore(
  link: Link,
  quotas: SqliteQuotas,
  { maxBytes }: Retention,
  { world, codec }: StoreDependencies,
): StateStore {
  const endSweep = startSweep(world, link);
  return {
    name: "sqlite",
    objects: {
      responses: newSqliteResponses(link, codec),
      conversations: newSqliteConversations(link, codec, maxBytes),
      owners: {
        chat_completion: newSqliteOwners(link, "chat_completion"),
        conversation: newSqliteOwners(link, "conversation"),
        relayed_object: newSqliteOwners(link, "relayed_object"),
      },
      reasoning: newSqliteReasoning(link, codec),
      stats: () => link.totals(),
    },
    cachedResponses: newSqliteCachedResponses(link, codec),
    quotas,
    usage: newSqliteUsage(link, world),
    async ping() {
      const replied = await link.run("ping", undefined);
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
    const isMore = await link.runInBackground("freePages", undefined);
    if (!isMore.ok || !isMore.value) return;
  }
}
