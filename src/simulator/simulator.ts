import type { JsonObject } from "../core/json.ts";
import { compatModel, compatModels, localTags, messagesModel, messagesModels } from "./catalogs.ts";
import { converse, refusal, type Scene } from "./chat.ts";
import { COMPAT } from "./compat.ts";
import { embedCompat, embedLocal } from "./embeddings.ts";
import { LOCAL } from "./local.ts";
import { MESSAGES } from "./messages.ts";
import { complain, type Stage, type Voice } from "./voice.ts";

type Route = (scene: Scene, url: URL, id: string) => Promise<Response> | Response;

const VOICES: readonly (readonly [string, Voice, ReadonlyMap<string, Route>])[] = [
  [
    "/compat/v1",
    COMPAT,
    new Map<string, Route>([
      ["POST /chat/completions", converse],
      ["POST /embeddings", embedCompat],
      ["GET /models", () => Response.json(compatModels())],
      ["GET /models/", (scene, _url, id) => found(compatModel(id), id, scene)],
    ]),
  ],
  [
    "/messages/v1",
    MESSAGES,
    new Map<string, Route>([
      ["POST /messages", converse],
      ["GET /models", (_scene, url) => Response.json(messagesModels(url.searchParams))],
      ["GET /models/", (scene, _url, id) => found(messagesModel(id), id, scene)],
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
 * name says what it does. The same request gives the same answer, ids and times aside.
 */
export function simulator(stage: Stage): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    const path = url.pathname.replace(/^\/v1\//, "/compat/v1/");
    for (const [prefix, voice, routes] of VOICES) {
      if (!path.startsWith(`${prefix}/`)) continue;
      const scene = { voice, request, stage };
      const rest = path.slice(prefix.length);
      const [, family = rest, id = ""] = /^(\/models\/)(.+)$/.exec(rest) ?? [];
      const route = routes.get(`${request.method} ${family}`);
      return route === undefined ? unknownUrl(scene) : await route(scene, url, id);
    }
    return path === "/local/" || path === "/local"
      ? new Response("Ollama is running")
      : unknownUrl({ voice: COMPAT, request, stage });
  };
}

function found(model: JsonObject | null, id: string, scene: Scene): Response {
  return model === null ? refusal(scene.voice.unknownModel(id), scene) : Response.json(model);
}

function unknownUrl(scene: Scene): Response {
  const { method, url } = scene.request;
  const message = `Unknown request URL: ${method} ${new URL(url).pathname}.`;
  return refusal(complain(message, { status: 404, code: "unknown_url" }), scene);
}
