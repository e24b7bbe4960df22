import { isObject, type JsonObject } from "../../core/json/json.ts";
import type { Account, StoredResponse } from "../account.ts";
import { invalidValue } from "../field_checks.ts";
import type { BodyStep } from "../body_stream.ts";
import { onStored, paginate, type RoutedCall, type RouteHandler } from "../routes.ts";
import { newApiError } from "../protocol.ts";
import { outputOf } from "./history.ts";
import { textOf } from "./input_items.ts";
import { sseRecord } from "./stream_quirks.ts";
import { isInclude } from "./field_rules.ts";
import { unfinishedResource } from "./resource.ts";
import { type Answer, streamResponse } from "../sim_call.ts";

/**
 * `GET /responses/{id}`: returns a response. Each retrieval advances a background response by one
 * phase.
 */
export const retrieveResponse: RouteHandler = onResponse((call, stored) => {
  const include = call.query.getAll("include").concat(call.query.getAll("include[]"));
  if (!isInclude(include)) return invalidValue("include", "This cannot be included.");
  if (call.query.get("stream") === "true") return replayStream(call, stored);
  const advanced = advancePhase(stored, call);
  const resource = withLaterIdQuirk(visibleResource(advanced));
  const sealed = include.includes("reasoning.encrypted_content");
  return Response.json(sealed ? withEncryptedReasoning(resource, call) : resource);
});

/** `DELETE /responses/{id}`: deletes a response. */
export const deleteResponse: RouteHandler = onResponse((call, stored) => {
  call.account.responses.delete(String(stored.resource.id));
  return Response.json({
    id: withLaterIdQuirk(stored.resource).id,
    object: "response",
    deleted: true,
  });
});

/** `POST /responses/{id}/cancel`: cancels a background response. The call can be repeated. */
export const cancelResponse: RouteHandler = onResponse((call, stored) => {
  if (stored.resource.background !== true) {
    return newApiError("Cannot cancel a synchronous response.");
  }
  const now = isFinished(stored) ? stored : { ...stored, phase: "cancelled" as const };
  call.account.responses.set(String(stored.resource.id), now);
  return Response.json(withLaterIdQuirk(visibleResource(now)));
});

/** `GET /responses/{id}/input_items`: lists input items, by default the newest first. */
export const listInputItems: RouteHandler = onResponse((call, { inputItems }) =>
  paginate(inputItems, call.query, { defaultOrder: "desc", maxLimit: 100 })
);

function onResponse(act: Parameters<typeof onStored<StoredResponse>>[2]): RouteHandler {
  return onStored(({ responses }) => responses, "Response", act);
}

function advancePhase(stored: StoredResponse, { account }: RoutedCall): StoredResponse {
  if (isFinished(stored)) return stored;
  const id = String(stored.resource.id);
  if (stored.phase === "queued") {
    account.responses.set(id, { ...stored, phase: "in_progress" });
  } else {
    finishResponse(stored, account);
  }
  return account.responses.get(id) ?? stored;
}

/**
 * Replays a stream after the event `starting_after`. The replay completes a background response.
 */
function replayStream(call: RoutedCall, stored: StoredResponse): Answer {
  const after = call.query.get("starting_after") ?? "-1";
  if (!/^(-1|\d{1,9})$/.test(after)) {
    return invalidValue("starting_after", "starting_after must be an integer.");
  }
  const events = storedEvents(stored).filter(({ sequence_number: at }) =>
    Number(at) > Number(after)
  );
  return streamResponse(steps(), call.deps);

  function* steps(): Generator<BodyStep> {
    for (const [at, event] of events.entries()) {
      if (at === events.length - 1) finishResponse(stored, call.account);
      yield { kind: "send", text: sseRecord(String(event.type), JSON.stringify(event)) };
    }
  }
}

function storedEvents(stored: StoredResponse): readonly JsonObject[] {
  if (stored.phase !== "cancelled") return stored.events;
  const opening = stored.events.slice(0, 3);
  const terminal = {
    type: "response.cancelled",
    sequence_number: 3,
    response: visibleResource(stored),
  };
  return [...opening, terminal];
}

/** Applies the quirk `later-id`, which changes the id in every response after the create. */
function withLaterIdQuirk(resource: JsonObject): JsonObject {
  return resource.model === "sim-native-later-id"
    ? { ...resource, id: `${resource.id}0` }
    : resource;
}

function withEncryptedReasoning(resource: JsonObject, { account }: RoutedCall): JsonObject {
  const output = outputOf(resource).map((item) =>
    item.type === "reasoning" ? { ...item, encrypted_content: account.seal(textOf(item)) } : item
  );
  return { ...resource, output };
}

/** Finishes a response: stores it if requested, and adds its new items to its conversation. */
export function finishResponse(ended: StoredResponse, account: Account): void {
  const { resource } = ended;
  const { id, store, background, conversation } = resource;
  const stored = account.responses.get(String(id));
  // A background response may have been deleted, cancelled or finished in the meantime.
  if (stored === undefined ? background === true : isFinished(stored)) return;
  if (store !== false) account.responses.set(String(id), { ...ended, phase: "ended" });
  if (resource.status !== "completed" || !isObject(conversation)) return;
  const conversationId = String(conversation.id);
  const found = account.conversations.get(conversationId);
  if (found === undefined) return;
  const items = [...found.items, ...ended.newItems, ...outputOf(resource)];
  account.conversations.set(conversationId, { ...found, items });
}

/** True if a response cannot change any more. */
function isFinished({ phase }: StoredResponse): boolean {
  return phase === "ended" || phase === "cancelled";
}

/** Returns the resource of a response in its current phase. */
export function visibleResource({ resource, phase }: StoredResponse): JsonObject {
  return phase === "ended" ? resource : unfinishedResource(resource, phase);
}
