import type { JsonObject } from "../../core/json/json.ts";
import type { StoredResponse } from "../account.ts";
import { invalidValue } from "../field_checks.ts";
import { errorResponse } from "../sim_call.ts";
import { paginate } from "../pagination.ts";
import { type BodyStep, newBodyStream } from "../body_stream.ts";
import { notFoundResponse } from "../sim_call.ts";
import type { RoutedCall, RouteHandler } from "../routes.ts";
import { newApiError } from "../protocol.ts";
import { outputOf } from "./history.ts";
import { textOf } from "./input_items.ts";
import { finishResponse, isFinished, visibleResource } from "./stored_response.ts";
import { sseRecord } from "./stream_quirks.ts";
import { isInclude } from "./field_rules.ts";

/**
 * `GET /responses/{id}`: returns a response. Each retrieval advances a background response by one
 * phase.
 */
export const retrieveResponse: RouteHandler = withResponse((call, stored) => {
  const include = call.query.getAll("include").concat(call.query.getAll("include[]"));
  if (!isInclude(include)) {
    return errorResponse(invalidValue("include", "This cannot be included."), call);
  }
  if (call.query.get("stream") === "true") return replayStream(call, stored);
  const advanced = advancePhase(stored, call);
  const resource = withLaterIdQuirk(visibleResource(advanced));
  const sealed = include.includes("reasoning.encrypted_content");
  return Response.json(sealed ? withEncryptedReasoning(resource, call) : resource);
});

/** `DELETE /responses/{id}`: deletes a response. */
export const deleteResponse: RouteHandler = withResponse((call, stored) => {
  call.account.responses.delete(String(stored.resource.id));
  return Response.json({
    id: withLaterIdQuirk(stored.resource).id,
    object: "response",
    deleted: true,
  });
});

/** `POST /responses/{id}/cancel`: cancels a background response. The call can be repeated. */
export const cancelResponse: RouteHandler = withResponse((call, stored) => {
  if (stored.resource.background !== true) {
    return errorResponse(newApiError("Cannot cancel a synchronous response."), call);
  }
  const now = isFinished(stored) ? stored : { ...stored, phase: "cancelled" as const };
  call.account.responses.set(String(stored.resource.id), now);
  return Response.json(withLaterIdQuirk(visibleResource(now)));
});

/** `GET /responses/{id}/input_items`: lists input items, by default the newest first. */
export const listInputItems: RouteHandler = withResponse((call, { inputItems }) => {
  const listing = paginate(inputItems, call.query, { defaultOrder: "desc", maxLimit: 100 });
  return "error" in listing ? errorResponse(listing.error, call) : Response.json(listing.page);
});

function withResponse(act: (call: RoutedCall, stored: StoredResponse) => Response): RouteHandler {
  return (call) => {
    const [id = ""] = call.ids;
    const stored = call.account.responses.get(id);
    return stored === undefined ? notFoundResponse("Response", id, call) : act(call, stored);
  };
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
function replayStream(call: RoutedCall, stored: StoredResponse): Response {
  const after = call.query.get("starting_after") ?? "-1";
  if (!/^(-1|\d{1,9})$/.test(after)) {
    return errorResponse(
      invalidValue("starting_after", "starting_after must be an integer."),
      call,
    );
  }
  const events = storedEvents(stored).filter(({ sequence_number: at }) =>
    Number(at) > Number(after)
  );
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(newBodyStream(steps(), call.deps), { headers });

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
