import { isObject, type JsonObject } from "../core/json/json.ts";
import type { Account, StoredCompletion } from "./account.ts";
import { answerChat } from "./chat.ts";
import { type Answer, readJsonBody } from "./sim_call.ts";
import { invalidValue, isMetadata, missingParameter, words } from "./field_checks.ts";
import { COMPAT } from "./compat.ts";
import { onStored, paginate, type RoutedCall, type RouteHandler } from "./routes.ts";
import type { Deps, ModelOutput, Protocol, SimRequest } from "./protocol.ts";

/** `POST /chat/completions`: creates a completion and stores it if `store` is true. */
export function createCompletion(call: RoutedCall): Promise<Answer> {
  return answerChat({ ...call, protocol: newStoringProtocol(call.account) });
}

/**
 * Returns a compat protocol for one request, which stores the completion when its last record is
 * sent.
 */
function newStoringProtocol(account: Account): Protocol {
  let body: JsonObject = {};

  function store(output: ModelOutput, request: SimRequest, deps: Deps) {
    // A completion with a quirk is stored without it.
    const answer = COMPAT.encodeWhole({ ...output, quirk: null }, request, deps);
    account.completions.set(String(answer.id), {
      resource: { ...answer, metadata: body.metadata ?? {}, ...echoedFields(body) },
      messages: toListedMessages(body, String(answer.id)),
    });
  }

  return {
    ...COMPAT,
    parseRequest(requestBody, headers) {
      body = requestBody;
      return COMPAT.parseRequest(requestBody, headers);
    },
    encodeWhole(output, request, deps) {
      if (body.store !== true) return COMPAT.encodeWhole(output, request, deps);
      const newDeps = account.newAnswerDeps();
      if (output.defect === null) store(output, request, newDeps());
      return COMPAT.encodeWhole(output, request, newDeps());
    },
    *encodeStream(output, request, deps) {
      if (body.store !== true) return yield* COMPAT.encodeStream(output, request, deps);
      const newDeps = account.newAnswerDeps();
      for (const chunk of COMPAT.encodeStream(output, request, newDeps())) {
        // The reader may cancel after the last record, so the completion is stored before it is
        // sent.
        if (chunk.text === COMPAT.encodeRecord("", "[DONE]")) store(output, request, newDeps());
        yield chunk;
      }
    },
  };
}

const ECHOED_FIELDS = words("tools tool_choice temperature top_p seed n");

function echoedFields(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => ECHOED_FIELDS.includes(name) && value !== null),
  );
}

function toListedMessages({ messages }: JsonObject, completion: string): readonly JsonObject[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isObject).map((message, at) => {
    const { content = null, ...rest } = message;
    const parts = Array.isArray(content) ? content : null;
    const text = parts === null ? content : null;
    return { ...rest, id: `${completion}-${at}`, content: text, content_parts: parts };
  });
}

/** `GET /chat/completions`: lists completions by model and metadata, the oldest first. */
export function listCompletions(call: RoutedCall): Answer {
  const model = call.query.get("model");
  const metadataFilter = [...call.query].flatMap(([name, value]) => {
    const [, key] = /^metadata\[(.*)\]$/.exec(name) ?? [];
    return key === undefined ? [] : [[key, value] as const];
  });
  const matching = call.account.completions.values().map(({ resource }) => resource)
    .filter((resource) => model === null || resource.model === model)
    .filter(({ metadata }) =>
      metadataFilter.every(([key, value]) => isObject(metadata) && metadata[key] === value)
    );
  return paginate(matching, call.query, PAGES);
}

/** `GET /chat/completions/{id}`: returns a stored completion. */
export const retrieveCompletion: RouteHandler = onCompletion((_call, { resource }) =>
  Response.json(resource)
);

/** `POST /chat/completions/{id}`: replaces the metadata of a stored completion. */
export const updateCompletion: RouteHandler = onCompletion(async (call, stored) => {
  const body = await readJsonBody(call.httpRequest);
  if (body?.metadata === undefined) return missingParameter("metadata");
  const { metadata } = body;
  if (metadata !== null && !isMetadata(metadata)) {
    return invalidValue("metadata", "metadata must be an object of strings.");
  }
  const resource: JsonObject = { ...stored.resource, metadata: metadata ?? {} };
  call.account.completions.set(String(resource.id), { ...stored, resource });
  return Response.json(resource);
});

/** `DELETE /chat/completions/{id}`: deletes a stored completion. */
export const deleteCompletion: RouteHandler = onCompletion((call, { resource }) => {
  call.account.completions.delete(String(resource.id));
  return Response.json({ object: "chat.completion.deleted", id: resource.id, deleted: true });
});

/** `GET /chat/completions/{id}/messages`: lists the request's messages, the oldest first. */
export const listMessages: RouteHandler = onCompletion((call, { messages }) =>
  paginate(messages, call.query, PAGES)
);

const PAGES = { defaultOrder: "asc", maxLimit: Infinity } as const;

function onCompletion(act: Parameters<typeof onStored<StoredCompletion>>[2]): RouteHandler {
  return onStored(({ completions }) => completions, "Chat completion", act);
}
