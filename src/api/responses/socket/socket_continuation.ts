import type { JsonObject } from "../../../core/json/json.ts";
import type { Call } from "../../../call/call.ts";
import { hasCapability } from "../../../routing/capability.ts";
import { protocolOf } from "../../../routing/ownership.ts";
import type { RequiredTarget } from "../../../call/inference.ts";
import { heldBytes } from "../../../store/retention.ts";
import { outputOf } from "../../../store/snapshots.ts";
import type { FinishedResponse } from "../creation.ts";
import {
  type Continuation,
  isHistoryComplete,
  type ResolvedRequest,
} from "../state/continuation.ts";
import { storedInput, storedItems } from "../state/stored_input.ts";

/** The last response of a socket, which the next request may continue. */
export interface SocketContinuation {
  readonly id: string;
  /** True if the state store may have the response or its owner. */
  readonly isStored: boolean;
  /**
   * Null if the items exceed the memory limit of a socket, or were dropped: the response cannot be
   * continued.
   */
  readonly continuation: Continuation | null;
  /** Bytes of the items. */
  readonly bytes: number;
}

/** Memory limit of the items that one socket holds, in bytes. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;

/** True if a response ended with output, complete or truncated. */
export function hasAnswered({ resource: { status } }: FinishedResponse): boolean {
  return status === "completed" || status === "incomplete";
}

/** Returns the continuation of a finished response; null if no request can continue it. */
export async function continuationAfter(
  call: Call,
  finished: FinishedResponse,
): Promise<SocketContinuation | null> {
  const { target, context, request, resource } = finished;
  const { id } = resource;
  if (typeof id !== "string" || !hasAnswered(finished)) return null;
  const protocol = protocolOf(target.wire);
  const origin = {
    route: call.report.route ?? "",
    model: target.model,
    requestedModel: context.requestedModel,
    protocol,
    hasSnapshot: false,
  };
  const param = "previous_response_id" as const;
  const { provider, account } = target;
  const owner = { provider, account, protocol, origin, param };
  const output = outputOf({ resource });
  // The upstream knows no ID of an unstored response, and an unknown ID is an error there.
  const replayed = protocol === "responses" && !request.store
    ? output.filter((item) => !isReasoningById(item))
    : output;
  const local = await continuationFromItems(call, { id, isStored: request.store }, {
    context,
    owner,
    output: replayed,
  });
  if (protocol !== "responses" || !request.store) return local;
  // An upstream that stores the response knows all items by its ID. Without the declared capability
  // it may know nothing, so its ID is sent only if the gateway lacks items, as over HTTP.
  const isThere = !isHistoryComplete(context.continuation) ||
    hasCapability(provider, "responses_lifecycle");
  return isThere || local === null || local.continuation === null
    ? { id, isStored: true, continuation: upstreamResponse(id, [], owner), bytes: 0 }
    : local;
}

/** True for a reasoning item that only its ID identifies, because it has no encrypted content. */
function isReasoningById({ type, encrypted_content: encrypted }: JsonObject): boolean {
  return type === "reasoning" && typeof encrypted !== "string";
}

/** A response of which the gateway has all new items. */
interface ItemsOfResponse {
  readonly context: ResolvedRequest;
  readonly owner: RequiredTarget | null;
  readonly output: readonly JsonObject[];
}

/**
 * Returns the continuation from items that the gateway has; null if a provider has earlier items.
 */
export async function continuationFromItems(
  call: Call,
  response: Pick<SocketContinuation, "id" | "isStored">,
  { context, owner, output }: ItemsOfResponse,
): Promise<SocketContinuation | null> {
  const { continuation } = context;
  const items = [...storedItems(context), ...await storedInput(context, call), ...output];
  const size = items.reduce((sum, item) => sum + heldBytes(item), 0);
  const isTooLarge = size > MAX_STATE_BYTES;
  const bytes = isTooLarge ? 0 : size;
  switch (continuation.kind) {
    case "none":
    case "local": {
      const next = { kind: "local", history: items, conversation: null, owner } as const;
      return { ...response, continuation: isTooLarge ? null : next, bytes };
    }
    case "upstream_response": {
      const { previousResponseId } = continuation;
      const next = upstreamResponse(previousResponseId, items, owner ?? continuation.owner);
      return { ...response, continuation: isTooLarge ? null : next, bytes };
    }
    case "upstream_conversation":
      // The earlier items are in the provider's conversation, and a response ID does not restore
      // them.
      return null;
  }
}

function upstreamResponse(
  previousResponseId: string,
  tail: readonly JsonObject[],
  owner: RequiredTarget,
): Continuation {
  return { kind: "upstream_response", previousResponseId, tail, owner };
}
