import type { JsonObject } from "../../../core/json/json.ts";
import type { Call } from "../../../call/call.ts";
import { hasCapability } from "../../../call/capable.ts";
import { protocolOf, type RequiredTarget } from "../../../call/owner.ts";
import { heldBytes } from "../../../state/retention.ts";
import { outputOf } from "../../../state/snapshots.ts";
import { toStoredItem } from "../../stored_item.ts";
import type { Settled } from "../creation.ts";
import {
  type Continuation,
  isHistoryComplete,
  type ResolvedRequest,
  storedHistory,
} from "../state/continuation.ts";

/** The last response of a socket, as the next turn may continue it. */
export interface SocketContinuation {
  readonly id: string;
  /** Null: it holds more than a socket may keep, so that it cannot be continued. */
  readonly continuation: Continuation | null;
}

/** A socket keeps at most so many bytes. */
const LARGEST_STATE = 16 * 1024 * 1024;

/** Whether a turn has ended with an answer, whole or cut short. */
export function hasAnswered({ resource: { status } }: Settled): boolean {
  return status === "completed" || status === "incomplete";
}

/** What is kept of a turn that has reached its end; null when nothing can continue it. */
export function keptOf(call: Call, settled: Settled): SocketContinuation | null {
  const { target, context, request, resource } = settled;
  const { id } = resource;
  if (typeof id !== "string" || !hasAnswered(settled)) return null;
  const protocol = protocolOf(target.wire);
  const origin = {
    route: call.report.route ?? "",
    model: target.model,
    requestedModel: context.asked,
    protocol,
    hasSnapshot: false,
  };
  const param = "previous_response_id" as const;
  const owner = { provider: target.provider, protocol, origin, param };
  const kept = keptWith(call, id, context, owner, outputOf({ resource }));
  if (protocol !== "responses" || !request.store) return kept;
  // An upstream that has it knows everything by its id. One that has not said so may know nothing:
  // it is asked by the id only where there is nothing better, as over HTTP.
  const isThere = !isHistoryComplete(context.continuation) ||
    hasCapability(target.provider, "responses_lifecycle");
  return isThere || kept === null || kept.continuation === null
    ? { id, continuation: upstreamResponse(id, [], owner) }
    : kept;
}

/** Returns what is kept of items that the gateway has itself; null if earlier ones are elsewhere. */
export function keptWith(
  call: Call,
  id: string,
  { continuation, added }: ResolvedRequest,
  owner: RequiredTarget | null,
  output: readonly JsonObject[],
): SocketContinuation | null {
  const items = [
    ...storedHistory(continuation),
    ...added.map(({ item }) => toStoredItem(item, call.world)),
    ...output,
  ];
  const isTooLarge = items.reduce((sum, item) => sum + heldBytes(item), 0) > LARGEST_STATE;
  switch (continuation.kind) {
    case "none":
    case "local": {
      const next = { kind: "local", history: items, conversation: null, owner } as const;
      return { id, continuation: isTooLarge ? null : next };
    }
    case "upstream_response": {
      const { previousResponseId } = continuation;
      const next = upstreamResponse(previousResponseId, items, owner ?? continuation.owner);
      return { id, continuation: isTooLarge ? null : next };
    }
    case "upstream_conversation":
      // Its earlier items are in the conversation, which an ID alone does not bring back.
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
