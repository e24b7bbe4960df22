import { newId } from "../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json.ts";
import type { KeptConversation } from "./account.ts";
import { bodyOf, refusal } from "./chat.ts";
import { invalid, isMetadata, missing } from "./checks.ts";
import { pageOf } from "./pages.ts";
import { itemComplaints } from "./responses/item_rules.ts";
import { listed } from "./responses/items.ts";
import { notFound, optionalBody, type Route, type Visit } from "./visit.ts";
import { complain, type Complaint, type Stage } from "./voice.ts";

const MOST_AT_ONCE = 20;

/** `POST /conversations`: with items and metadata, or with nothing. */
export async function createConversation(visit: Visit): Promise<Response> {
  const body = await optionalBody(visit);
  if (body === null) return refusal(complain("The body is no JSON object."), visit);
  const { items: given = [], metadata } = body;
  for (const complaint of itemsTrouble(given ?? [])) return refusal(complaint, visit);
  if (metadata != null && !isMetadata(metadata)) return refusal(WRONG_METADATA, visit);
  const stage = visit.account.begin()();
  const id = newId("conv_", stage);
  const created = { id, object: "conversation", created_at: stage.unix() };
  const resource = { ...created, metadata: metadata ?? {} };
  visit.account.conversations.put(id, { resource, items: listedAll(given, stage) });
  return Response.json(resource);
}

/** `GET /conversations/{id}`. */
export const retrieveConversation: Route = found((_visit, { resource }) => Response.json(resource));

/** `POST /conversations/{id}`: other metadata. */
export const updateConversation: Route = found(async (visit, kept) => {
  const body = await bodyOf(visit.request);
  if (body?.metadata === undefined) return refusal(missing("metadata"), visit);
  const { metadata } = body;
  if (metadata !== null && !isMetadata(metadata)) return refusal(WRONG_METADATA, visit);
  const resource = { ...kept.resource, metadata: metadata ?? {} };
  visit.account.conversations.put(idOf(kept), { ...kept, resource });
  return Response.json(resource);
});

/** `DELETE /conversations/{id}`. */
export const deleteConversation: Route = found((visit, kept) => {
  visit.account.conversations.drop(idOf(kept));
  return Response.json({ id: idOf(kept), object: "conversation.deleted", deleted: true });
});

/** `POST /conversations/{id}/items`: the items that were added, in the order of the request. */
export const addItems: Route = found(async (visit, kept) => {
  const body = await bodyOf(visit.request);
  if (!Array.isArray(body?.items) || body.items.length === 0) {
    return refusal(missing("items"), visit);
  }
  for (const complaint of itemsTrouble(body.items)) return refusal(complaint, visit);
  const added = listedAll(body.items, visit.account.begin()());
  const again = added.find(({ id }) => kept.items.some((item) => item.id === id));
  if (again !== undefined) {
    return refusal(invalid("items", `Duplicate item found with id ${again.id}.`), visit);
  }
  visit.account.conversations.put(idOf(kept), { ...kept, items: [...kept.items, ...added] });
  return paged(added, new URLSearchParams({ order: "asc" }), visit);
});

/** `GET /conversations/{id}/items`: the newest first when no order is asked for. */
export const listItems: Route = found((visit, { items }) => paged(items, visit.query, visit));

/** `GET /conversations/{id}/items/{item}`. */
export const retrieveItem: Route = found((visit, { items }) => {
  const [, wanted = ""] = visit.ids;
  const item = items.find(({ id }) => id === wanted);
  return item === undefined ? notFound("Item", wanted, visit) : Response.json(item);
});

/** `DELETE /conversations/{id}/items/{item}`: answers with the conversation. */
export const deleteItem: Route = found((visit, kept) => {
  const [, wanted = ""] = visit.ids;
  const items = kept.items.filter(({ id }) => id !== wanted);
  if (items.length === kept.items.length) return notFound("Item", wanted, visit);
  visit.account.conversations.put(idOf(kept), { ...kept, items });
  return Response.json(kept.resource);
});

const WRONG_METADATA = invalid("metadata", "metadata must be an object of strings.");

function found(act: (visit: Visit, kept: KeptConversation) => Promise<Response> | Response): Route {
  return (visit) => {
    const [id = ""] = visit.ids;
    const kept = visit.account.conversations.get(id);
    return kept === undefined ? notFound("Conversation", id, visit) : act(visit, kept);
  };
}

function* itemsTrouble(items: JsonValue): Generator<Complaint> {
  if (!Array.isArray(items)) return yield invalid("items", "items must be an array of items.");
  if (items.length > MOST_AT_ONCE) {
    yield invalid("items", `items must hold at most ${MOST_AT_ONCE} items.`);
  }
  yield* itemComplaints(items, "items");
}

function listedAll(items: JsonValue, stage: Stage): readonly JsonObject[] {
  return Array.isArray(items) ? items.filter(isObject).map((item) => listed(item, stage)) : [];
}

function paged(items: readonly JsonObject[], query: URLSearchParams, visit: Visit): Response {
  const listing = pageOf(items, query, { order: "desc", most: 100 });
  return "complaint" in listing ? refusal(listing.complaint, visit) : Response.json(listing.page);
}

function idOf({ resource }: KeptConversation): string {
  return String(resource.id);
}
