import { openaiErrors } from "../../core/failure/openai_error.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import { findNativeProvider, requireCapability } from "../../routing/capability.ts";
import { findOwner } from "../../routing/ownership.ts";
import type { Place } from "../../call/inference.ts";
import type { ConversationRest } from "../../store/conversations.ts";
import type { ApiRequest, ClientApi, Endpoint } from "../client_api.ts";
import { needsStore } from "../stored/stored_objects.ts";
import { identifierProblem, pathIdProblem, pathItemProblem } from "../stored/identifier.ts";
import * as local from "./local.ts";
import * as native from "./native.ts";

const ONE = "/v1/conversations/:conversation_id";
const ITEMS = `${ONE}/items` as const;
const ITEM = `${ITEMS}/:item_id` as const;

/**
 * The Conversations API (OpenAI API, Conversations). A conversation is stored by the upstream that
 * created it, or by the gateway itself.
 */
export const conversations: ClientApi = {
  name: "conversations",
  errors: openaiErrors,
  endpoints: [
    {
      method: "POST",
      path: "/v1/conversations",
      about: "Creates a conversation.",
      body: "optional",
      handle: needsStore(create),
    },
    endpoint(
      { method: "GET", path: ONE, about: "Returns a conversation." },
      local.retrieve,
      native.retrieve,
    ),
    endpoint(
      { method: "POST", path: ONE, about: "Changes its metadata." },
      local.update,
      native.update,
    ),
    endpoint(
      { method: "DELETE", path: ONE, about: "Deletes a conversation." },
      local.remove,
      native.remove,
    ),
    endpoint(
      { method: "POST", path: ITEMS, about: "Adds items." },
      local.addItems,
      native.addItems,
    ),
    endpointOver(
      local.find,
      { method: "GET", path: ITEMS, about: "Lists the items." },
      local.listItems,
      native.listItems,
    ),
    endpointOver(
      local.find,
      { method: "GET", path: ITEM, about: "Returns one item." },
      local.retrieveItem,
      native.retrieveItem,
    ),
    endpoint(
      { method: "DELETE", path: ITEM, about: "Deletes one item." },
      local.removeItem,
      native.removeItem,
    ),
  ],
};

/**
 * Creates a conversation at the requested provider, else at the only capable provider, else in the
 * gateway.
 */
async function create(call: Call, request: ApiRequest): Promise<Result<Reply>> {
  const named = requestedProvider(call, request);
  if (!named.ok) return named;
  const provider = findNativeProvider(call, named.value, "conversations");
  if (!provider.ok) return provider;
  return provider.value === null
    ? await local.create(call, request)
    : await native.create(call, request, { provider: provider.value, account: null });
}

/** An operation on a conversation that the gateway stores. */
type LocalOperation<Stored> = (
  call: Call,
  request: ApiRequest,
  stored: Stored,
) => Result<Reply> | Promise<Result<Reply>>;

/** Returns an endpoint whose operation does not look at the items. */
function endpoint(
  facts: Pick<Endpoint, "method" | "path" | "about">,
  runLocally: LocalOperation<ConversationRest>,
  runUpstream: native.Operation,
): Endpoint {
  return endpointOver(local.findRest, facts, runLocally, runUpstream);
}

/** Returns an endpoint whose operation gets the conversation that `find` returns. */
function endpointOver<Stored>(
  find: (call: Call, id: string) => Promise<Result<Stored>>,
  facts: Pick<Endpoint, "method" | "path" | "about">,
  runLocally: LocalOperation<Stored>,
  runUpstream: native.Operation,
): Endpoint {
  return {
    ...facts,
    body: facts.method === "POST",
    handle: needsStore(async (call, request) => {
      const problem = pathProblem(request);
      if (problem !== null) return problem;
      const place = await findPlace(call, request);
      if (!place.ok) return place;
      if (place.value !== null) return await runUpstream(call, request, place.value);
      const stored = await find(call, request.params.conversation_id ?? "");
      return stored.ok ? await runLocally(call, request, stored.value) : stored;
    }),
  };
}

function pathProblem({ params }: ApiRequest) {
  const { conversation_id: id = "", item_id: item } = params;
  return identifierProblem(id, "conversation_id") ??
    (item === undefined ? null : identifierProblem(item, "item_id"));
}

/** Returns the upstream place of a conversation; null if only the gateway can have stored it. */
async function findPlace(call: Call, request: ApiRequest): Promise<Result<Place | null>> {
  const named = requestedProvider(call, request);
  if (!named.ok) return named;
  const { conversation_id: id = "", item_id: item } = request.params;
  const param = "conversation_id";
  const owned = await findOwner(call, { type: "conversation", id, param, provider: named.value });
  if (!owned.ok) return owned;
  if (owned.value === null) return success(null);
  const unsafe = pathIdProblem(id, param, owned.value.isReturned) ??
    (item === undefined ? null : pathItemProblem(item, "item_id"));
  if (unsafe !== null) return unsafe;
  const able = requireCapability(owned.value.provider, "conversations");
  return able.ok ? owned : able;
}

/** Returns the provider that a request names, by header or by a canonical model. */
function requestedProvider(call: Call, { document }: ApiRequest): Result<string | null> {
  const { model } = document.value;
  const named = requestedModel(call, typeof model === "string" ? model : "");
  return named.ok ? success(named.value.provider) : named;
}
