import { isObject, type JsonObject } from "../core/json.ts";
import type { Account, KeptCompletion } from "./account.ts";
import { bodyOf, converse, refusal } from "./chat.ts";
import { invalid, isMetadata, missing } from "./checks.ts";
import { COMPAT } from "./compat.ts";
import { pageOf } from "./pages.ts";
import { notFound, type Route, type Visit } from "./visit.ts";
import type { Ask, Script, Stage, Voice } from "./voice.ts";

/** `POST /chat/completions`; what is created with `store: true` can be asked for again. */
export function createCompletion(visit: Visit): Promise<Response> {
  return converse({ ...visit, voice: keepingVoice(visit.account) });
}

/** The compat voice, for one request: it keeps what is to be stored once all of it is said. */
function keepingVoice(account: Account): Voice {
  let body: JsonObject = {};

  function keep(script: Script, ask: Ask, stage: Stage) {
    // An odd answer is kept as it should have been.
    const answer = COMPAT.answer({ ...script, quirk: null }, ask, stage);
    account.completions.put(String(answer.id), {
      resource: { ...answer, metadata: body.metadata ?? {}, ...echoOf(body) },
      messages: messagesOf(body, String(answer.id)),
    });
  }

  return {
    ...COMPAT,
    read(given, headers) {
      body = given;
      return COMPAT.read(given, headers);
    },
    answer(script, ask, stage) {
      if (body.store !== true) return COMPAT.answer(script, ask, stage);
      const again = account.begin();
      if (script.defect === null) keep(script, ask, again());
      return COMPAT.answer(script, ask, again());
    },
    *records(script, ask, stage) {
      if (body.store !== true) return yield* COMPAT.records(script, ask, stage);
      const again = account.begin();
      for (const chunk of COMPAT.records(script, ask, again())) {
        // Its reader may leave once it has the last record, so that is the time to keep it.
        if (chunk.text === COMPAT.record("", "[DONE]")) keep(script, ask, again());
        yield chunk;
      }
    },
  };
}

const ECHOED: readonly string[] = ["tools", "tool_choice", "temperature", "top_p", "seed", "n"];

function echoOf(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => ECHOED.includes(name) && value !== null),
  );
}

function messagesOf({ messages }: JsonObject, completion: string): readonly JsonObject[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isObject).map((message, at) => {
    const { content = null, ...rest } = message;
    const parts = Array.isArray(content) ? content : null;
    const text = parts === null ? content : null;
    return { ...rest, id: `${completion}-${at}`, content: text, content_parts: parts };
  });
}

/** `GET /chat/completions`: of one model or with certain metadata, the oldest first. */
export function listCompletions(visit: Visit): Response {
  const model = visit.query.get("model");
  const wanted = [...visit.query].flatMap(([name, value]) => {
    const [, key] = /^metadata\[(.*)\]$/.exec(name) ?? [];
    return key === undefined ? [] : [[key, value] as const];
  });
  const fitting = visit.account.completions.all().map(({ resource }) => resource)
    .filter((resource) => model === null || resource.model === model)
    .filter(({ metadata }) =>
      wanted.every(([key, value]) => isObject(metadata) && metadata[key] === value)
    );
  return paged(fitting, visit);
}

/** `GET /chat/completions/{id}`. */
export const retrieveCompletion: Route = found((_visit, { resource }) => Response.json(resource));

/** `POST /chat/completions/{id}`: other metadata. */
export const updateCompletion: Route = found(async (visit, kept) => {
  const body = await bodyOf(visit.request);
  if (body?.metadata === undefined) return refusal(missing("metadata"), visit);
  const { metadata } = body;
  if (metadata !== null && !isMetadata(metadata)) {
    return refusal(invalid("metadata", "metadata must be an object of strings."), visit);
  }
  const resource: JsonObject = { ...kept.resource, metadata: metadata ?? {} };
  visit.account.completions.put(String(resource.id), { ...kept, resource });
  return Response.json(resource);
});

/** `DELETE /chat/completions/{id}`. */
export const deleteCompletion: Route = found((visit, { resource }) => {
  visit.account.completions.drop(String(resource.id));
  return Response.json({ object: "chat.completion.deleted", id: resource.id, deleted: true });
});

/** `GET /chat/completions/{id}/messages`: what was asked, the oldest first. */
export const listMessages: Route = found((visit, { messages }) => paged(messages, visit));

function paged(items: readonly JsonObject[], visit: Visit): Response {
  const listing = pageOf(items, visit.query, { order: "asc", most: Infinity });
  return "complaint" in listing ? refusal(listing.complaint, visit) : Response.json(listing.page);
}

function found(act: (visit: Visit, kept: KeptCompletion) => Promise<Response> | Response): Route {
  return (visit) => {
    const [id = ""] = visit.ids;
    const kept = visit.account.completions.get(id);
    return kept === undefined ? notFound("Chat completion", id, visit) : act(visit, kept);
  };
}
