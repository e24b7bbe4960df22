import type { JsonObject } from "../../core/json/json.ts";
import { allOf, type Result, success } from "../../core/failure/result.ts";
import { turnAmong } from "../../traffic/loop_turns.ts";
import { keyText } from "../key_text.ts";
import type { Stored } from "../object_store.ts";
import type { RecordType } from "../records/record_store.ts";
import type { Items } from "./items.ts";
import type { RecordRules } from "./record_rules.ts";

/** Lookup of items by their IDs. */
export interface ItemLookup<Body> {
  readonly type: RecordType;
  readonly items: Items<Body>;
  readonly ids: ReadonlySet<string>;
  /** Maximum number of uses of each ID. */
  readonly most: number;
}

interface Use {
  readonly id: string;
  readonly item: JsonObject;
  readonly head: string;
  readonly order: number;
  readonly position: number;
  /** Index of the item in its part. */
  readonly index: number;
}

/**
 * Returns the items with these IDs in records, oldest record first and in their order there. Of two
 * items of a record with the same ID the later one is returned. `parse` parses the head of a
 * record, which many items have; `made` makes each result of the ID, the item and the parsed head.
 */
export async function findNamedItems<Body, Head, Value>(
  { records, turns }: Pick<RecordRules<Body>, "records" | "turns">,
  { type, items, ids, most }: ItemLookup<Body>,
  parse: (head: string) => Result<Head>,
  made: (id: string, item: JsonObject, head: Head) => Value,
): Stored<readonly Value[]> {
  const starting = turnAmong(turns, ids.size, "large");
  if (starting !== null) await starting;
  const names = new Map([...ids].map((id) => [keyText(id), id]));
  const found = await records.named(type, [...names.keys()], most);
  if (!found.ok) return found;
  const lists = await items.decodeNamed(found.value);
  if (!lists.ok) return lists;
  const sorting = turnAmong(turns, found.value.length, "large");
  if (sorting !== null) await sorting;
  const indexes = new Map([...lists.value].map(([key, list]) => [key, lastIndexes(list)] as const));
  const uses = new Map<string, Use>();
  for (const { name, key, id: record, head, order, position } of found.value) {
    const id = names.get(name) ?? "";
    const index = indexes.get(key)?.get(id) ?? -1;
    const item = lists.value.get(key)?.[index];
    const use = `${record.length} ${record}${name}`;
    const other = uses.get(use);
    if (item === undefined || (other !== undefined && other.position > position)) continue;
    uses.set(use, { id, item, head, order, position, index });
  }
  const ordered = [...uses.values()].toSorted((one, other) =>
    one.order - other.order || one.position - other.position || one.index - other.index
  );
  const heads = new Map<string, Result<Head>>();
  return allOf(ordered.map(({ id, item, head: text }) => {
    const head = heads.get(text) ?? parse(text);
    heads.set(text, head);
    return head.ok ? success(made(id, item, head.value)) : head;
  }));
}

/** Returns the last index of each ID in a list of items. */
function lastIndexes(items: readonly JsonObject[]): ReadonlyMap<unknown, number> {
  return new Map(items.map(({ id }, index) => [id, index]));
}
