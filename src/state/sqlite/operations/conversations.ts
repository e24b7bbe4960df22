import type { JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import {
  largeConversation,
  refuseAddedItems,
  unknownConversation,
  unknownItem,
} from "../../conversations.ts";
import { usesPerItem } from "../../item_uses.ts";
import { integerOf, recordOf, type Row, textOf } from "../database.ts";
import type { OperationContext } from "../operation.ts";
import type {
  ConversationItemRecord,
  ConversationRecord,
  EncodedConversation,
  EncodedConversationItem,
  EncodedMetadata,
  FoundConversationItem,
} from "./conversation_records.ts";
import { readNumber, removeOldest } from "./table.ts";

/** Stores a conversation in place of an earlier one with its ID; refused if it is too large. */
export const createConversation = {
  kind: "write" as const,
  run(context: OperationContext, conversation: EncodedConversation): Result<null> {
    const { database, now, retention } = context;
    const { id, creator, createdAt, metadata, items, bytes } = conversation;
    if (bytes > retention.maxBytes) return largeConversation(retention.maxBytes);
    database.change("delete from conversation where id = ?", id);
    const key = readNumber(database, "select coalesce(max(key), 0) + 1 from conversation");
    database.change(
      `insert into conversation
         (key, id, seq, creator, created, metadata, metadata_bytes, bytes, changed)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key,
      id,
      nextSeq(context),
      creator,
      createdAt,
      metadata.record,
      metadata.bytes,
      bytes,
      now,
    );
    addItems(context, key, 0, items);
    makeRoom(context);
    return success(null);
  },
};

/** Returns a conversation; null if there is none. */
export const findConversation = {
  kind: "read" as const,
  run(context: OperationContext, id: string): ConversationRecord | null {
    const row = readConversation(context, id);
    return row === undefined ? null : recordOfConversation(context, row);
  },
};

/** Replaces the metadata of a conversation and returns it. */
export const setMetadata = {
  kind: "write" as const,
  run(
    context: OperationContext,
    { id, metadata }: { readonly id: string; readonly metadata: EncodedMetadata },
  ): Result<ConversationRecord> {
    const row = readConversation(context, id);
    if (row === undefined) return unknownConversation("conversation_id");
    const added = metadata.bytes - integerOf(row, "metadata_bytes");
    return change(context, row, added, () => {
      context.database.change(
        "update conversation set metadata = ?, metadata_bytes = ? where key = ?",
        metadata.record,
        metadata.bytes,
        integerOf(row, "key"),
      );
    });
  },
};

/** Adds all items to a conversation or none, and returns it. */
export const appendItems = {
  kind: "write" as const,
  run(
    context: OperationContext,
    { id, items }: { readonly id: string; readonly items: readonly EncodedConversationItem[] },
  ): Result<ConversationRecord> {
    const { database } = context;
    const row = readConversation(context, id);
    if (row === undefined) return unknownConversation("conversation_id");
    const key = integerOf(row, "key");
    const present = database.rows(
      "select item_id from conversation_item where conversation = ?",
      key,
    );
    const problem = refuseAddedItems(
      present.map(({ item_id }) => withId(item_id)),
      items.map(({ itemId }) => withId(itemId)),
    );
    if (problem !== null) return problem;
    return change(context, row, items.reduce((sum, { bytes }) => sum + bytes, 0), () => {
      const position = readNumber(
        database,
        "select coalesce(max(position), -1) + 1 from conversation_item where conversation = ?",
        key,
      );
      addItems(context, key, position, items);
    });
  },
};

/** Removes an item of a conversation and returns the conversation. */
export const removeItem = {
  kind: "write" as const,
  run(
    context: OperationContext,
    { id, itemId }: { readonly id: string; readonly itemId: string },
  ): Result<ConversationRecord> {
    const { database } = context;
    const row = readConversation(context, id);
    if (row === undefined) return unknownConversation("conversation_id");
    const key = integerOf(row, "key");
    const removed = database.rows(
      "delete from conversation_item where conversation = ? and item_id = ? returning bytes",
      key,
      itemId,
    );
    if (removed.length === 0) return unknownItem();
    const bytes = removed.reduce((sum, one) => sum + integerOf(one, "bytes"), 0);
    return change(context, row, -bytes, () => {});
  },
};

/** Deletes a conversation; true if there was one. */
export const deleteConversation = {
  kind: "write" as const,
  run: ({ database, horizon }: OperationContext, id: string): boolean =>
    database.change("delete from conversation where id = ? and changed > ?", id, horizon) > 0,
};

/** Returns the items with these IDs, as `ConversationStore.findItems` describes. */
export const findConversationItems = {
  kind: "read" as const,
  run(
    { database, horizon }: OperationContext,
    ids: readonly string[],
  ): readonly FoundConversationItem[] {
    return database.rows(
      `select conversation.id as conversation, conversation.creator as creator,
         conversation_item.item_id as item_id, conversation_item.body as body
       from (select value as id from json_each(?)) as wanted
         cross join conversation_item on conversation_item.key in
           (select key from conversation_item where item_id = wanted.id order by key desc limit ?)
         cross join conversation on conversation.key = conversation_item.conversation
       where conversation.changed > ?
       order by conversation.seq, conversation_item.position`,
      JSON.stringify(ids),
      usesPerItem(ids.length),
      horizon,
    ).map((row) => ({
      conversation: textOf(row, "conversation"),
      creator: textOf(row, "creator"),
      ...itemOf(row),
    }));
  },
};

function withId(id: unknown): JsonObject {
  return typeof id === "string" ? { id } : {};
}

function itemOf(row: Row): ConversationItemRecord {
  const itemId = row.item_id === null ? null : textOf(row, "item_id");
  return { itemId, body: recordOf(row, "body") };
}

function readConversation({ database, horizon }: OperationContext, id: string): Row | undefined {
  return database.row("select * from conversation where id = ? and changed > ?", id, horizon);
}

function recordOfConversation(
  { database }: OperationContext,
  row: Row,
): ConversationRecord {
  const items = database.rows(
    "select item_id, body from conversation_item where conversation = ? order by position",
    integerOf(row, "key"),
  );
  return {
    creator: textOf(row, "creator"),
    createdAt: integerOf(row, "created"),
    metadata: recordOf(row, "metadata"),
    bytes: integerOf(row, "bytes"),
    items: items.map(itemOf),
  };
}

function nextSeq({ database }: OperationContext): number {
  return readNumber(database, "select coalesce(max(seq), 0) + 1 from conversation");
}

function addItems(
  { database }: OperationContext,
  key: number,
  position: number,
  items: readonly EncodedConversationItem[],
): void {
  for (const [index, { itemId, bytes, body }] of items.entries()) {
    database.change(
      `insert into conversation_item (conversation, position, item_id, body, bytes)
       values (?, ?, ?, ?, ?)`,
      key,
      position + index,
      itemId,
      body,
      bytes,
    );
  }
}

/** Changes a conversation, which becomes the youngest one; refused if it would be too large. */
function change(
  context: OperationContext,
  row: Row,
  addedBytes: number,
  run: () => void,
): Result<ConversationRecord> {
  const { database, now, retention } = context;
  const bytes = integerOf(row, "bytes") + addedBytes;
  if (addedBytes > 0 && bytes > retention.maxBytes) return largeConversation(retention.maxBytes);
  run();
  database.change(
    "update conversation set seq = ?, bytes = ?, changed = ? where key = ?",
    nextSeq(context),
    bytes,
    now,
    integerOf(row, "key"),
  );
  makeRoom(context);
  const changed = readConversation(context, textOf(row, "id"));
  return success(recordOfConversation(context, changed ?? row));
}

function makeRoom({ database, retention }: OperationContext): void {
  removeOldest(
    database,
    "conversations",
    { entries: retention.maxObjects, bytes: retention.maxBytes },
    "delete from conversation where seq = (select min(seq) from conversation)",
  );
}
