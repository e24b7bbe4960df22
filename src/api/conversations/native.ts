import { isExactId } from "../../core/ids.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import type { Result } from "../../core/failure/result.ts";
import { removeMembers, splice } from "../../formats/edit.ts";
import type { Call } from "../../call/call.ts";
import { bindObject, release } from "../../routing/ownership.ts";
import type { Place } from "../../call/inference.ts";
import type { ApiRequest } from "../client_api.ts";
import { callNative, isDeleted, isList, isResource } from "../stored/native_call.ts";

const OBJECT = "conversation";

/** An operation on a conversation that an upstream stores. */
export type Operation = (
  call: Call,
  request: ApiRequest,
  place: Place,
) => Promise<Result<Reply>>;

/** Creates a conversation upstream and binds it to that account. */
export function create(call: Call, { query, document }: ApiRequest, place: Place) {
  return callNative(call, {
    ...place,
    method: "POST",
    path: ["conversations"],
    query,
    body: withoutModel(document),
    isValid: ({ object, id }) => object === OBJECT && isExactId(id),
    isCreation: true,
    onComplete({ id }, sender) {
      return typeof id === "string" ? bindObject(call, "conversation", id, sender) : null;
    },
  });
}

/** Returns a conversation. */
export const retrieve: Operation = (call, { params, query }, place) =>
  callNative(call, {
    ...place,
    method: "GET",
    path: pathOf(params),
    query,
    isValid: isConversation(params),
  });

/** Changes the metadata of a conversation. */
export const update: Operation = (call, { params, query, document }, place) =>
  callNative(call, {
    ...place,
    method: "POST",
    path: pathOf(params),
    query,
    body: withoutModel(document),
    isValid: isConversation(params),
  });

/** Deletes a conversation upstream, and its binding. */
export const remove: Operation = (call, { params, query }, place) => {
  const { conversation_id: id = "" } = params;
  return callNative(call, {
    ...place,
    method: "DELETE",
    path: pathOf(params),
    query,
    isValid: (resource) => isDeleted(resource, "conversation.deleted", id),
    withoutBody: { id, object: "conversation.deleted", deleted: true },
    onComplete: (_, { account }) => release(call, "conversation", id, account.digest),
  });
};

/** Adds items to a conversation and returns the list of the added items. */
export const addItems: Operation = (call, { params, query, document }, place) =>
  callNative(call, {
    ...place,
    method: "POST",
    path: [...pathOf(params), "items"],
    query,
    body: withoutModel(document),
    isValid: isList,
  });

/** Lists the items of a conversation. */
export const listItems: Operation = (call, { params, query }, place) =>
  callNative(call, {
    ...place,
    method: "GET",
    path: [...pathOf(params), "items"],
    query,
    isValid: isList,
  });

/** Returns one item of a conversation. */
export const retrieveItem: Operation = (call, { params, query }, place) =>
  callNative(call, {
    ...place,
    method: "GET",
    path: [...pathOf(params), "items", params.item_id ?? ""],
    query,
    isValid: ({ id, type }) => id === params.item_id && typeof type === "string",
  });

/** Deletes one item and returns its conversation if the provider sends it. */
export const removeItem: Operation = (call, { params, query }, place) =>
  callNative(call, {
    ...place,
    method: "DELETE",
    path: [...pathOf(params), "items", params.item_id ?? ""],
    query,
    isValid: isConversation(params),
    withoutBody: null,
  });

type Params = ApiRequest["params"];

function pathOf({ conversation_id: id = "" }: Params): readonly string[] {
  return ["conversations", id];
}

function isConversation({ conversation_id: id = "" }: Params) {
  return (resource: JsonObject) => isResource(resource, OBJECT, id);
}

/** Returns the body without `model`, which only names the provider: a conversation has no model. */
function withoutModel({ text, members }: JsonDocument): string {
  return splice(text, removeMembers(members, ["model"]));
}
