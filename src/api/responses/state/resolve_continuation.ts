import type { Refusal } from "../../../core/failure/failure.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import { requestedModel } from "../../../exchange.ts";
import { innerMemoryOf } from "../../../formats/request_memory.ts";
import { holdBody } from "../../../traffic/call_memory.ts";
import type { Call } from "../../../call/call.ts";
import { replaceItems } from "../../../redaction/request.ts";
import { requireCapability } from "../../../routing/capability.ts";
import { isNativeTarget } from "../../../call/generation.ts";
import { findProvenance, isUpstreamOnly, resolveOwner } from "../../../routing/ownership.ts";
import {
  type Conversation,
  fullConversation,
  hasRoom,
  largeConversation,
  MAX_CONVERSATION_ITEMS,
  refuseAddedItems,
  unknownConversation,
} from "../../../store/conversations.ts";
import { heldBytes } from "../../../store/retention.ts";
import { outputOf } from "../../../store/snapshots.ts";
import { turnAmong } from "../../../traffic/loop_turns.ts";
import {
  type Continuation,
  namedItems,
  NO_CONTINUATION,
  requiredTarget,
  type ResolvedRequest,
  storedHistory,
  withHistory,
} from "./continuation.ts";
import { locateConversation } from "./locate_conversation.ts";
import { resolveReferences } from "./references.ts";
import { refuseUnstoredPrevious } from "./without_store.ts";
import type { ResponsesRequest } from "../request.ts";

/** Finds the continuation of a response by its ID; `provider` is the one that the client names. */
export type ResolvePrevious = (
  call: Call,
  id: string,
  provider: string | null,
) => Promise<Result<Continuation>>;

/**
 * Resolves all references of a create request. Refuses a reference to an object that does not
 * exist.
 */
export async function resolveContinuation(
  call: Call,
  request: ResponsesRequest,
  resolvePrevious: ResolvePrevious,
): Promise<Result<ResolvedRequest>> {
  const named = requestedModel(call, request.model);
  if (!named.ok) return named;
  const { provider, model } = named.value;
  const found = await findContinuation(call, request, provider, resolvePrevious);
  if (!found.ok) return found;
  const { continuation, conversation } = found.value;
  const input = await resolveReferences(call, request, storedHistory(continuation));
  if (!input.ok) return input;
  const { added, missing } = input.value;
  // A local conversation must not store a reference to an item that the gateway does not have.
  const problem = conversation === null
    ? null
    : missing ?? roomProblem(call, conversation, added.map(({ item }) => item));
  if (problem !== null) return problem;
  const full = await holdStored(call, { continuation, added });
  if (full !== null) return full;
  const sent = await replaceStored(call, continuation, added);
  return !sent.ok ? sent : success({
    ...sent.value,
    missing,
    requestedModel: model ?? requiredTarget(continuation)?.origin?.requestedModel ?? null,
  });
}

/**
 * Maximum size of the stored items of a request: it is written for a provider in one piece, and is
 * no larger than the largest body that a client may send.
 */
const MAX_NAMED_BYTES = 32 * 1024 * 1024;

/**
 * Reserves memory for the stored items of a request until its response has ended: a request of some
 * bytes may name megabytes of them, each copied out of the store or into the request to a provider.
 */
async function holdStored(
  call: Call,
  resolved: Pick<ResolvedRequest, "continuation" | "added">,
): Promise<Failed | null> {
  const items = namedItems(resolved);
  if (items.length === 0) return null;
  const turn = turnAmong(call.turns, items.length, "large");
  if (turn !== null) await turn;
  let bytes = 0;
  // A request may name one large item very many times.
  for (const item of items) {
    bytes += heldBytes(item);
    if (bytes <= MAX_NAMED_BYTES) continue;
    return refuse(
      "state_too_large",
      "The stored items that the request names have more than 32 MiB; begin a dialogue without them.",
    );
  }
  return holdBody(call, items.reduce((bytes, item) => bytes + innerMemoryOf(item), bytes));
}

/** Returns the items that the gateway has stored as providers may have them. */
async function replaceStored(
  call: Call,
  continuation: Continuation,
  added: ResolvedRequest["added"],
): Promise<Result<Pick<ResolvedRequest, "continuation" | "earlier" | "added">>> {
  if (call.client.privacy === null) return success({ continuation, added });
  const earlier = storedHistory(continuation);
  const history = await replaceItems(call, earlier);
  if (!history.ok) return history;
  const stored = added.filter(({ isStored }) => isStored === true);
  const items = await replaceItems(call, stored.map(({ item }) => item));
  if (!items.ok) return items;
  const sent = new Map(stored.map((item, index) => [item, items.value[index]]));
  return success({
    continuation: withHistory(continuation, history.value),
    earlier,
    added: added.map((one) => ({ ...one, item: sent.get(one) ?? one.item, original: one.item })),
  });
}

/** A continuation and the local conversation in it. */
interface Found {
  readonly continuation: Continuation;
  readonly conversation: Conversation | null;
}

async function findContinuation(
  call: Call,
  { previousResponseId, conversation }: ResponsesRequest,
  provider: string | null,
  resolvePrevious: ResolvePrevious,
): Promise<Result<Found>> {
  if (previousResponseId !== null) {
    const continuation = await resolvePrevious(call, previousResponseId, provider);
    return continuation.ok
      ? success({ continuation: continuation.value, conversation: null })
      : continuation;
  }
  return conversation === null
    ? success({ continuation: NO_CONTINUATION, conversation: null })
    : await findConversation(call, conversation, provider);
}

/** Finds the continuation of a stored response: its earlier items, and the target that made it. */
export async function resolveStoredResponse(
  call: Call,
  id: string,
  provider: string | null,
): Promise<Result<Continuation>> {
  const param = "previous_response_id";
  const refused = refuseUnstoredPrevious(call);
  if (refused !== null) return refused;
  const found = await call.state.objects.responses.find(id);
  if (!found.ok) return found;
  const owned = resolveOwner(call, { param, provider }, found.value?.binding ?? null);
  if (!owned.ok) return owned;
  if (owned.value === null) return unknownPrevious();
  const { provider: owner, account } = owned.value;
  const origin = findProvenance(owned.value);
  const snapshot = found.value?.snapshot ?? null;
  if (origin?.hasSnapshot && snapshot !== null) {
    return success({
      kind: "local",
      history: [...snapshot.input, ...outputOf(snapshot)],
      conversation: null,
      owner: { provider: owner, account, protocol: origin.protocol, origin, param },
    });
  }
  const mayKnow = origin === null
    ? call.generation.routes.some((route) => isNativeTarget(route, owner))
    : isUpstreamOnly(origin);
  if (!mayKnow) return unknownPrevious();
  return success({
    kind: "upstream_response",
    previousResponseId: id,
    tail: [],
    owner: { provider: owner, account, protocol: "responses", origin, param },
  });
}

/** Returns the refusal of a previous response ID that does not exist. */
export function unknownPrevious(): Failed<Refusal> {
  return refuse(
    "previous_response_not_found",
    "There is no such response to continue; send the whole conversation as input.",
    "previous_response_id",
  );
}

async function findConversation(
  call: Call,
  id: string,
  provider: string | null,
): Promise<Result<Found>> {
  const place = await locateConversation(call, id, provider);
  if (!place.ok) return place;
  if (place.value.kind === "local") {
    const { conversation } = place.value;
    call.report.conversationItems = conversation.items.length;
    return success({
      continuation: { kind: "local", history: conversation.items, conversation: id, owner: null },
      conversation,
    });
  }
  const owner = requireCapability(place.value.place.provider, "conversations");
  if (!owner.ok) return place.value.isBound ? owner : unknownConversation("conversation");
  return success({
    continuation: {
      kind: "upstream_conversation",
      owner: {
        ...place.value.place,
        protocol: "responses",
        origin: null,
        param: "conversation",
      },
    },
    conversation: null,
  });
}

/**
 * Returns the refusal of new items that do not fit into a conversation, as far as that is known
 * before the call; null if there is room for them and at least one output item.
 */
function roomProblem(
  { state }: Call,
  conversation: Conversation,
  added: readonly JsonObject[],
): Failed<Refusal> | null {
  const { items } = conversation;
  const { maxBytes } = state.objects.conversations;
  if (items.length + added.length >= MAX_CONVERSATION_ITEMS) return fullConversation();
  // Before the sizes: the same large item may be named 999 times.
  const refused = refuseAddedItems(items, added, "input");
  if (refused !== null) return refused;
  return hasRoom(conversation, added, maxBytes) ? null : largeConversation(maxBytes);
}
