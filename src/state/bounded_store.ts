/** What a store holds at most. */
export interface Limits {
  /** Milliseconds that an entry is good for. */
  readonly ttl: number;
  readonly entries: number;
  /** Of all entries together. */
  readonly bytes: number;
  /** Of one entry; as all together when absent. */
  readonly entryBytes?: number;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  readonly expires: number;
}

/**
 * Values by key, limited in age, number and bytes; the oldest goes first. One age holds for all, and
 * they stand in the order in which they were set: so the first is also the next to expire.
 */
export class BoundedStore<V> {
  readonly #now: () => number;
  readonly #lost: (key: string) => void;
  readonly #kept = new Map<string, Entry<V>>();
  #limits: Limits;
  #bytes = 0;

  /**
   * An empty store. `now` gives milliseconds that never go back; `lost` hears each key whose value
   * was too old or had to make room.
   */
  constructor(limits: Limits, now: () => number, lost: (key: string) => void = () => {}) {
    this.#limits = limits;
    this.#now = now;
    this.#lost = lost;
  }

  /** The number of entries that are still good. */
  get entries(): number {
    this.#dropExpired();
    return this.#kept.size;
  }

  /** The bytes of the entries that are still good. */
  get bytes(): number {
    this.#dropExpired();
    return this.#bytes;
  }

  /** The value under a key while it is good. Being read makes it no younger. */
  get(key: string): V | undefined {
    const entry = this.#kept.get(key);
    if (entry === undefined) return undefined;
    if (this.#now() < entry.expires) return entry.value;
    this.#lose(key);
    return undefined;
  }

  /** The values that are still good, oldest first. */
  values(): readonly V[] {
    this.#dropExpired();
    return [...this.#kept.values()].map(({ value }) => value);
  }

  /**
   * Keeps a value as the youngest, in place of an earlier one under the same key; older ones go until
   * it fits. `bytes` are those of key and value. False when it can never fit: then nothing changes.
   */
  set(key: string, value: V, bytes: number): boolean {
    const { entries, bytes: all, entryBytes = all } = this.#limits;
    if (bytes > all || bytes > entryBytes || entries < 1) return false;
    this.delete(key);
    this.#dropExpired();
    this.#makeRoom(bytes);
    this.#kept.set(key, { value, bytes, expires: this.#now() + this.#limits.ttl });
    this.#bytes += bytes;
    return true;
  }

  /** Whether there was something under the key. */
  delete(key: string): boolean {
    const entry = this.#kept.get(key);
    if (entry === undefined) return false;
    this.#kept.delete(key);
    this.#bytes -= entry.bytes;
    return this.#now() < entry.expires;
  }

  /** Empties the store and gives it other limits. */
  reset(limits: Limits): void {
    this.#kept.clear();
    this.#bytes = 0;
    this.#limits = limits;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [key, { expires }] of this.#kept) {
      if (now < expires) return;
      this.#lose(key);
    }
  }

  #makeRoom(bytes: number): void {
    for (const key of this.#kept.keys()) {
      const { size } = this.#kept;
      if (size < this.#limits.entries && this.#bytes + bytes <= this.#limits.bytes) return;
      this.#lose(key);
    }
  }

  #lose(key: string): void {
    this.delete(key);
    this.#lost(key);
  }
}
