import { newId } from "../../core/ids.ts";
import { isObject, type JsonDocument, type JsonObject, parseExact } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import { isVisible } from "../../store/bindings.ts";
import {
  type Conversation,
  type ConversationRest,
  unknownConversation,
  unknownItem,
} from "../../store/conversations.ts";
import type { ApiRequest } from "../client_api.ts";
import { jsonReply, storedReply } from "../stored/json_reply.ts";
import { requiredField } from "../items/shape.ts";
import { toStoredItem } from "../items/stored_item.ts";
import { parseMetadata } from "../items/metadata.ts";
import { encodePage, listObject, parsePage, queryProblem } from "../stored/paging.ts";
import { parseItemBatch } from "./items.ts";

/** Creates a conversation in the gateway, with the items and metadata of the body. */
export async function create(call: Call, request: ApiRequest): Promise<Result<Reply>> {
  const document = writtenDocument(request);
  const metadata = parseMetadata(document.value.metadata);
  if (!metadata.ok) return metadata;
  const hasItems = (document.value.items ?? null) !== null;
  const items = hasItems ? addedItems(call, document) : success([]);
  if (!items.ok) return items;
  const conversation = {
    id: newId("conv_", call.world),
    creator: call.caller.name,
    createdAt: call.world.unix(),
    metadata: metadata.value,
    items: items.value,
  };
  return shown(await call.state.objects.conversations.create(conversation));
}

/** Returns the body as the client wrote it: what is stored here is searched when it is sent. */
function writtenDocument({ original, document }: ApiRequest): JsonDocument {
  return original ?? document;
}

/** Returns a conversation without its items. */
export function retrieve(
  _call: Call,
  _request: ApiRequest,
  stored: ConversationRest,
): Result<Reply> {
  return jsonReply(resourceOf(stored));
}

/** Replaces the metadata of a conversation; null removes them. */
export async function update(
  { state }: Call,
  request: ApiRequest,
  { id }: ConversationRest,
): Promise<Result<Reply>> {
  const document = writtenDocument(request);
  if (document.value.metadata === undefined) {
    return requiredField("metadata");
  }
  const metadata = parseMetadata(document.value.metadata);
  if (!metadata.ok) return metadata;
  return shown(await state.objects.conversations.setMetadata(id, metadata.value));
}

/** Deletes a conversation with its items. */
export async function remove(
  { state }: Call,
  _request: ApiRequest,
  { id }: ConversationRest,
): Promise<Result<Reply>> {
  const deleted = await state.objects.conversations.delete(id);
  if (!deleted.ok) return deleted;
  if (!deleted.value) return unknownConversation("conversation_id");
  return jsonReply({ id, object: "conversation.deleted", deleted: true });
}

/** Adds items to a conversation, all or none, and returns the list of the added items. */
export async function addItems(
  call: Call,
  request: ApiRequest,
  { id }: ConversationRest,
): Promise<Result<Reply>> {
  const document = writtenDocument(request);
  const problem = includeProblem(request.query);
  if (problem !== null) return problem;
  const { items } = document.value;
  if ((items ?? null) === null || (Array.isArray(items) && items.length === 0)) {
    return requiredField("items");
  }
  const added = addedItems(call, document);
  if (!added.ok) return added;
  const changed = await call.state.objects.conversations.append(id, added.value);
  return changed.ok ? storedReply(listObject(added.value)) : changed;
}

/** Lists the items of a conversation, by default the newest first. */
export function listItems(
  _call: Call,
  { query }: ApiRequest,
  { items }: Conversation,
): Result<Reply> {
  const problem = includeProblem(query);
  if (problem !== null) return problem;
  const page = parsePage(query);
  if (!page.ok) return page;
  const list = encodePage(items, page.value);
  return list.ok ? storedReply(list.value) : list;
}

/** Returns one item of a conversation. */
export function retrieveItem(
  _call: Call,
  { query, params }: ApiRequest,
  { items }: Conversation,
): Result<Reply> {
  const problem = includeProblem(query);
  if (problem !== null) return problem;
  const item = items.find(({ id }) => id === params.item_id);
  return item === undefined ? unknownItem() : storedReply(item);
}

/** Deletes one item and returns its conversation. */
export async function removeItem(
  { state }: Call,
  { params }: ApiRequest,
  { id }: ConversationRest,
): Promise<Result<Reply>> {
  return shown(await state.objects.conversations.removeItem(id, params.item_id ?? ""));
}

/** Returns the stored conversation with this id. */
export async function find(call: Call, id: string): Promise<Result<Conversation>> {
  return visible(call, await call.state.objects.conversations.find(id));
}

/** Returns the stored conversation with this id without its items. */
export async function findRest(call: Call, id: string): Promise<Result<ConversationRest>> {
  return visible(call, await call.state.objects.conversations.findRest(id));
}

function visible<Found extends ConversationRest>(
  call: Call,
  found: Result<Found | null>,
): Result<Found> {
  if (!found.ok) return found;
  const conversation = found.value;
  return conversation === null || !isVisible(call, conversation.creator)
    ? unknownConversation("conversation_id")
    : success(conversation);
}

/**
 * Parses the items of a body. Numbers stay as text, because the gateway does not know every field.
 */
function addedItems(call: Call, { text, value }: JsonDocument): Result<readonly JsonObject[]> {
  const body = parseExact(text, value);
  const batch = parseItemBatch(isObject(body) ? body.items : undefined);
  return batch.ok ? success(batch.value.map((item) => toStoredItem(item, call.world))) : batch;
}

function includeProblem(query: URLSearchParams) {
  return queryProblem(query, ["include", "include[]"]);
}

function shown(conversation: Result<ConversationRest>): Result<Reply> {
  return conversation.ok ? jsonReply(resourceOf(conversation.value)) : conversation;
}

function resourceOf({ id, createdAt, metadata }: ConversationRest): JsonObject {
  return { id, object: "conversation", created_at: createdAt, metadata: { ...metadata } };
}
