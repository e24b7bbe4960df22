/** Number and bytes of the records of one creator. */
export interface ShareSize {
  readonly entries: number;
  readonly bytes: number;
}

/** Entries and bytes of each creator's records. */
export interface Shares {
  addBytes(share: string, difference: number): void;
  /** Makes a record the youngest one of a creator. */
  touch(share: string, id: string): void;
  remove(share: string, id: string): void;
  sizeOf(share: string): ShareSize;
  /** Returns the oldest record of a creator, but never `needing`. */
  oldestOf(share: string, needing: string): string | undefined;
  /**
   * Returns the oldest record of the creator that has most, but never `needing`. `own` is preferred
   * to others that have as much.
   */
  oldestOfLargest(
    of: "entries" | "bytes",
    needing: string,
    own: string | undefined,
  ): string | undefined;
}

interface Share {
  /** IDs of the records, the oldest first. */
  readonly ids: Set<string>;
  bytes: number;
}

/** Returns shares without records. */
export function newShares(): Shares {
  const shares = new Map<string, Share>();

  function shareOf(name: string): Share {
    const share = shares.get(name) ?? { ids: new Set(), bytes: 0 };
    shares.set(name, share);
    return share;
  }

  function forgetEmpty(name: string, { ids, bytes }: Share): void {
    if (ids.size === 0 && bytes === 0) shares.delete(name);
  }

  return {
    addBytes(name, difference) {
      const share = shareOf(name);
      share.bytes += difference;
      forgetEmpty(name, share);
    },
    touch(name, id) {
      const { ids } = shareOf(name);
      ids.delete(id);
      ids.add(id);
    },
    remove(name, id) {
      const share = shareOf(name);
      share.ids.delete(id);
      forgetEmpty(name, share);
    },
    sizeOf(name) {
      const { ids, bytes } = shareOf(name);
      return { entries: ids.size, bytes };
    },
    oldestOf: (name, needing) => oldestBut(needing, shareOf(name).ids),
    oldestOfLargest(of, needing, own) {
      let found: string | undefined;
      let most = -1;
      for (const [name, { ids, bytes }] of shares) {
        const size = of === "entries" ? ids.size : bytes;
        // Nearly every one of many creators has fewer, and a look at its records takes longer.
        if (size < most || (size === most && name !== own)) continue;
        const oldest = oldestBut(needing, ids);
        if (oldest !== undefined) [found, most] = [oldest, size];
      }
      return found;
    },
  };
}

/** Returns the first ID that is not `needing`. */
export function oldestBut(needing: string, ids: Iterable<string>): string | undefined {
  for (const id of ids) if (id !== needing) return id;
  return undefined;
}
