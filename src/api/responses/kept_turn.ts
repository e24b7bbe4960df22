import type { JsonObject } from "../../core/json.ts";
import type { Call } from "../../gateway/call.ts";
import { isCapable } from "../../gateway/capable.ts";
import { type Pin, protocolOf } from "../../gateway/owner.ts";
import { heldBytes } from "../../state/retention.ts";
import { keptItem } from "../kept_item.ts";
import type { Settled } from "./creation.ts";
import type { Context, Earlier } from "./history.ts";
import { outputOf } from "./references.ts";

/** The last response of a socket, as the next turn may continue it. */
export interface KeptTurn {
  readonly id: string;
  readonly earlier: Earlier;
  /** It holds more than a socket may keep: it can be told, but not continued. */
  readonly isTooLarge: boolean;
}

/** A socket keeps at most so many bytes. */
const LARGEST_STATE = 16 * 1024 * 1024;

/** Whether a turn has ended with an answer, whole or cut short. */
export function hasAnswered({ resource: { status } }: Settled): boolean {
  return status === "completed" || status === "incomplete";
}

/** What is kept of a turn that has reached its end; null when nothing can continue it. */
export function keptOf(call: Call, settled: Settled): KeptTurn | null {
  const { target, context, request, resource } = settled;
  const { id } = resource;
  if (typeof id !== "string" || !hasAnswered(settled)) return null;
  const protocol = protocolOf(target.wire);
  const origin = {
    route: call.report.route ?? "",
    model: target.model,
    asked: context.asked,
    protocol,
    hasSnapshot: false,
  };
  const param = "previous_response_id" as const;
  const owner = { provider: target.provider, protocol, origin, param };
  const kept = keptWith(call, id, context, owner, outputOf({ resource }));
  if (protocol !== "responses" || !request.store) return kept;
  // An upstream that has it knows everything by its id. One that has not said so may know nothing:
  // it is asked by the id only where there is nothing better, as over HTTP.
  const isThere = context.isUpstream || isCapable(target.provider, "responses_lifecycle");
  return isThere || kept === null || kept.isTooLarge ? keptTurn(id, owner, [], id) : kept;
}

/** What is kept of items that the gateway has itself; null when others came before them elsewhere. */
export function keptWith(
  call: Call,
  id: string,
  context: Context,
  owner: Pin | null,
  output: readonly JsonObject[],
): KeptTurn | null {
  const { isUpstream, previous, history, added } = context;
  // What came before is in a conversation of the upstream, which an id alone does not bring back.
  if (isUpstream && previous === null) return null;
  const items = [...history, ...added.map(({ item }) => keptItem(item, call.world)), ...output];
  return keptTurn(id, owner, items, previous);
}

function keptTurn(
  id: string,
  owner: Pin | null,
  history: readonly JsonObject[],
  previous: string | null,
): KeptTurn {
  const bytes = history.reduce((sum, item) => sum + heldBytes(item), 0);
  const isTooLarge = bytes > LARGEST_STATE;
  const earlier = {
    history: isTooLarge ? [] : history,
    owner,
    isUpstream: previous !== null,
    previous,
  };
  return { id, earlier, isTooLarge };
}
