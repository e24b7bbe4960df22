import type { JsonObject } from "../core/json.ts";
import { newAccounts } from "./account.ts";
import { compatModel, compatModels, localTags, messagesModel, messagesModels } from "./catalogs.ts";
import { converse, refusal, type Scene } from "./chat.ts";
import { COMPAT } from "./compat.ts";
import { embedCompat, embedLocal } from "./embeddings.ts";
import { LOCAL } from "./local.ts";
import { MESSAGES } from "./messages.ts";
import { NATIVE_ROUTES } from "./native_routes.ts";
import { findRoute, type RouteTable } from "./routes.ts";
import type { Route, Visit } from "./visit.ts";
import { complain, type Stage, type Voice } from "./voice.ts";

const VOICES: readonly (readonly [string, Voice, RouteTable])[] = [
  [
    "/compat/v1",
    COMPAT,
    new Map<string, Route>([
      ...NATIVE_ROUTES,
      ["POST /embeddings", embedCompat],
      ["GET /models", () => Response.json(compatModels())],
      ["GET /models/*id", (visit) => found(compatModel, visit)],
    ]),
  ],
  [
    "/messages/v1",
    MESSAGES,
    new Map<string, Route>([
      ["POST /messages", converse],
      ["GET /models", ({ query }) => Response.json(messagesModels(query))],
      ["GET /models/*id", (visit) => found(messagesModel, visit)],
    ]),
  ],
  [
    "/local/api",
    LOCAL,
    new Map<string, Route>([
      ["POST /chat", converse],
      ["POST /embed", embedLocal],
      ["GET /tags", () => Response.json(localTags())],
      ["GET /version", () => Response.json({ version: "0.12.3" })],
    ]),
  ],
];

/**
 * An upstream for trying and testing, to be served as it is. It speaks compat below `/compat/v1` and
 * `/v1`, messages below `/messages/v1` and the local runtime's protocol below `/local/api`; the model's
 * name says what it does. The same request gives the same answer, ids and times aside. What compat
 * stores it keeps in memory, for each bearer key apart.
 */
export function simulator(stage: Stage): (request: Request) => Promise<Response> {
  const accountOf = newAccounts(stage);
  return async (request) => {
    const url = new URL(request.url);
    const path = url.pathname.replace(/^\/v1\//, "/compat/v1/");
    for (const [prefix, voice, table] of VOICES) {
      if (!path.startsWith(`${prefix}/`)) continue;
      const scene = { voice, request, stage };
      const found = findRoute(table, request.method, path.slice(prefix.length));
      if (found === null) return unknownUrl(scene);
      const { route, ids } = found;
      return await route({ ...scene, ids, query: url.searchParams, account: accountOf(request) });
    }
    return path === "/local/" || path === "/local"
      ? new Response("Ollama is running")
      : unknownUrl({ voice: COMPAT, request, stage });
  };
}

function found(find: (id: string) => JsonObject | null, visit: Visit): Response {
  const [id = ""] = visit.ids;
  const model = find(id);
  return model === null ? refusal(visit.voice.unknownModel(id), visit) : Response.json(model);
}

function unknownUrl(scene: Scene): Response {
  const { method, url } = scene.request;
  const message = `Unknown request URL: ${method} ${new URL(url).pathname}.`;
  return refusal(complain(message, { status: 404, code: "unknown_url" }), scene);
}
