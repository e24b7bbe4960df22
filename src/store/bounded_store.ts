/** Limits of a store. */
export interface Limits {
  /** Lifetime of an entry in milliseconds. */
  readonly ttl: number;
  readonly entries: number;
  /** Maximum bytes of all entries together. */
  readonly bytes: number;
  /** Maximum bytes of one entry; the limit of all entries if absent. */
  readonly entryBytes?: number;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  readonly expires: number;
}

/**
 * Values by key, limited in age, number and bytes; the oldest entry is removed first. All entries
 * have the same lifetime and are in insertion order, so the first entry is also the next to expire.
 */
export class BoundedStore<V> {
  readonly #now: () => number;
  readonly #kept = new Map<string, Entry<V>>();
  #limits: Limits;
  #bytes = 0;

  /**
   * Creates an empty store. `now` returns milliseconds that never go back.
   */
  constructor(
    limits: Limits,
    now: () => number,
  ) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Number of entries that have not expired. */
  get entries(): number {
    this.dropExpired();
    return this.#kept.size;
  }

  /** Bytes of the entries that have not expired. */
  get bytes(): number {
    this.dropExpired();
    return this.#bytes;
  }

  /** Returns the value of a key that has not expired. Reading does not extend its lifetime. */
  get(key: string): V | undefined {
    const entry = this.#kept.get(key);
    if (entry === undefined) return undefined;
    if (this.#now() < entry.expires) return entry.value;
    this.delete(key);
    return undefined;
  }

  /** Returns the values that have not expired, oldest first. */
  values(): readonly V[] {
    this.dropExpired();
    return [...this.#kept.values()].map(({ value }) => value);
  }

  /**
   * Stores a value as the youngest entry and replaces an earlier value of the key. The oldest
   * entries are removed until the value fits. `bytes` is the size of key and value. Returns false,
   * and changes nothing, if the value can never fit.
   */
  set(key: string, value: V, bytes: number): boolean {
    const { entries, bytes: all, entryBytes = all } = this.#limits;
    if (bytes > all || bytes > entryBytes || entries < 1) return false;
    this.delete(key);
    this.dropExpired();
    this.#makeRoom(bytes);
    this.#kept.set(key, { value, bytes, expires: this.#now() + this.#limits.ttl });
    this.#bytes += bytes;
    return true;
  }

  /** Removes a key. Returns true if it had a value that has not expired. */
  delete(key: string): boolean {
    const entry = this.#kept.get(key);
    if (entry === undefined) return false;
    this.#kept.delete(key);
    this.#bytes -= entry.bytes;
    return this.#now() < entry.expires;
  }

  /** Removes all entries and sets new limits. */
  reset(limits: Limits): void {
    this.#kept.clear();
    this.#bytes = 0;
    this.#limits = limits;
  }

  /** Removes the entries that have expired. */
  dropExpired(): void {
    const now = this.#now();
    for (const [key, entry] of this.#kept) {
      if (now < entry.expires) return;
      this.delete(key);
    }
  }

  #makeRoom(bytes: number): void {
    for (const key of this.#kept.keys()) {
      const { size } = this.#kept;
      if (size < this.#limits.entries && this.#bytes + bytes <= this.#limits.bytes) return;
      this.delete(key);
    }
  }
}
