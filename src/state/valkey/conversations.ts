import { type Result, success } from "../../core/result.ts";
import {
  type Conversation,
  duplicateItem,
  fullConversation,
  largeConversation,
  MAX_CONVERSATION_ITEMS,
  refuseAddedItems,
  unknownConversation,
  unknownItem,
} from "../conversations.ts";
import { usesPerItem } from "../item_uses.ts";
import { decodeEach } from "../records/decode_each.ts";
import { keyText } from "../key_text.ts";
import type { ConversationItem, ConversationStore, Stored, StoreStats } from "../object_store.ts";
import { heldBytes } from "../retention.ts";
import type { Argument } from "./connection.ts";
import {
  decodeConversation,
  decodeItem,
  encodeHead,
  encodeItems,
  encodeMetadata,
  parseHead,
} from "./conversation_record.ts";
import { nameOfItem } from "./item_name.ts";
import type { ValkeyRecords } from "./records.ts";
import { bytesOf, integerOf, listOf, statsOf, textOf } from "./reply.ts";
import type { Script } from "./script.ts";
import {
  APPEND_ITEMS,
  CREATE_CONVERSATION,
  DELETE_CONVERSATION,
  FIND_CONVERSATION,
  FIND_CONVERSATION_ITEMS,
  REMOVE_ITEM,
  SET_METADATA,
} from "./scripts/conversation_scripts.ts";

/** Conversations on the server, with their size. */
export interface ValkeyConversations {
  readonly conversations: ConversationStore;
  stats(): StoreStats;
}

/** What the server stores for a conversation besides its content. */
const OVERHEAD_BYTES = 256;

/** Returns the conversations of a store. */
export function newValkeyConversations(records: ValkeyRecords): ValkeyConversations {
  const { codec, retention: { ttlMs, maxObjects, maxBytes } } = records;
  let stats: StoreStats = { entries: 0, bytes: 0 };

  async function change(
    script: Script,
    id: string,
    args: readonly Argument[],
  ): Stored<Conversation> {
    const reply = await records.run(script, [keyText(id), ttlMs, maxObjects, maxBytes, ...args]);
    if (!reply.ok) return reply;
    const [status, entries, bytes, size, fields] = listOf(reply.value);
    const refusal = refusalOf(textOf(status), maxBytes);
    if (refusal !== null) return refusal;
    stats = statsOf(entries, bytes);
    return await decodeConversation(codec, id, integerOf(size) ?? 0, listOf(fields));
  }

  return {
    conversations: {
      maxBytes,
      async create(conversation) {
        const { id, items } = conversation;
        const problem = refuseAddedItems([], items);
        if (problem !== null) return problem;
        const metadata = await encodeMetadata(codec, keyText(id), conversation.metadata);
        const encoded = await encodeItems(codec, keyText(id), items);
        const headBytes = heldBytes(id) + OVERHEAD_BYTES;
        const size = headBytes + metadata.bytes + itemBytes(encoded);
        if (size > maxBytes) return largeConversation(maxBytes);
        const head = [encodeHead(conversation), metadata.record, metadata.bytes, headBytes];
        const args = [...head, ...encoded];
        return await change(CREATE_CONVERSATION, id, args);
      },
      async find(id) {
        const reply = await records.run(FIND_CONVERSATION, [keyText(id), ttlMs]);
        if (!reply.ok) return reply;
        const [size, fields] = listOf(reply.value);
        if (fields === undefined) return success(null);
        return await decodeConversation(codec, id, integerOf(size) ?? 0, listOf(fields));
      },
      async setMetadata(id, metadata) {
        const { record, bytes } = await encodeMetadata(codec, keyText(id), metadata);
        return await change(SET_METADATA, id, [record, bytes]);
      },
      async append(id, items) {
        const args = [MAX_CONVERSATION_ITEMS, ...await encodeItems(codec, keyText(id), items)];
        return await change(APPEND_ITEMS, id, args);
      },
      removeItem: (id, item) => change(REMOVE_ITEM, id, [nameOfItem(item)]),
      async delete(id) {
        const reply = await records.run(DELETE_CONVERSATION, [keyText(id), ttlMs]);
        if (!reply.ok) return reply;
        const [wasThere, entries, bytes] = listOf(reply.value);
        stats = statsOf(entries, bytes);
        return success(wasThere === 1);
      },
      async findItems(ids) {
        if (ids.size === 0) return success([]);
        const names = new Map([...ids].map((id) => [nameOfItem(id), id]));
        const reply = await records.run(FIND_CONVERSATION_ITEMS, [
          ttlMs,
          usesPerItem(names.size),
          ...names.keys(),
        ]);
        if (!reply.ok) return reply;
        const matches = listOf(reply.value).map(listOf);
        const found = await decodeEach(
          matches,
          (match) => bytesOf(match[3])?.length ?? 0,
          (match) => decodeMatch(match, names),
        );
        if (!found.ok) return found;
        const ordered = found.value.toSorted((one, other) =>
          one.changed - other.changed || one.number - other.number
        );
        return success(ordered.map(({ item }) => item));
      },
    },
    stats: () => stats,
  };

  async function decodeMatch(
    match: readonly unknown[],
    ids: ReadonlyMap<string, string>,
  ): Promise<Result<PlacedItem>> {
    const [name, conversation, headText, record, changed, number] = match;
    const head = parseHead(textOf(headText));
    if (!head.ok) return head;
    const itemName = textOf(name) ?? "";
    const item = await decodeItem(codec, textOf(conversation) ?? "", itemName, bytesOf(record));
    if (!item.ok) return item;
    const { creator } = head.value;
    return success({
      item: { id: ids.get(itemName) ?? "", item: item.value, creator },
      changed: integerOf(changed) ?? 0,
      number: integerOf(number) ?? 0,
    });
  }
}

/** An item with its place: the last change of its conversation, and its number there. */
interface PlacedItem {
  readonly item: ConversationItem;
  readonly changed: number;
  readonly number: number;
}

/** Returns the refusal that the status of a reply names; null for success. */
function refusalOf(status: string | null, maxBytes: number) {
  switch (status) {
    case "unknown":
      return unknownConversation("conversation_id");
    case "no item":
      return unknownItem();
    case "full":
      return fullConversation();
    case "large":
      return largeConversation(maxBytes);
    case "duplicate":
      return duplicateItem();
    default:
      return null;
  }
}

/** Returns the bytes of encoded items: the second argument of three for each. */
function itemBytes(encoded: readonly Argument[]): number {
  return encoded.reduce<number>(
    (sum, argument, index) => index % 3 === 1 ? sum + Number(argument) : sum,
    0,
  );
}
