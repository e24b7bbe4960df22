import { decodeEach } from "../records/decode_each.ts";
import { decodeObject, parseObject } from "../records/json_records.ts";
import { Buffer } from "node:buffer";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { Creator } from "../bindings.ts";
import type { Conversation, Metadata, NewConversation } from "../conversations.ts";
import { keyText } from "../key_text.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { heldBytes } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { Argument } from "./connection.ts";
import { itemName } from "./item_name.ts";
import { bytesOf, textOf } from "./reply.ts";

/** What is stored of a conversation besides metadata and items. */
export type Head = Pick<NewConversation, "creator" | "createdAt">;

/** Returns the bytes that count for a value: in memory or as text, whichever is more. */
export function contentBytes(value: JsonObject, text: string): number {
  return Math.max(heldBytes(value), Buffer.byteLength(text));
}

/** Returns the text of a head. It has no content, so it is not encrypted. */
export function encodeHead({ creator, createdAt }: Head): string {
  return JSON.stringify({ creator, createdAt });
}

/** Returns the arguments of a script for each item: name, bytes, record. */
export async function encodeItems(
  codec: RecordCodec,
  key: string,
  items: readonly JsonObject[],
): Promise<readonly Argument[]> {
  const groups = await Promise.all(items.map(async (item) => {
    const text = JSON.stringify(item);
    const id = itemRecordId(key, itemName(item));
    const record = await codec.encode("conversation_item", id, text);
    return [itemName(item), contentBytes(item, text), record];
  }));
  return groups.flat();
}

/** Returns the record of metadata and their bytes. */
export async function encodeMetadata(codec: RecordCodec, key: string, metadata: Metadata) {
  const text = JSON.stringify(metadata);
  const bytes = contentBytes({ ...metadata }, text);
  return { record: await codec.encode("conversation", key, text), bytes };
}

/** Returns the item in a record of a conversation. */
export function decodeItem(
  codec: RecordCodec,
  key: string,
  name: string,
  record: Uint8Array | null,
): Promise<Result<JsonObject>> {
  if (record === null) return Promise.resolve(recordUnreadable());
  return decodeObject(codec, "conversation_item", itemRecordId(key, name), record);
}

/** Returns the conversation in the fields of its hash: names and values one after the other. */
export async function decodeConversation(
  codec: RecordCodec,
  id: string,
  bytes: number,
  fields: readonly unknown[],
): Promise<Result<Conversation>> {
  const key = keyText(id);
  const values = new Map<string, unknown>();
  const names = new Map<string, string>();
  const numbers: number[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const field = textOf(fields[at]) ?? "";
    const value = fields[at + 1];
    if (field.startsWith("=")) names.set(textOf(value) ?? "", field);
    else values.set(field, value);
    if (field.startsWith("v")) numbers.push(Number(field.slice(1)));
  }
  const head = parseHead(textOf(values.get("h")));
  if (!head.ok) return head;
  const metadata = await decodeMetadata(codec, key, bytesOf(values.get("m")));
  if (!metadata.ok) return metadata;
  const ordered = numbers.toSorted((one, other) => one - other);
  const items = await decodeEach(
    ordered.map((number) => ({
      name: names.get(`${number}`) ?? "",
      record: bytesOf(values.get(`v${number}`)),
    })),
    ({ record }) => record?.length ?? 0,
    ({ name, record }) => decodeItem(codec, key, name, record),
  );
  if (!items.ok) return items;
  return success({ id, ...head.value, metadata: metadata.value, items: items.value, bytes });
}

async function decodeMetadata(
  codec: RecordCodec,
  key: string,
  record: Uint8Array | null,
): Promise<Result<Metadata>> {
  if (record === null) return recordUnreadable();
  const value = await decodeObject(codec, "conversation", key, record);
  if (!value.ok) return value;
  return isMetadata(value.value) ? success(value.value) : recordUnreadable();
}

function isMetadata(value: JsonObject): value is Record<string, string> {
  return Object.values(value).every((one) => typeof one === "string");
}

/** Returns the head with this text. */
export function parseHead(text: string | null): Result<Head> {
  const value = text === null ? recordUnreadable() : parseObject(text);
  if (!value.ok) return value;
  const { creator = null, createdAt } = value.value;
  return isCreator(creator) && typeof createdAt === "number"
    ? success({ creator, createdAt })
    : recordUnreadable();
}

function isCreator(value: unknown): value is Creator {
  return value === null || typeof value === "string";
}

function itemRecordId(key: string, name: string): string {
  return `${key} ${name}`;
}
