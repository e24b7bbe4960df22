import type { Reply } from "../../core/reply.ts";
import { refuse, type Result } from "../../core/result.ts";
import { namedBy } from "../../exchange.ts";
import type { Call } from "../../gateway/call.ts";
import type { Conversation } from "../../state/conversations.ts";
import type { ApiRequest, ClientApi, Handler } from "../client_api.ts";
import { identifierProblem } from "../identifier.ts";
import * as local from "./local.ts";

const ONE = "/v1/conversations/:conversation_id";
const ITEMS = `${ONE}/items` as const;
const ITEM = `${ITEMS}/:item_id` as const;

/** The Conversations API; the gateway itself keeps the conversations (OpenAI API, Conversations). */
export const conversations: ClientApi = {
  name: "conversations",
  endpoints: [
    { method: "POST", path: "/v1/conversations", body: "optional", handle: create },
    { method: "GET", path: ONE, body: false, handle: onConversation(local.retrieve) },
    { method: "POST", path: ONE, body: true, handle: onConversation(local.update) },
    { method: "DELETE", path: ONE, body: false, handle: onConversation(local.remove) },
    { method: "POST", path: ITEMS, body: true, handle: onConversation(local.addItems) },
    { method: "GET", path: ITEMS, body: false, handle: onConversation(local.listItems) },
    { method: "GET", path: ITEM, body: false, handle: onConversation(local.retrieveItem) },
    { method: "DELETE", path: ITEM, body: false, handle: onConversation(local.removeItem) },
  ],
};

function create(call: Call, request: ApiRequest): Promise<Result<Reply>> {
  return Promise.resolve(providerProblem(call, request) ?? local.create(call, request));
}

/** An operation on a conversation that is there. */
type Operation = (call: Call, request: ApiRequest, kept: Conversation) => Result<Reply>;

function onConversation(operation: Operation): Handler {
  return (call, request) => {
    const problem = pathProblem(request) ?? providerProblem(call, request);
    if (problem !== null) return Promise.resolve(problem);
    const kept = local.find(call, request.params.conversation_id ?? "");
    return Promise.resolve(kept.ok ? operation(call, request, kept.value) : kept);
  };
}

function pathProblem({ params }: ApiRequest) {
  const { conversation_id: id = "", item_id: item } = params;
  return identifierProblem(id, "conversation_id") ??
    (item === undefined ? null : identifierProblem(item, "item_id"));
}

/** Who names a provider wants its conversations, not those of the gateway. */
function providerProblem(call: Call, { document }: ApiRequest) {
  const { model } = document.value;
  const named = namedBy(call, typeof model === "string" ? model : "");
  if (!named.ok) return named;
  const { provider } = named.value;
  if (provider === null) return null;
  return call.generation.providers.has(provider)
    ? refuse(
      "unsupported_feature",
      "The named provider has no conversations; name none to use those of the gateway.",
      "provider",
    )
    : refuse("provider_not_found", "There is no provider with the requested name.", "provider");
}
