import type { NamedPart, Part, StoredRecord } from "../records/record_store.ts";
import { namesIn } from "./record_arguments.ts";
import { bytesOf, integerOf, listOf, textOf } from "./reply.ts";

/** A record in the reply of a script, of whose parts some may not be read yet. */
export interface FoundRecord {
  readonly version: string;
  readonly head: string;
  readonly body: Uint8Array | null;
  /** Keys of the parts in order. */
  readonly keys: readonly string[];
  /** The different parts, by key. */
  readonly parts: ReadonlyMap<string, Part>;
}

/** Returns the record in a reply. */
export function parseRecord(reply: unknown): FoundRecord | null {
  const [version, head, body, list, sizes, names, bodies] = listOf(reply);
  if (version === undefined) return null;
  const text = textOf(list) ?? "";
  const keys = text === "" ? [] : text.split(" ");
  const parts = [...new Set(keys)].map((key, index): Part => ({
    key,
    names: namesIn(textOf(listOf(names)[index]) ?? ""),
    bytes: integerOf(listOf(sizes)[index]) ?? 0,
    body: bytesOf(listOf(bodies)[index]),
  }));
  return {
    version: textOf(version) ?? "",
    head: textOf(head) ?? "",
    body: bytesOf(body),
    keys,
    parts: new Map(parts.map((part) => [part.key, part])),
  };
}

/** Returns the record with further bodies of its parts. */
export function fillBodies(
  record: FoundRecord,
  bodies: ReadonlyMap<string, Uint8Array>,
): FoundRecord {
  const parts = record.parts.values().map((part): [string, Part] => [
    part.key,
    { ...part, body: part.body ?? bodies.get(part.key) ?? null },
  ]);
  return { ...record, parts: new Map(parts) };
}

/** Returns the record with a part for each of its keys. */
export function toStoredRecord({ version, head, body, keys, parts }: FoundRecord): StoredRecord {
  return { version, head, body, parts: keys.flatMap((key) => parts.get(key) ?? []) };
}

/** A use of a part whose body may not be read yet. */
export interface FoundUse extends Omit<NamedPart, "body"> {
  readonly body: Uint8Array | null;
}

/** Uses of parts in the reply of a script. */
export interface FoundUses {
  /** Number of names that were looked up. */
  readonly names: number;
  readonly uses: readonly FoundUse[];
  /** Parts whose bodies were not in the reply. */
  readonly unread: readonly { readonly key: string; readonly bytes: number }[];
}

/** Returns the uses in a reply for these names. */
export function parseNamed(
  [count, uses, records, parts, bodies]: readonly unknown[],
  names: readonly string[],
): FoundUses {
  const [numbers, facts, known, content] = [uses, records, parts, bodies].map(listOf);
  const keys: { readonly key: string; readonly bytes: number }[] = [];
  for (let at = 0; at < (known ?? []).length; at += 2) {
    keys.push({ key: textOf(known?.[at]) ?? "", bytes: integerOf(known?.[at + 1]) ?? 0 });
  }
  const byPart = new Map<string, FoundUse[]>();
  for (let at = 0; at < (numbers ?? []).length; at += 4) {
    const [name = 0, part = 0, record = 0, position = 0] = (numbers ?? []).slice(at, at + 4)
      .map((number) => integerOf(number) ?? 0);
    const [id, head, order] = (facts ?? []).slice(3 * (record - 1), 3 * record);
    const uses = byPart.get(`${name} ${part}`) ?? [];
    byPart.set(`${name} ${part}`, uses);
    uses.push({
      name: names[name] ?? "",
      key: keys[part - 1]?.key ?? "",
      body: bytesOf(content?.[part - 1]),
      id: textOf(id) ?? "",
      head: textOf(head) ?? "",
      order: integerOf(order) ?? 0,
      position,
    });
  }
  return {
    names: integerOf(count) ?? 0,
    uses: [...byPart.values()].flatMap((found) =>
      found.toSorted((one, other) => other.order - one.order)
    ),
    unread: keys.filter((_key, index) => bytesOf(content?.[index]) === null),
  };
}
