import type { JsonObject } from "../../core/json.ts";
import type { KeptResponse } from "../account.ts";
import { invalid } from "../checks.ts";
import { refusal } from "../chat.ts";
import { pageOf } from "../pages.ts";
import { playback, type Step } from "../playback.ts";
import { notFound, type Route, type Visit } from "../visit.ts";
import { complain } from "../voice.ts";
import { outputOf } from "./history.ts";
import { textOf } from "./items.ts";
import { isOver, seen, settle } from "./keep.ts";
import { record } from "./odd_events.ts";
import { isInclude } from "./rules.ts";

/** `GET /responses/{id}`: each call of one in the background finds it a step further. */
export const retrieveResponse: Route = found((visit, kept) => {
  const include = visit.query.getAll("include").concat(visit.query.getAll("include[]"));
  if (!isInclude(include)) return refusal(invalid("include", "This cannot be included."), visit);
  if (visit.query.get("stream") === "true") return replayed(visit, kept);
  const advanced = advance(kept, visit);
  const resource = named(seen(advanced));
  const sealed = include.includes("reasoning.encrypted_content");
  return Response.json(sealed ? withSeals(resource, visit) : resource);
});

/** `DELETE /responses/{id}`. */
export const deleteResponse: Route = found((visit, kept) => {
  visit.account.responses.drop(String(kept.resource.id));
  return Response.json({ id: named(kept.resource).id, object: "response", deleted: true });
});

/** `POST /responses/{id}/cancel`: of one in the background, as often as one likes. */
export const cancelResponse: Route = found((visit, kept) => {
  if (kept.resource.background !== true) {
    return refusal(complain("Cannot cancel a synchronous response."), visit);
  }
  const now = isOver(kept) ? kept : { ...kept, stage: "cancelled" as const };
  visit.account.responses.put(String(kept.resource.id), now);
  return Response.json(named(seen(now)));
});

/** `GET /responses/{id}/input_items`: the newest first when no order is asked for. */
export const listInputItems: Route = found((visit, { input }) => {
  const listing = pageOf(input, visit.query, { order: "desc", most: 100 });
  return "complaint" in listing ? refusal(listing.complaint, visit) : Response.json(listing.page);
});

function found(act: (visit: Visit, kept: KeptResponse) => Response): Route {
  return (visit) => {
    const [id = ""] = visit.ids;
    const kept = visit.account.responses.get(id);
    return kept === undefined ? notFound("Response", id, visit) : act(visit, kept);
  };
}

function advance(kept: KeptResponse, { account }: Visit): KeptResponse {
  if (isOver(kept)) return kept;
  const id = String(kept.resource.id);
  if (kept.stage === "queued") {
    account.responses.put(id, { ...kept, stage: "in_progress" });
  } else {
    settle(kept, account);
  }
  return account.responses.get(id) ?? kept;
}

/** The stream once more, from the event behind `starting_after`; it ends what was in progress. */
function replayed(visit: Visit, kept: KeptResponse): Response {
  const after = visit.query.get("starting_after") ?? "-1";
  if (!/^(-1|\d{1,9})$/.test(after)) {
    return refusal(invalid("starting_after", "starting_after must be an integer."), visit);
  }
  const events = eventsOf(kept).filter(({ sequence_number: at }) => Number(at) > Number(after));
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(playback(steps(), visit.stage), { headers });

  function* steps(): Generator<Step> {
    for (const [at, event] of events.entries()) {
      if (at === events.length - 1) settle(kept, visit.account);
      yield { do: "send", text: record(String(event.type), JSON.stringify(event)) };
    }
  }
}

function eventsOf(kept: KeptResponse): readonly JsonObject[] {
  if (kept.stage !== "cancelled") return kept.events;
  const opening = kept.events.slice(0, 3);
  const terminal = { type: "response.cancelled", sequence_number: 3, response: seen(kept) };
  return [...opening, terminal];
}

/** One quirk shows only when a response is asked for again. */
function named(resource: JsonObject): JsonObject {
  return resource.model === "sim-native-later-id"
    ? { ...resource, id: `${resource.id}0` }
    : resource;
}

function withSeals(resource: JsonObject, { account }: Visit): JsonObject {
  const output = outputOf(resource).map((item) =>
    item.type === "reasoning" ? { ...item, encrypted_content: account.seal(textOf(item)) } : item
  );
  return { ...resource, output };
}
