import { isObject, type JsonValue, numberOf, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import {
  type Conversation,
  type ConversationRest,
  largeConversation,
  type Metadata,
  type NewConversation,
  refuseAddedItems,
  unknownConversation,
  unknownItem,
} from "../conversations.ts";
import { usesPerItem } from "../item_uses.ts";
import { keyText } from "../key_text.ts";
import type { ConversationItem, ConversationStore, Stored } from "../object_store.ts";
import { headBytes } from "../records/bounds.ts";
import type { NextRecord, RecordId, StoredRecord } from "../records/record_store.ts";
import { heldBytes } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { Decision } from "./change_record.ts";
import { newItems, packBytes } from "./items.ts";
import { findNamedItems } from "./named_items.ts";
import { shareOf } from "./owners.ts";
import type { RecordRules } from "./record_rules.ts";

const TYPE = "conversation";

/** Overhead of a stored conversation besides its ID and content. */
const OVERHEAD_BYTES = 256;

/** Head of a conversation. */
type Head = Pick<NewConversation, "creator" | "createdAt">;

/** Returns the conversations of a store. */
export function newConversations<Body>(rules: RecordRules<Body>): ConversationStore {
  const { records, changer, content, bounds, turns, ttlMs } = rules;
  const maxBytes = bounds[TYPE].bytes;
  const items = newItems(content, "conversation_item", turns, bounds[TYPE].entries);

  /** Returns the bytes of a conversation besides its head and its packs. */
  function restBytes(metadata: Metadata, packs: number): number {
    return heldBytes({ ...metadata }) + OVERHEAD_BYTES + content.referenceBytes * packs;
  }

  async function restIn(
    id: string,
    { head, body }: StoredRecord<Body>,
  ): Promise<Result<ConversationRest>> {
    const known = parseHead(head);
    if (!known.ok) return known;
    const metadata = body === null
      ? recordUnreadable()
      : await content.decode(TYPE, keyText(id), body);
    if (!metadata.ok) return metadata;
    if (!areTexts(metadata.value)) return recordUnreadable();
    return success({ id, ...known.value, metadata: metadata.value });
  }

  async function conversationIn(
    id: string,
    record: StoredRecord<Body>,
    remembered: ReturnType<typeof items.rememberedIn>,
  ): Promise<Result<Conversation>> {
    const rest = await restIn(id, record);
    if (!rest.ok) return rest;
    const list = await items.decode(record.parts, remembered);
    if (!list.ok) return list;
    if (list.value === null) return recordUnreadable();
    return success(await sized({ ...rest.value, items: list.value }));
  }

  async function sized(conversation: NewConversation): Promise<Conversation> {
    const { id, metadata } = conversation;
    const packs = await items.pack(conversation.items);
    const rest = headBytes(keyText(id), headText(conversation)) + restBytes(metadata, packs.length);
    return { ...conversation, bytes: rest + packBytes(packs) };
  }

  /**
   * Returns the decision to store a conversation; the refusal of one that is larger than the store.
   */
  async function storing(
    conversation: NewConversation,
  ): Promise<Result<Decision<Body, Conversation>>> {
    const value = await sized(conversation);
    if (value.bytes > maxBytes) return largeConversation(maxBytes);
    return success({ value, next: (missing) => recordOf(value, missing) });
  }

  async function recordOf(
    conversation: Conversation,
    missing: ReadonlySet<string>,
  ): Promise<NextRecord<Body>> {
    const { id, creator, metadata } = conversation;
    const body = await content.encode(TYPE, keyText(id), { ...metadata });
    const packs = await items.pack(conversation.items);
    const parts = await items.encode(packs, missing);
    items.markStored(keyText(id), packs);
    return {
      head: headText(conversation),
      body: { body, bytes: restBytes(metadata, packs.length) },
      parts,
      share: shareOf(creator),
      lifeMs: ttlMs,
    };
  }

  async function change(
    id: string,
    changed: (conversation: Conversation) => Result<NewConversation>,
  ): Stored<Conversation> {
    const remembered = items.rememberedIn(keyText(id));
    const options = { content: "all", known: [...remembered.keys()] } as const;
    return await changer.change(recordId(id), options, async (found) => {
      if (found === null) return unknownConversation("conversation_id");
      const earlier = await conversationIn(id, found, remembered);
      const next = earlier.ok ? changed(earlier.value) : earlier;
      return next.ok ? await storing(next.value) : next;
    });
  }

  return {
    maxBytes,
    create(conversation) {
      const problem = refuseAddedItems([], conversation.items);
      if (problem !== null) return Promise.resolve(problem);
      return changer.add(recordId(conversation.id), () => storing(conversation));
    },
    async find(id) {
      const remembered = items.rememberedIn(keyText(id));
      const options = { content: "all", known: [...remembered.keys()] } as const;
      const found = await records.get([recordId(id)], options);
      if (!found.ok) return found;
      const [record = null] = found.value;
      return record === null ? success(null) : await conversationIn(id, record, remembered);
    },
    async findRest(id) {
      const found = await records.get([recordId(id)], { content: "body" });
      if (!found.ok) return found;
      const [record = null] = found.value;
      return record === null ? success(null) : await restIn(id, record);
    },
    setMetadata: (id, metadata) =>
      change(id, (conversation) => success({ ...conversation, metadata })),
    append: (id, added) =>
      change(id, (conversation) => {
        const problem = refuseAddedItems(conversation.items, added);
        return problem ?? success({ ...conversation, items: [...conversation.items, ...added] });
      }),
    removeItem: (id, item) =>
      change(id, (conversation) => {
        const rest = conversation.items.filter((one) => one.id !== item);
        const isThere = rest.length < conversation.items.length;
        return isThere ? success({ ...conversation, items: rest }) : unknownItem();
      }),
    delete: (id) =>
      changer.change(recordId(id), { content: "head" }, (found) =>
        success(
          found === null ? { value: false } : { value: true, next: () => Promise.resolve(null) },
        )),
    async findItems(ids) {
      const most = usesPerItem(ids.size);
      const lookup = { type: TYPE, items, ids, most } as const;
      return await findNamedItems(rules, lookup, parseHead, (id, item, head): ConversationItem => ({
        id,
        item,
        creator: head.creator,
      }));
    },
  };
}

function recordId(id: string): RecordId {
  return { type: TYPE, id: keyText(id) };
}

function headText({ creator, createdAt }: Head): string {
  return JSON.stringify({ creator, createdAt });
}

function parseHead(text: string): Result<Head> {
  const value = parseExact(text);
  if (!isObject(value)) return recordUnreadable();
  const { creator = null } = value;
  const createdAt = numberOf(value.createdAt);
  const isCreator = creator === null || typeof creator === "string";
  return isCreator && createdAt !== null ? success({ creator, createdAt }) : recordUnreadable();
}

/** True for an object whose members are texts. */
export function areTexts(value: JsonValue | undefined): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((one) => typeof one === "string");
}
