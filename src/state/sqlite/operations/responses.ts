import {
  type Binding,
  type Caller,
  creatorOf,
  isVisibleTo,
  type Owner,
  withoutSnapshot,
} from "../../bindings.ts";
import { integerOf, recordOf, textOf } from "../database.ts";
import { usesPerItem } from "../../item_uses.ts";
import type { OperationContext } from "../operation.ts";
import { bindingOf, bindOwner, type BoundId, readBinding } from "./bindings.ts";
import { readNumber, removeOldest } from "./table.ts";

/** An encoded record. */
export type EncodedRecord = Uint8Array<ArrayBuffer>;

/** An item of a response to be stored. Items with the same digest are stored once. */
export interface EncodedItem {
  readonly digest: string;
  /** The `keyText` of its ID; null without an ID. */
  readonly itemId: string | null;
  readonly bytes: number;
  /** Null if the item is expected to be stored already. */
  readonly body: EncodedRecord | null;
}

/** A response to be stored. */
export interface EncodedResponse {
  /** The `keyText` of its ID. */
  readonly id: string;
  readonly owner: Owner;
  readonly isNative: boolean;
  readonly caller: Caller;
  /** The response without its output. */
  readonly resource: EncodedRecord;
  /** Size of the response without its items. */
  readonly bytes: number;
  /** Different items of the response. */
  readonly items: readonly EncodedItem[];
  /** Positions in `items`: first those of the input, then those of the output. */
  readonly order: readonly number[];
  readonly inputs: number;
}

/** Result of storing a response: its binding, or the digests of items whose content is missing. */
export type StoredResponse =
  | { readonly kind: "done"; readonly binding: Binding | null }
  | { readonly kind: "missing"; readonly digests: readonly string[] };

/** A stored item. */
export interface ItemRecord {
  readonly digest: string;
  readonly bytes: number;
  readonly body: EncodedRecord;
}

/** A response read from the database. */
export interface ResponseRecord {
  readonly binding: Binding;
  /** Null if the response itself is not stored. */
  readonly content: {
    readonly resource: EncodedRecord;
    readonly items: readonly ItemRecord[];
    /** Positions in `items`: first those of the input, then those of the output. */
    readonly order: readonly number[];
    readonly inputs: number;
  } | null;
}

/** Items found by their IDs: each item once, and the responses that have it. */
export interface FoundItems {
  readonly items: readonly ItemRecord[];
  readonly uses: readonly {
    readonly itemId: string;
    /** Position in `items`. */
    readonly item: number;
    readonly binding: Binding;
  }[];
}

/** Returns a response; null without a binding. */
export const findResponse = {
  kind: "read" as const,
  run(context: OperationContext, id: string): ResponseRecord | null {
    const { database, horizon } = context;
    const binding = readBinding(context, boundOf(id));
    if (binding === null) return null;
    const row = database.row(
      "select key, resource, inputs from response where id = ? and changed > ?",
      id,
      horizon,
    );
    if (row === undefined) return { binding, content: null };
    const key = integerOf(row, "key");
    const order = database.rows(
      "select item from response_item where response = ? order by position",
      key,
    );
    const items = database.rows(
      `select key, digest, bytes, body from item
       where key in (select item from response_item where response = ?)`,
      key,
    );
    const places = new Map(items.map((item, place) => [integerOf(item, "key"), place]));
    const content = {
      resource: recordOf(row, "resource"),
      items: items.map(itemRecordOf),
      order: order.map((one) => places.get(integerOf(one, "item")) ?? 0),
      inputs: integerOf(row, "inputs"),
    };
    return { binding, content };
  },
};

/** Binds and stores a response, as `ResponseStore.store` describes. */
export const storeResponse = {
  kind: "write" as const,
  run(context: OperationContext, response: EncodedResponse): StoredResponse {
    const { id, owner, isNative, caller } = response;
    const bound = boundOf(id);
    const earlier = readBinding(context, bound);
    // With an expired binding its response goes too.
    if (earlier === null) context.database.change(REMOVE_BINDING, id);
    const mayStore = earlier === null ||
      (earlier.kind === "bound" && isVisibleTo(caller, creatorOf(earlier)));
    const isStored = mayStore && fits(context, response);
    if (!isStored && !isNative) return { kind: "done", binding: null };
    if (isStored) {
      const digests = missingDigests(context, response);
      if (digests.length > 0) return { kind: "missing", digests };
    }
    // Bound first: an owner that makes room for it takes the response stored under its ID along.
    const binding = bindOwner(context, bound, isStored ? owner : withoutSnapshot(owner));
    if (isStored && readBinding(context, bound)?.kind === "bound") write(context, response);
    return { kind: "done", binding };
  },
};

/** Returns the items with these IDs in stored responses, as `ResponseStore.findItems` describes. */
export const findResponseItems = {
  kind: "read" as const,
  run(context: OperationContext, ids: readonly string[]): FoundItems {
    const most = usesPerItem(ids.length);
    const rows = ids.flatMap((id) => youngestUses(context, id, most)).toSorted((one, other) =>
      one.response - other.response || one.position - other.position
    );
    const places = new Map<number, number>();
    // Of two items of a response with the same ID the later one counts, at the place of the first.
    const uses = new Map<string, FoundItems["uses"][number]>();
    for (const { response, item, itemId, binding } of rows) {
      const place = places.get(item) ?? places.size;
      places.set(item, place);
      uses.set(`${response} ${itemId}`, { itemId, item: place, binding });
    }
    const items = [...places.keys()].flatMap((key) => {
      const row = context.database.row("select digest, bytes, body from item where key = ?", key);
      return row === undefined ? [] : [itemRecordOf(row)];
    });
    return { items, uses: [...uses.values()] };
  },
};

interface ItemUse {
  readonly response: number;
  readonly position: number;
  readonly item: number;
  readonly itemId: string;
  readonly binding: Binding;
}

/** Returns at most `most` uses of an ID, but one of each different item; the youngest of each item. */
function youngestUses(
  { database, horizon }: OperationContext,
  itemId: string,
  most: number,
): readonly ItemUse[] {
  const uses: ItemUse[] = [];
  for (const row of database.rows("select key from item where item_id = ?", itemId)) {
    const item = integerOf(row, "key");
    // Joined only after the limit. A cross join keeps this order.
    const found = database.rows(
      `select youngest.response as response, youngest.position as position, binding.body as body
       from (select response, position from response_item where item = ?
             order by response desc, position desc limit ?) as youngest
         cross join response on response.key = youngest.response
         cross join binding on binding.type = 'response' and binding.id = response.id
       where response.changed > ? and binding.changed > ?`,
      item,
      Math.max(1, most - uses.length),
      horizon,
      horizon,
    );
    for (const use of found) {
      const [response, position] = [integerOf(use, "response"), integerOf(use, "position")];
      uses.push({ response, position, item, itemId, binding: bindingOf(use) });
    }
  }
  return uses;
}

const REMOVE_BINDING = "delete from binding where type = 'response' and id = ?";

function boundOf(id: string): BoundId {
  return { type: "response", id };
}

function itemRecordOf(row: Parameters<typeof textOf>[0]): ItemRecord {
  return {
    digest: textOf(row, "digest"),
    bytes: integerOf(row, "bytes"),
    body: recordOf(row, "body"),
  };
}

function fits(
  { retention: { maxBytes, maxObjects } }: OperationContext,
  { bytes, items }: EncodedResponse,
): boolean {
  return maxObjects > 0 && items.reduce((sum, item) => sum + item.bytes, bytes) <= maxBytes;
}

function missingDigests(
  { database }: OperationContext,
  { items }: EncodedResponse,
): readonly string[] {
  const isStored = (digest: string) =>
    database.row("select 1 from item where digest = ?", digest) !== undefined;
  return items.filter(({ digest, body }) => body === null && !isStored(digest))
    .map(({ digest }) => digest);
}

/** Writes a response as the youngest one and replaces an earlier one with its ID. */
function write({ database, now, retention }: OperationContext, response: EncodedResponse): void {
  const { id, resource, inputs, bytes, items, order } = response;
  const key = readNumber(database, "select coalesce(max(key), 0) + 1 from response");
  const keys = items.map((item) => {
    if (item.body !== null) {
      database.change(
        "insert into item (digest, item_id, body, bytes) values (?, ?, ?, ?) on conflict do nothing",
        item.digest,
        item.itemId,
        item.body,
        item.bytes,
      );
    }
    return readNumber(database, "select key from item where digest = ?", item.digest);
  });
  for (const [position, item] of order.entries()) {
    database.change(
      "insert into response_item (response, position, item) values (?, ?, ?)",
      key,
      position,
      keys[item] ?? 0,
    );
  }
  // Only now, because it removes the items that no other response has.
  database.change("delete from response where id = ?", id);
  database.change(
    `insert into response (key, id, resource, inputs, bytes, changed) values (?, ?, ?, ?, ?, ?)`,
    key,
    id,
    resource,
    inputs,
    bytes,
    now,
  );
  removeOldest(
    database,
    "responses",
    { entries: retention.maxObjects, bytes: retention.maxBytes },
    "delete from response where key = (select min(key) from response)",
  );
}
