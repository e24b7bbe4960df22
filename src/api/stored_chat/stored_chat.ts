import { openaiErrors } from "../../core/failure/openai_error.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import type { Call } from "../../call/call.ts";
import { release, shownOf } from "../../routing/ownership.ts";
import type { Place } from "../../call/inference.ts";
import type { ApiRequest, ClientApi, Handler } from "../client_api.ts";
import { callNative, isDeleted, isList, isResource } from "../stored/native_call.ts";
import { listOwned, readPages } from "../stored/owned_list.ts";
import { pageOf } from "../stored/own_page.ts";
import { findOwnedPlace, type OwnedPlace } from "../stored/owned_place.ts";
import { rewrittenAs } from "../stored/shown_object.ts";
import type { Shown } from "../../store/bindings.ts";
import { needsStore } from "../stored/stored_objects.ts";

const ALL = "/v1/chat/completions";
const ONE = `${ALL}/:completion_id` as const;

const CAPABILITY = "chat_completions_lifecycle";
const OBJECT = "chat.completion";

/**
 * Stored Chat Completions, created with `store: true` and stored by their upstream (OpenAI API).
 */
export const storedChat: ClientApi = {
  name: "chat_completions",
  errors: openaiErrors,
  endpoints: [
    {
      method: "GET",
      path: ALL,
      about: "Lists the completions that a provider stores.",
      body: false,
      handle: needsStore(list),
    },
    {
      method: "GET",
      path: ONE,
      about: "Returns a stored completion.",
      body: false,
      handle: onCompletion(retrieve),
    },
    {
      method: "POST",
      path: ONE,
      about: "Changes the metadata of a stored completion.",
      body: true,
      handle: onCompletion(update),
    },
    {
      method: "DELETE",
      path: ONE,
      about: "Deletes a stored completion.",
      body: false,
      handle: onCompletion(remove),
    },
    {
      method: "GET",
      path: `${ONE}/messages`,
      about: "Lists the messages of the request of a stored completion.",
      body: false,
      handle: onCompletion(messages),
    },
  ],
};

async function list(call: Call, { query }: ApiRequest): Promise<Result<Reply>> {
  return await listOwned(call, {
    capability: CAPABILITY,
    type: "chat_completion",
    idOf: (id) => id,
    path: ["chat", "completions"],
    query,
  });
}

/** A completion that a provider stores. */
interface StoredCompletion extends Place {
  readonly id: string;
  /** How the client of a named model sees it; absent to leave it unchanged. */
  readonly shown?: Shown | undefined;
}

/** An operation on a completion whose provider is known. */
type Operation = (
  call: Call,
  request: ApiRequest,
  stored: StoredCompletion,
) => Promise<Result<Reply>>;

function onCompletion(operation: Operation): Handler {
  return needsStore(async (call, request) => {
    const id = request.params.completion_id ?? "";
    const place = await findPlace(call, id);
    if (!place.ok) return place;
    const { provider, account } = place.value;
    const shown = shownOf(call, place.value);
    return await operation(call, request, { provider, account, id, shown });
  });
}

function findPlace(call: Call, id: string): Promise<Result<OwnedPlace>> {
  return findOwnedPlace(call, {
    type: "chat_completion",
    id,
    boundId: id,
    param: "completion_id",
    capability: CAPABILITY,
    noun: "completion",
    notFound: "completion_not_found",
  });
}

function retrieve(call: Call, { query }: ApiRequest, stored: StoredCompletion) {
  const { id, shown, ...place } = stored;
  return callNative(call, {
    ...place,
    ...rewrittenAs(shown),
    method: "GET",
    path: ["chat", "completions", id],
    query,
    isValid: (resource) => isResource(resource, OBJECT, id),
  });
}

function update(call: Call, { query, document }: ApiRequest, stored: StoredCompletion) {
  const { id, shown, ...place } = stored;
  return callNative(call, {
    ...place,
    ...rewrittenAs(shown),
    method: "POST",
    path: ["chat", "completions", id],
    query,
    body: document.text,
    isValid: (resource) => isResource(resource, OBJECT, id),
  });
}

function remove(call: Call, { query }: ApiRequest, { id, ...place }: StoredCompletion) {
  return callNative(call, {
    ...place,
    method: "DELETE",
    path: ["chat", "completions", id],
    query,
    isValid: (resource) => isDeleted(resource, `${OBJECT}.deleted`, id),
    withoutBody: { object: `${OBJECT}.deleted`, id, deleted: true },
    onComplete: (_, { account }) => release(call, "chat_completion", id, account.digest),
  });
}

/**
 * Lists the messages of a completion: without instructions if a named model has added some, because
 * the provider may have joined or changed them.
 */
function messages(call: Call, { query }: ApiRequest, stored: StoredCompletion) {
  const { id, shown, ...place } = stored;
  const path = ["chat", "completions", id, "messages"];
  const page = { ...place, method: "GET", path, isValid: isList } as const;
  const isShown = ({ role }: JsonObject) => role !== "system" && role !== "developer";
  const rewrite = (document: JsonDocument, limit: number) =>
    Promise.resolve(success(pageOf(document, limit, { isShown })));
  return readPages(call, page, query, (shown?.appended ?? 0) > 0 ? rewrite : null);
}
