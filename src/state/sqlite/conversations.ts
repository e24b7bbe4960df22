import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { Creator } from "../bindings.ts";
import {
  type Conversation,
  conversationBytes,
  type Metadata,
  refuseAddedItems,
} from "../conversations.ts";
import type { ConversationStore } from "../object_store.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { heldBytes } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import { decodeEach } from "../records/decode_each.ts";
import { decodeObject, encodeJson } from "../records/json_records.ts";
import { keyText } from "../key_text.ts";
import type { Link } from "./link.ts";
import type {
  ConversationItemRecord,
  ConversationRecord,
  EncodedConversationItem,
  EncodedMetadata,
} from "./operations/conversation_records.ts";

/** Returns the conversations in a database, which take at most `maxBytes` together. */
export function newSqliteConversations(
  link: Link,
  codec: RecordCodec,
  maxBytes: number,
): ConversationStore {
  async function encodeMetadata(id: string, metadata: Metadata): Promise<EncodedMetadata> {
    const record = await encodeJson(codec, "conversation", id, metadata);
    return { record, bytes: heldBytes({ ...metadata }) };
  }

  async function encodeItem(id: string, item: JsonObject): Promise<EncodedConversationItem> {
    const itemId = typeof item.id === "string" ? keyText(item.id) : null;
    const body = await encodeJson(codec, "conversation_item", itemKey(keyText(id), itemId), item);
    return { itemId, bytes: heldBytes(item), body };
  }

  function encodeItems(id: string, items: readonly JsonObject[]) {
    return Promise.all(items.map((item) => encodeItem(id, item)));
  }

  function decodeItem(key: string, { itemId, body }: ConversationItemRecord) {
    return decodeObject(codec, "conversation_item", itemKey(key, itemId), body);
  }

  async function decode(id: string, record: ConversationRecord): Promise<Result<Conversation>> {
    const metadata = await decodeObject(codec, "conversation", id, record.metadata);
    if (!metadata.ok) return metadata;
    const key = keyText(id);
    const items = await decodeEach(record.items, recordBytes, (item) => decodeItem(key, item));
    if (!items.ok) return items;
    if (!isMetadata(metadata.value)) return recordUnreadable();
    return success({
      id,
      creator: creatorFrom(record.creator),
      createdAt: record.createdAt,
      metadata: metadata.value,
      items: items.value,
      bytes: record.bytes,
    });
  }

  async function decodeChanged(
    id: string,
    changed: Result<Result<ConversationRecord>>,
  ): Promise<Result<Conversation>> {
    if (!changed.ok) return changed;
    return changed.value.ok ? await decode(id, changed.value.value) : changed.value;
  }

  return {
    maxBytes,
    async create(conversation) {
      const { id, creator, createdAt, metadata, items } = conversation;
      const problem = refuseAddedItems([], items);
      if (problem !== null) return problem;
      const bytes = conversationBytes(conversation);
      const created = await link.run("createConversation", {
        id: keyText(id),
        creator: JSON.stringify(creator),
        createdAt,
        metadata: await encodeMetadata(id, metadata),
        items: await encodeItems(id, items),
        bytes,
      });
      if (!created.ok) return created;
      return created.value.ok ? success({ ...conversation, bytes }) : created.value;
    },
    async find(id) {
      const found = await link.run("findConversation", keyText(id));
      if (!found.ok) return found;
      return found.value === null ? success(null) : await decode(id, found.value);
    },
    async setMetadata(id, metadata) {
      const encoded = await encodeMetadata(id, metadata);
      const changed = await link.run("setMetadata", { id: keyText(id), metadata: encoded });
      return await decodeChanged(id, changed);
    },
    async append(id, items) {
      const encoded = await encodeItems(id, items);
      const changed = await link.run("appendItems", { id: keyText(id), items: encoded });
      return await decodeChanged(id, changed);
    },
    async removeItem(id, item) {
      const changed = await link.run("removeItem", { id: keyText(id), itemId: keyText(item) });
      return await decodeChanged(id, changed);
    },
    delete: (id) => link.run("deleteConversation", keyText(id)),
    async findItems(ids) {
      if (ids.size === 0) return success([]);
      const found = await link.run("findConversationItems", [...ids].map(keyText));
      if (!found.ok) return found;
      const items = await decodeEach(
        found.value,
        recordBytes,
        (record) => decodeItem(record.conversation, record),
      );
      if (!items.ok) return items;
      return success(items.value.flatMap((item, place) => {
        const record = found.value[place];
        if (typeof item.id !== "string" || record === undefined) return [];
        return [{ id: item.id, item, creator: creatorFrom(record.creator) }];
      }));
    },
  };
}

/** Returns the key of the record of an item. */
function itemKey(conversation: string, itemId: string | null): string {
  return JSON.stringify([conversation, itemId]);
}

function creatorFrom(text: string): Creator {
  const creator: Creator = JSON.parse(text);
  return creator;
}

function recordBytes({ body }: ConversationItemRecord): number {
  return body.length;
}

function isMetadata(value: JsonObject): value is Record<string, string> {
  return Object.values(value).every((one) => typeof one === "string");
}
