import { newId } from "../core/ids.ts";
import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import type { StoredConversation } from "./account.ts";
import { type Answer, notFound, readJsonBody } from "./sim_call.ts";
import { invalidValue, isMetadata, missingParameter } from "./field_checks.ts";
import { itemErrors } from "./responses/input_item_rules.ts";
import { toListedItem } from "./responses/input_items.ts";
import { onStored, paginate, type RoutedCall, type RouteHandler } from "./routes.ts";
import { type ApiError, type Deps, newApiError } from "./protocol.ts";

const MAX_ITEMS_PER_REQUEST = 20;

/** `POST /conversations`: creates a conversation; items and metadata are optional. */
export async function createConversation({ account, httpRequest }: RoutedCall): Promise<Answer> {
  const body = await readOptionalBody(httpRequest);
  if (body === null) return newApiError("The body is no JSON object.");
  const { items: newItems = [], metadata } = body;
  for (const error of itemListErrors(newItems ?? [])) return error;
  if (metadata != null && !isMetadata(metadata)) return WRONG_METADATA;
  const deps = account.newAnswerDeps()();
  const id = newId("conv_", deps);
  const created = { id, object: "conversation", created_at: deps.unix() };
  const resource = { ...created, metadata: metadata ?? {} };
  account.conversations.set(id, { resource, items: toListedItems(newItems, deps) });
  return Response.json(resource);
}

async function readOptionalBody(request: Request): Promise<JsonObject | null> {
  const text = await request.text();
  const body = text === "" ? {} : parseJson(text);
  return isObject(body) ? body : null;
}

/** `GET /conversations/{id}`: returns a conversation. */
export const retrieveConversation: RouteHandler = onConversation((_call, { resource }) =>
  Response.json(resource)
);

/** `POST /conversations/{id}`: replaces the metadata of a conversation. */
export const updateConversation: RouteHandler = onConversation(async (call, stored) => {
  const body = await readJsonBody(call.httpRequest);
  if (body?.metadata === undefined) return missingParameter("metadata");
  const { metadata } = body;
  if (metadata !== null && !isMetadata(metadata)) return WRONG_METADATA;
  const resource = { ...stored.resource, metadata: metadata ?? {} };
  call.account.conversations.set(idOf(stored), { ...stored, resource });
  return Response.json(resource);
});

/** `DELETE /conversations/{id}`: deletes a conversation. */
export const deleteConversation: RouteHandler = onConversation((call, stored) => {
  call.account.conversations.delete(idOf(stored));
  return Response.json({ id: idOf(stored), object: "conversation.deleted", deleted: true });
});

/** `POST /conversations/{id}/items`: adds items and returns them in request order. */
export const addItems: RouteHandler = onConversation(async (call, stored) => {
  const body = await readJsonBody(call.httpRequest);
  if (!Array.isArray(body?.items) || body.items.length === 0) return missingParameter("items");
  for (const error of itemListErrors(body.items)) return error;
  const added = toListedItems(body.items, call.account.newAnswerDeps()());
  const duplicate = added.find(({ id }) => stored.items.some((item) => item.id === id));
  if (duplicate !== undefined) {
    return invalidValue("items", `Duplicate item found with id ${duplicate.id}.`);
  }
  call.account.conversations.set(idOf(stored), { ...stored, items: [...stored.items, ...added] });
  return paginate(added, new URLSearchParams({ order: "asc" }), PAGES);
});

/** `GET /conversations/{id}/items`: lists items, by default the newest first. */
export const listItems: RouteHandler = onConversation((call, { items }) =>
  paginate(items, call.query, PAGES)
);

/** `GET /conversations/{id}/items/{item}`: returns an item. */
export const retrieveItem: RouteHandler = onConversation((call, { items }) => {
  const [, itemId = ""] = call.ids;
  const item = items.find(({ id }) => id === itemId);
  return item === undefined ? notFound("Item", itemId) : Response.json(item);
});

/** `DELETE /conversations/{id}/items/{item}`: deletes an item and returns the conversation. */
export const deleteItem: RouteHandler = onConversation((call, stored) => {
  const [, itemId = ""] = call.ids;
  const items = stored.items.filter(({ id }) => id !== itemId);
  if (items.length === stored.items.length) return notFound("Item", itemId);
  call.account.conversations.set(idOf(stored), { ...stored, items });
  return Response.json(stored.resource);
});

const WRONG_METADATA = invalidValue("metadata", "metadata must be an object of strings.");

function onConversation(act: Parameters<typeof onStored<StoredConversation>>[2]): RouteHandler {
  return onStored(({ conversations }) => conversations, "Conversation", act);
}

function* itemListErrors(items: JsonValue): Generator<ApiError> {
  if (!Array.isArray(items)) return yield invalidValue("items", "items must be an array of items.");
  if (items.length > MAX_ITEMS_PER_REQUEST) {
    yield invalidValue("items", `items must hold at most ${MAX_ITEMS_PER_REQUEST} items.`);
  }
  yield* itemErrors(items, "items");
}

function toListedItems(items: JsonValue, deps: Deps): readonly JsonObject[] {
  return Array.isArray(items) ? items.filter(isObject).map((item) => toListedItem(item, deps)) : [];
}

const PAGES = { defaultOrder: "desc", maxLimit: 100 } as const;

function idOf({ resource }: StoredConversation): string {
  return String(resource.id);
}
