import { type Result, success } from "../../core/failure/result.ts";
import { dayBefore, type UsageRow } from "../../core/usage_row.ts";
import type { World } from "../../core/world.ts";
import { idOfKeyText, keyText } from "../key_text.ts";
import { SETTLED_TTL_MS } from "../memory/settled_calls.ts";
import type { UsageStore } from "../usage/usage_store.ts";
import type { Link } from "./link.ts";

/** Returns the usage of client keys in a database. */
export function newSqliteUsage(link: Link, world: Pick<World, "wall">): UsageStore {
  return {
    async add(batch) {
      const latest = batch.rows.reduce((last, { day }) => day > last ? day : last, "");
      if (latest === "") return success(undefined);
      const added = await link.runInBackground("addUsage", () => ({
        batch: { ...batch, rows: batch.rows.map(withNames(keyText)) },
        firstDay: dayBefore(latest, batch.days - 1),
        expires: Math.ceil(world.wall() + SETTLED_TTL_MS),
      }));
      return added.ok ? success(undefined) : added;
    },
    async read(days) {
      const rows: UsageRow[] = [];
      for (const day of days) {
        const found: Result<readonly UsageRow[]> = await link.run("readUsage", day);
        if (!found.ok) return found;
        for (const row of found.value) rows.push(withNames(idOfKeyText)(row));
      }
      return success(rows);
    },
  };
}

/**
 * Returns a row with other names. SQLite ends a text at its first NUL, so names are stored in
 * another form.
 */
function withNames(change: (name: string) => string): (row: UsageRow) => UsageRow {
  return (row) => ({
    ...row,
    key: change(row.key),
    provider: change(row.provider),
    model: change(row.model),
  });
}
