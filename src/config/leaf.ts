import { isAlias, isMap, isScalar, isSeq } from "yaml";

/** Position of a value in the file: the offsets of its key and of its value, and those of its members. */
export interface Mark {
  readonly key: number | null;
  readonly value: number;
  readonly inside: ReadonlyMap<string | number, Mark>;
  /** Source text of a number or a boolean; null for any other value. */
  readonly written: string | null;
}

/** A value with its position in the file. */
export interface Leaf {
  readonly value: unknown;
  readonly mark: Mark;
  /** Number of values in it, each repetition counted. */
  readonly size: number;
}

/** Returns the mapping of these members at this offset. */
export function objectLeaf(members: ReadonlyMap<string, Leaf>, at: number): Leaf {
  const inside = new Map<string, Mark>();
  let size = 1;
  for (const [key, leaf] of members) {
    inside.set(key, leaf.mark);
    size += leaf.size;
  }
  const values = Array.from(members, ([key, leaf]): [string, unknown] => [key, leaf.value]);
  const mark = { key: null, value: at, inside, written: null };
  return { value: Object.fromEntries(values), mark, size };
}

/** Returns a value without members; `written` is the source text of a number or a boolean. */
export function bareLeaf(value: unknown, at: number, written: string | null = null): Leaf {
  return { value, mark: { key: null, value: at, inside: new Map(), written }, size: 1 };
}

/** Returns the offset of a node in the file; 0 if it has none. */
export function offset(node: unknown): number {
  const isPlaced = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
  return isPlaced ? node.range?.[0] ?? 0 : 0;
}
