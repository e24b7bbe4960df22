import { newId } from "../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import type { StoredConversation } from "./account.ts";
import { errorResponse, readJsonBody } from "./sim_call.ts";
import { invalidValue, isMetadata, missingParameter } from "./field_checks.ts";
import { paginate } from "./pagination.ts";
import { itemErrors } from "./responses/input_item_rules.ts";
import { toListedItem } from "./responses/input_items.ts";
import { notFoundResponse, readOptionalBody } from "./sim_call.ts";
import type { RoutedCall, RouteHandler } from "./routes.ts";
import { type ApiError, type Deps, newApiError } from "./protocol.ts";

const MAX_ITEMS_PER_REQUEST = 20;

/** `POST /conversations`: creates a conversation; items and metadata are optional. */
export async function createConversation(call: RoutedCall): Promise<Response> {
  const body = await readOptionalBody(call);
  if (body === null) return errorResponse(newApiError("The body is no JSON object."), call);
  const { items: newItems = [], metadata } = body;
  for (const error of itemListErrors(newItems ?? [])) return errorResponse(error, call);
  if (metadata != null && !isMetadata(metadata)) return errorResponse(WRONG_METADATA, call);
  const deps = call.account.newAnswerDeps()();
  const id = newId("conv_", deps);
  const created = { id, object: "conversation", created_at: deps.unix() };
  const resource = { ...created, metadata: metadata ?? {} };
  call.account.conversations.set(id, { resource, items: toListedItems(newItems, deps) });
  return Response.json(resource);
}

/** `GET /conversations/{id}`: returns a conversation. */
export const retrieveConversation: RouteHandler = withConversation((_call, { resource }) =>
  Response.json(resource)
);

/** `POST /conversations/{id}`: replaces the metadata of a conversation. */
export const updateConversation: RouteHandler = withConversation(async (call, stored) => {
  const body = await readJsonBody(call.httpRequest);
  if (body?.metadata === undefined) return errorResponse(missingParameter("metadata"), call);
  const { metadata } = body;
  if (metadata !== null && !isMetadata(metadata)) return errorResponse(WRONG_METADATA, call);
  const resource = { ...stored.resource, metadata: metadata ?? {} };
  call.account.conversations.set(idOf(stored), { ...stored, resource });
  return Response.json(resource);
});

/** `DELETE /conversations/{id}`: deletes a conversation. */
export const deleteConversation: RouteHandler = withConversation((call, stored) => {
  call.account.conversations.delete(idOf(stored));
  return Response.json({ id: idOf(stored), object: "conversation.deleted", deleted: true });
});

/** `POST /conversations/{id}/items`: adds items and returns them in request order. */
export const addItems: RouteHandler = withConversation(async (call, stored) => {
  const body = await readJsonBody(call.httpRequest);
  if (!Array.isArray(body?.items) || body.items.length === 0) {
    return errorResponse(missingParameter("items"), call);
  }
  for (const error of itemListErrors(body.items)) return errorResponse(error, call);
  const added = toListedItems(body.items, call.account.newAnswerDeps()());
  const duplicate = added.find(({ id }) => stored.items.some((item) => item.id === id));
  if (duplicate !== undefined) {
    return errorResponse(
      invalidValue("items", `Duplicate item found with id ${duplicate.id}.`),
      call,
    );
  }
  call.account.conversations.set(idOf(stored), { ...stored, items: [...stored.items, ...added] });
  return pageResponse(added, new URLSearchParams({ order: "asc" }), call);
});

/** `GET /conversations/{id}/items`: lists items, by default the newest first. */
export const listItems: RouteHandler = withConversation((call, { items }) =>
  pageResponse(items, call.query, call)
);

/** `GET /conversations/{id}/items/{item}`: returns an item. */
export const retrieveItem: RouteHandler = withConversation((call, { items }) => {
  const [, itemId = ""] = call.ids;
  const item = items.find(({ id }) => id === itemId);
  return item === undefined ? notFoundResponse("Item", itemId, call) : Response.json(item);
});

/** `DELETE /conversations/{id}/items/{item}`: deletes an item and returns the conversation. */
export const deleteItem: RouteHandler = withConversation((call, stored) => {
  const [, itemId = ""] = call.ids;
  const items = stored.items.filter(({ id }) => id !== itemId);
  if (items.length === stored.items.length) return notFoundResponse("Item", itemId, call);
  call.account.conversations.set(idOf(stored), { ...stored, items });
  return Response.json(stored.resource);
});

const WRONG_METADATA = invalidValue("metadata", "metadata must be an object of strings.");

function withConversation(
  act: (call: RoutedCall, stored: StoredConversation) => Promise<Response> | Response,
): RouteHandler {
  return (call) => {
    const [id = ""] = call.ids;
    const stored = call.account.conversations.get(id);
    return stored === undefined ? notFoundResponse("Conversation", id, call) : act(call, stored);
  };
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

function pageResponse(
  items: readonly JsonObject[],
  query: URLSearchParams,
  call: RoutedCall,
): Response {
  const listing = paginate(items, query, { defaultOrder: "desc", maxLimit: 100 });
  return "error" in listing ? errorResponse(listing.error, call) : Response.json(listing.page);
}

function idOf({ resource }: StoredConversation): string {
  return String(resource.id);
}
