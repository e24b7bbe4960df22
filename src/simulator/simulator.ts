import * as conversations from "./conversations.ts";
import * as lifecycle from "./responses/lifecycle.ts";
import * as stored from "./stored_completions.ts";
import type { JsonObject } from "../core/json/json.ts";
import { newAccounts } from "./account.ts";
import { compatModel, compatModels, localTags, messagesModel, messagesModels } from "./catalogs.ts";
import { type Answer, errorResponse, type SimCall } from "./sim_call.ts";
import { newClouds, TRIAL_IDENTITIES } from "./clouds/clouds.ts";
import { COMPAT } from "./compat.ts";
import { answerChat, countMessagesTokens } from "./chat.ts";
import { embedCompat, embedLocal } from "./embeddings.ts";
import { HOST_PROTOCOLS } from "./hosts.ts";
import { findRoute, type RoutedCall, type RouteHandler, type RouteTable } from "./routes.ts";
import { type ApiError, type Deps, newApiError, type Protocol } from "./protocol.ts";
import { LOCAL } from "./local.ts";
import { MESSAGES } from "./messages.ts";
import { compactResponse, countInputTokens, createResponse } from "./responses/create.ts";
import { FILE_ROUTES } from "./relay/files.ts";
import { editImages, generateImages, speak, transcribe, varyImages } from "./relay/media.ts";
import { complete, moderate, rerank } from "./relay/texts.ts";

/** The routes of one protocol, relative to the path prefix under which it is served. */
interface ProtocolRoutes {
  readonly prefix: string;
  readonly protocol: Protocol;
  readonly routes: RouteTable;
}

const PROTOCOL_ROUTES: readonly ProtocolRoutes[] = [
  {
    prefix: "/compat/v1",
    protocol: COMPAT,
    routes: new Map<string, RouteHandler>([
      ["POST /chat/completions", stored.createCompletion],
      ["GET /chat/completions", stored.listCompletions],
      ["GET /chat/completions/:id", stored.retrieveCompletion],
      ["POST /chat/completions/:id", stored.updateCompletion],
      ["DELETE /chat/completions/:id", stored.deleteCompletion],
      ["GET /chat/completions/:id/messages", stored.listMessages],
      ["POST /responses", createResponse],
      ["POST /responses/compact", compactResponse],
      ["POST /responses/input_tokens", countInputTokens],
      ["GET /responses/:id", lifecycle.retrieveResponse],
      ["DELETE /responses/:id", lifecycle.deleteResponse],
      ["POST /responses/:id/cancel", lifecycle.cancelResponse],
      ["GET /responses/:id/input_items", lifecycle.listInputItems],
      ["POST /conversations", conversations.createConversation],
      ["GET /conversations/:id", conversations.retrieveConversation],
      ["POST /conversations/:id", conversations.updateConversation],
      ["DELETE /conversations/:id", conversations.deleteConversation],
      ["POST /conversations/:id/items", conversations.addItems],
      ["GET /conversations/:id/items", conversations.listItems],
      ["GET /conversations/:id/items/:item", conversations.retrieveItem],
      ["DELETE /conversations/:id/items/:item", conversations.deleteItem],
      ["POST /completions", complete],
      ["POST /moderations", moderate],
      ["POST /rerank", rerank],
      ["POST /images/generations", generateImages],
      ["POST /images/edits", editImages],
      ["POST /images/variations", varyImages],
      ["POST /audio/speech", speak],
      ["POST /audio/transcriptions", transcribe],
      ["POST /audio/translations", transcribe],
      ...FILE_ROUTES,
      ["POST /embeddings", embedCompat],
      ["GET /models", () => Response.json(compatModels())],
      ["GET /models/*id", (call) => modelResponse(compatModel, call)],
    ]),
  },
  {
    prefix: "/messages/v1",
    protocol: MESSAGES,
    routes: new Map<string, RouteHandler>([
      ["POST /messages", answerChat],
      ["POST /messages/count_tokens", countMessagesTokens],
      ["GET /models", ({ query }) => Response.json(messagesModels(query))],
      ["GET /models/*id", (call) => modelResponse(messagesModel, call)],
    ]),
  },
  {
    prefix: "/local/api",
    protocol: LOCAL,
    routes: new Map<string, RouteHandler>([
      ["POST /chat", answerChat],
      ["POST /embed", embedLocal],
      ["GET /tags", () => Response.json(localTags())],
      ["GET /version", () => Response.json({ version: "0.12.3" })],
    ]),
  },
  ...[...HOST_PROTOCOLS].map(([name, protocol]): ProtocolRoutes => ({
    prefix: `/hosts/${name}/v1`,
    protocol,
    routes: new Map<string, RouteHandler>([["POST /chat/completions", answerChat]]),
  })),
];

/**
 * Returns the request handler of a simulated upstream. It serves the compat protocol below
 * `/compat/v1` and `/v1`, Messages below `/messages/v1`, the local runtime's protocol below
 * `/local/api`, and below `/hosts/NAME/v1` Chat as the host with this name has it. The model name
 * selects the behaviour. Below `/clouds/` hosts of clouds check who sends a request. The same
 * request gives the same response, except ids and times. Stored
 * objects of compat are kept in memory, separately for each bearer key. Requests with a refused key
 * get an error.
 */
export function newSimulator(
  deps: Deps,
  refusedKeys: RefusedKeys = new Map(),
  identities = TRIAL_IDENTITIES,
): (request: Request) => Promise<Response> {
  const findAccount = newAccounts(deps);
  const clouds = newClouds(deps, identities, answerPlainly);

  async function answerPlainly(httpRequest: Request): Promise<Response> {
    const url = new URL(httpRequest.url);
    const path = url.pathname.replace(/^\/v1\//, "/compat/v1/");
    for (const { prefix, protocol, routes } of PROTOCOL_ROUTES) {
      if (!path.startsWith(`${prefix}/`)) continue;
      const call = { protocol, httpRequest, deps };
      const found = findRoute(routes, httpRequest.method, path.slice(prefix.length));
      if (found === null) return unknownUrlResponse(call);
      const { handler, ids } = found;
      const answer = refusedKeyError(httpRequest.headers, refusedKeys) ??
        await handler({ ...call, ids, query: url.searchParams, account: findAccount(httpRequest) });
      return answer instanceof Response ? answer : errorResponse(answer, call);
    }
    return path === "/local/" || path === "/local"
      ? new Response("Ollama is running")
      : unknownUrlResponse({ protocol: COMPAT, httpRequest, deps });
  }

  return async (request) => await (clouds(request) ?? answerPlainly(request));
}

function modelResponse(find: (id: string) => JsonObject | null, call: RoutedCall): Answer {
  const [id = ""] = call.ids;
  const model = find(id);
  return model === null ? call.protocol.unknownModelError(id) : Response.json(model);
}

function unknownUrlResponse(call: SimCall): Response {
  const { method, url } = call.httpRequest;
  const message = `Unknown request URL: ${method} ${new URL(url).pathname}.`;
  return errorResponse(newApiError(message, { status: 404, code: "unknown_url" }), call);
}

/** Statuses with which keys are refused, by key. A change applies from the next request on. */
type RefusedKeys = ReadonlyMap<string, number>;

/**
 * A key that is always refused: `refused-`, a status from 400 to 599, and any end behind a hyphen.
 */
const ALWAYS_REFUSED = /^refused-([45]\d\d)(?:-|$)/;

/** Returns the error for a request whose key is refused; null if the key is accepted. */
function refusedKeyError(headers: Headers, refusedKeys: RefusedKeys): ApiError | null {
  const key = headers.get("x-api-key") ??
    headers.get("authorization")?.replace(/^Bearer +/i, "") ?? "";
  const named = ALWAYS_REFUSED.exec(key)?.[1];
  const status = refusedKeys.get(key) ?? (named === undefined ? undefined : Number(named));
  return status === undefined
    ? null
    : newApiError(`Simulated refusal of the key with status ${status}.`, { status });
}
