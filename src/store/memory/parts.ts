import type { Part } from "../records/record_store.ts";

/** A record that has a part. */
interface Holder {
  readonly position: number;
  /** Number of times that the record has the part. */
  readonly count: number;
}

/** A part in memory. */
export interface HeldPart<Body> {
  readonly part: Part<Body>;
  /** Creator for whom the part counts. */
  readonly share: string;
  /** Records that have the part, by ID. */
  readonly holders: Map<string, Holder>;
}

/** Parts of the records of one type. */
export interface MemoryParts<Body> {
  get(key: string): HeldPart<Body> | null;
  /** Gives a part to a record. Returns true if it was not stored. */
  hold(
    part: Part<Body>,
    holder: { readonly id: string; readonly position: number; readonly share: string },
  ): boolean;
  /**
   * Takes a part unavailable from a record, once. Returns the part if no record has it any more.
   */
  release(key: string, id: string): HeldPart<Body> | null;
  /**
   * Returns at most `most` parts with a name, those that were given to a record last, the last one
   * first.
   */
  named(name: string, most: number): readonly HeldPart<Body>[];
}

/** Returns an empty set of parts. */
export function newMemoryParts<Body>(): MemoryParts<Body> {
  const parts = new Map<string, HeldPart<Body>>();
  // A set only for a name of several parts: nearly all have a name of their own.
  const byName = new Map<string, HeldPart<Body> | Set<HeldPart<Body>>>();

  function addName(name: string, held: HeldPart<Body>): void {
    const others = byName.get(name);
    if (others === undefined || others === held) byName.set(name, held);
    else if (others instanceof Set) {
      others.delete(held);
      others.add(held);
    } else byName.set(name, new Set([others, held]));
  }

  function removeName(name: string, held: HeldPart<Body>): void {
    const others = byName.get(name);
    if (others instanceof Set) others.delete(held);
    if (others === held || (others instanceof Set && others.size === 0)) byName.delete(name);
  }

  function holdersOf(name: string): ReadonlySet<HeldPart<Body>> {
    const held = byName.get(name);
    return held instanceof Set ? held : new Set(held === undefined ? [] : [held]);
  }

  function drop(held: HeldPart<Body>): void {
    parts.delete(held.part.key);
    for (const name of held.part.names) removeName(name, held);
  }

  return {
    get: (key) => parts.get(key) ?? null,
    hold(part, { id, position, share }) {
      const known = parts.get(part.key);
      const held = known ?? { part, share, holders: new Map<string, Holder>() };
      parts.set(part.key, held);
      const count = (held.holders.get(id)?.count ?? 0) + 1;
      held.holders.set(id, { position, count });
      for (const name of held.part.names) addName(name, held);
      return known === undefined;
    },
    release(key, id) {
      const held = parts.get(key);
      const holder = held?.holders.get(id);
      if (held === undefined || holder === undefined) return null;
      if (holder.count > 1) held.holders.set(id, { ...holder, count: holder.count - 1 });
      else held.holders.delete(id);
      if (held.holders.size > 0) return null;
      drop(held);
      return held;
    },
    named(name, most) {
      const all = holdersOf(name);
      return [...all.values().drop(Math.max(0, all.size - most))].toReversed();
    },
  };
}
