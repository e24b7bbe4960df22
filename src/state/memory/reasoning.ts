import type { OwnedReasoning } from "../../core/reasoning.ts";
import { success } from "../../core/result.ts";
import { BoundedStore } from "../bounded_store.ts";
import type { ReasoningKey, ReasoningStore, StoreStats } from "../object_store.ts";
import { reasoningBounds, reasoningBytes, type Retention } from "../retention.ts";

/** Reasoning in memory, with its size. */
export interface MemoryReasoning {
  readonly reasoning: ReasoningStore;
  stats(): StoreStats;
}

interface Entry {
  readonly reasoning: OwnedReasoning;
  /** Key of the entries with the same creator and tool calls. */
  readonly calls: string;
  readonly creator: string;
  readonly bytes: number;
}

/** Entries of one creator, the oldest first. */
interface Share {
  readonly keys: Set<string>;
  bytes: number;
}

/** Entries of one creator with the same tool calls. */
interface Variants {
  readonly keys: Set<string>;
  /** True once there were several at the same time. */
  isAmbiguous: boolean;
}

/** Returns a store without reasoning. `now` returns milliseconds that never go back. */
export function newMemoryReasoning(now: () => number, retention: Retention): MemoryReasoning {
  const { entries, bytes, creatorEntries, creatorBytes } = reasoningBounds(retention);
  const limits = { ttl: retention.ttlMs, entries, bytes };
  const known = new Map<string, Entry>();
  const shares = new Map<string, Share>();
  const variants = new Map<string, Variants>();
  const store = new BoundedStore<OwnedReasoning>(limits, now, forget);

  /** Removes an entry that is no longer in the store from the indexes. */
  function forget(key: string): void {
    const entry = known.get(key);
    if (entry === undefined) return;
    known.delete(key);
    const share = shares.get(entry.creator);
    if (share?.keys.delete(key)) share.bytes -= entry.bytes;
    if (share?.keys.size === 0) shares.delete(entry.creator);
    const group = variants.get(entry.calls);
    group?.keys.delete(key);
    if (group?.keys.size === 0) variants.delete(entry.calls);
  }

  function remove(key: string): void {
    store.delete(key);
    forget(key);
  }

  /** Adds an entry as the youngest. Its creator's oldest entries are removed until it fits. */
  function add(key: string, entry: Entry): boolean {
    if (entry.bytes > creatorBytes) return false;
    const share = shares.get(entry.creator) ?? { keys: new Set(), bytes: 0 };
    for (const oldest of share.keys) {
      const isFull = share.keys.size >= creatorEntries ||
        share.bytes + entry.bytes > creatorBytes;
      if (!isFull) break;
      remove(oldest);
    }
    store.set(key, entry.reasoning, entry.bytes);
    known.set(key, entry);
    share.keys.add(key);
    share.bytes += entry.bytes;
    shares.set(entry.creator, share);
    return true;
  }

  function put({ creator, calls, text }: ReasoningKey, reasoning: OwnedReasoning): boolean {
    const owner = JSON.stringify(creator);
    const group = `${owner} ${calls}`;
    const key = `${group} ${text}`;
    store.dropExpired();
    const before = variants.get(group);
    const isAmbiguous = before !== undefined && (before.isAmbiguous || !before.keys.has(key));
    remove(key);
    const bytes = reasoningBytes(key, reasoning);
    if (!add(key, { reasoning, calls: group, creator: owner, bytes })) return false;
    const keys = variants.get(group)?.keys ?? new Set<string>();
    variants.set(group, { keys: keys.add(key), isAmbiguous });
    return true;
  }

  function keyOf({ creator, calls, text }: ReasoningKey): string | null {
    const group = `${JSON.stringify(creator)} ${calls}`;
    if (text !== null) return `${group} ${text}`;
    const found = variants.get(group);
    const [only] = found?.keys ?? [];
    return found === undefined || found.isAmbiguous ? null : only ?? null;
  }

  /** Returns the reasoning under a key; its lifetime begins again. */
  function take(given: ReasoningKey): OwnedReasoning | null {
    const key = keyOf(given);
    const entry = key === null || store.get(key) === undefined ? undefined : known.get(key);
    if (key === null || entry === undefined) return null;
    const share = shares.get(entry.creator);
    store.set(key, entry.reasoning, entry.bytes);
    share?.keys.delete(key);
    share?.keys.add(key);
    return entry.reasoning;
  }

  return {
    reasoning: {
      store: (key, reasoning) => Promise.resolve(success(put(key, reasoning))),
      find: (keys) => Promise.resolve(success(keys.map(take))),
    },
    stats: () => ({ entries: store.entries, bytes: store.bytes }),
  };
}
