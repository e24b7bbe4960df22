import { isObject, type JsonObject } from "../../core/json.ts";
import type { Call } from "../../gateway/call.ts";
import { isCapable } from "../../gateway/capable.ts";
import { isHidden, protocolOf } from "../../gateway/owner.ts";
import type { Target } from "../../wires/wire.ts";
import { keptItem } from "../kept_item.ts";
import type { Context } from "./history.ts";
import type { ResponsesRequest } from "./request.ts";

/**
 * Keeps a response that has reached its end: itself and its owner unless the request says
 * `store: false`, and a completed one in its conversation in any case. One that its upstream gives
 * back itself is only remembered by its owner.
 */
export function retain(
  call: Call,
  request: ResponsesRequest,
  context: Context,
  target: Target,
  resource: JsonObject,
): void {
  const { conversation } = context;
  const isCompleted = resource.status === "completed";
  if (!request.store && conversation === null) return;
  const added = context.added.map(({ item }) => keptItem(item, call.world));
  if (request.store) store(call, context, target, resource, added);
  if (conversation === null || !isCompleted || !Array.isArray(resource.output)) return;
  // One that has been deleted or filled up meanwhile gets nothing: the answer is given all the same.
  call.vault.conversations.append(conversation, [...added, ...resource.output.filter(isObject)]);
}

function store(
  call: Call,
  context: Context,
  target: Target,
  resource: JsonObject,
  added: readonly JsonObject[],
): void {
  const { id, status } = resource;
  if (typeof id !== "string") return;
  const isNative = protocolOf(target.wire) === "responses";
  if (!isNative && status !== "completed" && status !== "incomplete") return;
  const isKeptHere = isNative
    ? status === "completed" && !isCapable(target.provider, "responses_lifecycle")
    : true;
  // Asked before anything is kept: an owner that is too old takes what was kept for the id along.
  const isConflict = call.vault.bindings.response.get(id)?.state === "conflict";
  const isKept = isKeptHere && !isConflict && !isHidden(call, "response", id) &&
    call.vault.snapshots.keep(id, { resource, input: [...context.history, ...added] });
  // Without what came before, it can be shown but not continued from here.
  if (isNative || isKept) bindResponse(call, context, target, id, isKept && !context.isUpstream);
}

/** Remembers whose response it is, and how the next one continues it. */
export function bindResponse(
  call: Call,
  { asked }: Pick<Context, "asked">,
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
