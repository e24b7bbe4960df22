import type { EndpointFacts, EndpointName, RequestType } from "../core/endpoint.ts";
import { chat } from "./chat/chat.ts";
import type { ClientApi, Endpoint, SocketEndpoint } from "./client_api.ts";
import { conversations } from "./conversations/conversations.ts";
import { embeddings } from "./embeddings/embeddings.ts";
import { messages } from "./messages/messages.ts";
import { models } from "./models/models.ts";
import { ops } from "./ops/ops.ts";
import { relayedApis } from "./relay/relay.ts";
import { fitsPath } from "./relay/table.ts";
import { responses } from "./responses/responses.ts";
import { storedChat } from "./stored_chat/stored_chat.ts";

/** Every client API. */
export const clientApis: readonly ClientApi[] = [
  chat,
  conversations,
  embeddings,
  messages,
  models,
  ops,
  ...relayedApis,
  responses,
  storedChat,
];

/** Returns the facts of an endpoint for logs, metrics, spans and the dashboard. */
export function factsOf(api: ClientApi, endpoint: Endpoint | SocketEndpoint): EndpointFacts {
  return {
    path: endpoint.path.replace(/\{[^}]*\}/, ""),
    api: api.name,
    operation: endpoint.operation ?? null,
    isBilled: endpoint.operation !== undefined || endpoint.isBilled === true,
    errors: api.errors,
    sharesAnswer: !("handle" in endpoint) || endpoint.sharesAnswer === true,
  };
}

/** Returns the endpoint for a POST to this path, and its client API. */
export function findEndpoint(
  path: string,
): { readonly api: EndpointName | null; readonly endpoint: Endpoint } | null {
  for (const { name, endpoints } of clientApis) {
    const endpoint = endpoints.find((one) => one.method === "POST" && fitsPath(one.path, path));
    if (endpoint !== undefined) return { api: name, endpoint };
  }
  return null;
}

/** Returns the name of the client API with a POST to this path. */
export function findApi(path: string): EndpointName | null {
  return findEndpoint(path)?.api ?? null;
}

/**
 * Returns the request types that a POST to this path is matched by; null if the path is not routed.
 */
export function findRequestTypes(path: string): readonly [RequestType, ...RequestType[]] | null {
  const endpoint = clientApis.flatMap((api) => api.endpoints)
    .find((one) => one.matchesAs !== undefined && one.path === path);
  return endpoint?.matchesAs ?? null;
}
