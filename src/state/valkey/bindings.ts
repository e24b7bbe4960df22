import { allOf, type Result, success } from "../../core/result.ts";
import { type Binding, creatorOf, isVisibleTo } from "../bindings.ts";
import { keyText } from "../key_text.ts";
import type { BoundType, OwnerStore, Stored, StoreStats } from "../object_store.ts";
import { bindingBounds } from "../retention.ts";
import {
  type Attempt,
  bindingAfter,
  bytesOfBinding,
  changeBinding,
  changedTo,
  expectedText,
  made,
  readBinding,
} from "./binding_change.ts";
import { bindingText } from "../objects/binding_text.ts";
import type { ValkeyRecords } from "./records.ts";
import { listOf, statsOf, textOf } from "./reply.ts";
import { type BindingScripts, FIND_BINDINGS } from "./scripts/owner_scripts.ts";

/** Bindings of one type on the server. */
export interface ValkeyBindings {
  readonly owners: OwnerStore;
  /** Returns the size of the bindings after the last change by this process. */
  stats(): StoreStats;
  /** Returns the size of the responses stored with them. */
  snapshotStats(): StoreStats;
  /** Takes the sizes from the reply of a script. */
  setStats(reply: readonly unknown[]): void;
}

/** Returns the bindings of one type. */
export function newValkeyBindings(
  records: ValkeyRecords,
  type: BoundType,
  scripts: BindingScripts,
): ValkeyBindings {
  const { retention: { ttlMs, maxObjects }, retention } = records;
  const maxBytes = bindingBounds(retention).bytes;
  let stats: StoreStats = { entries: 0, bytes: 0 };
  let snapshotStats = stats;

  function setStats([_status, entries, bytes, snapshots, snapshotBytes]: readonly unknown[]) {
    stats = statsOf(entries, bytes);
    snapshotStats = statsOf(snapshots, snapshotBytes);
  }

  function attemptOf<T>(reply: Result<unknown>, value: T): Result<Attempt<T>> {
    if (!reply.ok) return reply;
    const sizes = listOf(reply.value);
    const [status, text] = sizes;
    if (textOf(status) === "changed") return changedTo(textOf(text));
    setStats(sizes);
    return made(value);
  }

  async function findBindings(ids: readonly string[]): Stored<ReadonlyMap<string, Binding>> {
    if (ids.length === 0) return success(new Map());
    const reply = await records.run(FIND_BINDINGS, [type, ttlMs, ...ids.map(keyText)]);
    if (!reply.ok) return reply;
    const bindings = allOf(listOf(reply.value).map((text) => readBinding(textOf(text))));
    if (!bindings.ok) return bindings;
    const found = new Map<string, Binding>();
    for (const [index, id] of ids.entries()) {
      const binding = bindings.value[index] ?? null;
      if (binding !== null) found.set(id, binding);
    }
    return success(found);
  }

  async function findBinding(id: string): Stored<Binding | null> {
    const found = await findBindings([id]);
    return found.ok ? success(found.value.get(id) ?? null) : found;
  }

  return {
    owners: {
      findBinding,
      findBindings,
      bind: (id, owner) =>
        changeBinding(async (expected) => {
          const next = bindingAfter(expected, owner);
          if (next === expected || bytesOfBinding(id, next) > maxBytes) return made(next);
          const texts = [expectedText(expected), bindingText(next), next.kind];
          const args = [type, keyText(id), ...texts, ttlMs, maxObjects, maxBytes];
          return attemptOf(await records.run(scripts.replace, args), next);
        }),
      unbind: (id, account, caller) =>
        changeBinding(async (expected) => {
          // Most bindings of objects to be deleted exist: without a read, each would be tried twice.
          const found = expected === null ? await findBinding(id) : success(expected);
          if (!found.ok) return found;
          const binding = found.value;
          const isOwn = binding?.kind === "bound" && binding.owner.account === account &&
            isVisibleTo(caller, creatorOf(binding));
          if (!isOwn) return made(false);
          const args = [type, keyText(id), expectedText(binding), ttlMs];
          return attemptOf(await records.run(scripts.remove, args), true);
        }),
    },
    stats: () => stats,
    snapshotStats: () => snapshotStats,
    setStats,
  };
}
