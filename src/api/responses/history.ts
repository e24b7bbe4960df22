import type { Refusal } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Failed, refuse, type Result, success } from "../../core/result.ts";
import { namedBy } from "../../exchange.ts";
import type { Call } from "../../gateway/call.ts";
import { capable } from "../../gateway/capable.ts";
import { isNativeTarget } from "../../gateway/generation.ts";
import { isUpstreamOnly, originOf, ownerOf, type Pin } from "../../gateway/owner.ts";
import {
  addedProblem,
  fullConversation,
  largeConversation,
  MOST_ITEMS,
  unknownConversation,
} from "../../state/conversations.ts";
import type { HistoryItem } from "./to_chat.ts";
import { placeOf } from "./conversation_place.ts";
import { outputOf, resolved } from "./references.ts";
import type { ResponsesRequest } from "./request.ts";

/** What a request means together with what it refers to. */
export interface Context extends Earlier {
  /** The new items; what stood for another one is that one, where it is known. */
  readonly added: readonly HistoryItem[];
  /** Why one of the new items is not known here; null when all are. */
  readonly missing: Failed<Refusal> | null;
  /** The local conversation that gets the new items and the output. */
  readonly conversation: string | null;
  /** The bare model that is asked for; null leaves it open. */
  readonly asked: string | null;
}

/** What comes before a request. */
export interface Earlier {
  /** The items before the new ones, oldest first, as far as the gateway keeps them. */
  readonly history: readonly JsonObject[];
  /** Who made what is continued; null when nothing is. */
  readonly owner: Pin | null;
  /** The owner keeps what came before that itself. */
  readonly isUpstream: boolean;
  /** The response before the history, which the owner keeps; null when there is none. */
  readonly previous: string | null;
}

/** Finds what comes before the response with this id; `provider` is the one that the client names. */
export type Continued = (call: Call, id: string, provider: string | null) => Result<Earlier>;

const NOTHING: Earlier = { history: [], owner: null, isUpstream: false, previous: null };

/** Finds what a request continues, belongs to and points at; refused when something is not there. */
export function contextOf(
  call: Call,
  request: ResponsesRequest,
  continued: Continued,
): Result<Context> {
  const named = namedBy(call, request.model);
  if (!named.ok) return named;
  const { provider, model } = named.value;
  const { previousResponseId: previous, conversation } = request;
  const earlier = previous !== null
    ? continued(call, previous, provider)
    : conversation !== null
    ? associated(call, conversation, provider)
    : success(NOTHING);
  if (!earlier.ok) return earlier;
  const { history, owner, isUpstream } = earlier.value;
  const { added, missing, hidden } = resolved(call, request, history);
  if (hidden !== null) return hidden;
  const local = isUpstream ? null : conversation;
  // What the gateway does not have it cannot keep: a reference to it would end up in the conversation.
  const problem = local === null
    ? null
    : missing ?? roomProblem(call, local, history, added.map(({ item }) => item));
  return problem ?? success({
    ...earlier.value,
    added,
    missing,
    conversation: local,
    asked: model ?? owner?.origin?.asked ?? null,
  });
}

/** What comes before a response that was made through the gateway, and who made it. */
export function continuedFromState(
  call: Call,
  id: string,
  provider: string | null,
): Result<Earlier> {
  const param = "previous_response_id";
  const owned = ownerOf(call, { type: "response", id, param, provider });
  if (!owned.ok) return owned;
  if (owned.value === null) return unknownPrevious();
  const owner = owned.value.provider;
  const origin = originOf(owned.value);
  const snapshot = origin?.hasSnapshot ? call.vault.snapshots.get(id) : undefined;
  if (origin !== null && snapshot !== undefined) {
    const pin = { provider: owner, protocol: origin.protocol, origin, param } as const;
    const history = [...snapshot.input, ...outputOf(snapshot)];
    return success({ ...NOTHING, history, owner: pin });
  }
  const mayKnow = origin === null
    ? call.generation.routes.some((route) => isNativeTarget(route, owner))
    : isUpstreamOnly(origin);
  if (!mayKnow) return unknownPrevious();
  return success({
    history: [],
    owner: { provider: owner, protocol: "responses", origin, param },
    isUpstream: true,
    previous: id,
  });
}

/** There is nothing to continue under this id. */
export function unknownPrevious(): Failed<Refusal> {
  return refuse(
    "previous_response_not_found",
    "There is no such response to continue; send the whole conversation as input.",
    "previous_response_id",
  );
}

function associated(call: Call, id: string, provider: string | null): Result<Earlier> {
  const place = placeOf(call, id, provider);
  if (!place.ok) return place;
  if (place.value.at === "here") return success({ ...NOTHING, history: place.value.kept.items });
  const owner = capable(place.value.provider, "conversations");
  if (!owner.ok) return place.value.isBound ? owner : unknownConversation("conversation");
  const pin: Pin = {
    provider: owner.value,
    protocol: "responses",
    origin: null,
    param: "conversation",
  };
  return success({ ...NOTHING, owner: pin, isUpstream: true });
}

/**
 * Returns why a conversation cannot take a turn with these new items, as far as that is known before
 * the call; null when there is room for them and for at least one item of output.
 */
function roomProblem(
  { vault }: Call,
  conversation: string,
  history: readonly JsonObject[],
  added: readonly JsonObject[],
): Failed<Refusal> | null {
  if (history.length + added.length >= MOST_ITEMS) return fullConversation();
  if (!vault.conversations.hasRoom(conversation, added)) return largeConversation();
  return addedProblem(history, added, "input");
}
