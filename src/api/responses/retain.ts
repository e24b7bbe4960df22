import { isExactId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Failed } from "../../core/result.ts";
import type { Call } from "../../gateway/call.ts";
import { isCapable } from "../../gateway/capable.ts";
import { isHidden, protocolOf } from "../../gateway/owner.ts";
import type { Target } from "../../wires/wire.ts";
import { unknownConversation } from "../../state/conversations.ts";
import { keptItem, withNewId } from "../kept_item.ts";
import {
  isHistoryComplete,
  localConversation,
  type ResolvedRequest,
  storedHistory,
} from "./continuation.ts";
import { outputOf } from "./references.ts";
import type { ResponsesRequest } from "./request.ts";

/**
 * Keeps a response that has reached its end: itself and its owner unless the request says
 * `store: false`, and a completed one in its conversation in any case. One that its upstream gives
 * back itself is only remembered by its owner. Returns why its conversation cannot take it, and then
 * keeps nothing: the answer must say so.
 */
export function retain(
  call: Call,
  request: ResponsesRequest,
  context: ResolvedRequest,
  target: Target,
  resource: JsonObject,
): Failed | null {
  const conversation = localConversation(context.continuation);
  if (!request.store && conversation === null) return null;
  const added = context.added.map(({ item }) => keptItem(item, call.world));
  if (conversation !== null && resource.status === "completed") {
    const problem = addTurn(call, conversation, [...added, ...outputOf({ resource })]);
    if (problem !== null) return problem;
  }
  if (request.store) store(call, context, target, resource, added);
  return null;
}

/**
 * Adds the items of a turn to its conversation. An item whose id is there already, or that has none,
 * is kept under a new id: providers may repeat ids, and other turns may have ended meanwhile. Returns
 * the refusal of a conversation that has been deleted or filled up since the turn began.
 */
function addTurn(call: Call, id: string, items: readonly JsonObject[]): Failed | null {
  const { conversations } = call.vault;
  const kept = conversations.get(id);
  if (kept === undefined) return unknownConversation("conversation");
  const ids = new Set(kept.items.map((item) => item.id));
  const added = items.map((item) => {
    const isFree = isExactId(item.id) && !ids.has(item.id);
    const own = isFree ? item : withNewId(item, call.world);
    ids.add(own.id);
    return own;
  });
  const appended = conversations.append(id, added);
  return appended.ok ? null : appended;
}

function store(
  call: Call,
  context: ResolvedRequest,
  target: Target,
  resource: JsonObject,
  added: readonly JsonObject[],
): void {
  const { id, status } = resource;
  const { continuation } = context;
  if (typeof id !== "string") return;
  const isNative = protocolOf(target.wire) === "responses";
  if (!isNative && status !== "completed" && status !== "incomplete") return;
  const isKeptHere = isNative
    ? status === "completed" && !isCapable(target.provider, "responses_lifecycle")
    : true;
  // Asked before anything is kept: an owner that is too old takes what was kept for the id along.
  const isConflict = call.vault.bindings.response.get(id)?.state === "conflict";
  const isKept = isKeptHere && !isConflict && !isHidden(call, "response", id) &&
    call.vault.snapshots.keep(id, { resource, input: [...storedHistory(continuation), ...added] });
  // Without what came before, it can be shown but not continued from here.
  if (isNative || isKept) {
    bindResponse(call, context, target, id, isKept && isHistoryComplete(continuation));
  }
}

/** Remembers whose response it is, and how the next one continues it. */
export function bindResponse(
  call: Call,
  { asked }: Pick<ResolvedRequest, "asked">,
  { provider, model, wire }: Target,
  id: string,
  hasSnapshot: boolean,
): void {
  call.vault.bindings.response.bind(id, {
    provider: provider.id,
    account: provider.account,
    origin: {
      route: call.report.route ?? "",
      model,
      asked,
      protocol: protocolOf(wire),
      hasSnapshot,
    },
    creator: call.caller.name,
  });
}
