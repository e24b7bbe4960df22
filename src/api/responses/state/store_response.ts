import type { Refusal } from "../../../core/failure/failure.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { hasCapability } from "../../../routing/capability.ts";
import { protocolOf, shownAs } from "../../../routing/ownership.ts";
import type { Owner } from "../../../store/bindings.ts";
import { turnAmong } from "../../../traffic/loop_turns.ts";
import { outputOf } from "../../../store/snapshots.ts";
import type { Target } from "../../../wires/wire.ts";
import { withNewId } from "../../items/stored_item.ts";
import {
  isHistoryComplete,
  itemCount,
  localConversation,
  type ResolvedRequest,
} from "./continuation.ts";
import type { Creation, FinishedResponse } from "../creation.ts";
import { storedInput, storedItems } from "./stored_input.ts";

/**
 * Stores a finished response with its owner unless the request has `store: false`; only the owner
 * if the upstream can return the response itself. A completed response is always added to its
 * conversation. If that fails nothing is stored, and the client must receive the failure.
 */
export async function storeResponse(call: Call, finished: FinishedResponse): Promise<Result<void>> {
  const { request, context, resource } = finished;
  const conversation = localConversation(context.continuation);
  if (!request.store && conversation === null) return success(undefined);
  const turn = turnAmong(call.turns, context.added.length, "large");
  if (turn !== null) await turn;
  const added = await storedInput(context, call);
  if (conversation !== null && resource.status === "completed") {
    const appended = await addTurn(call, conversation, [...added, ...outputOf({ resource })]);
    if (!appended.ok) return appended;
  }
  return request.store ? await store(call, finished, added) : success(undefined);
}

/**
 * Returns the refusal of a request whose response this target leaves to the gateway's store, if
 * even one output item would make it too many items; null if it may be stored.
 */
export function refuseManyItems(
  { call: { state: { maxItems } }, request, context }: Pick<
    Creation,
    "call" | "request" | "context"
  >,
  target: Target,
): Failed<Refusal> | null {
  const items = itemCount(context);
  if (!request.store || items < maxItems || !isKeptHere(target)) return null;
  return refuse(
    "too_many_items",
    `A stored response has at most ${maxItems} items with those before it; send fewer items.`,
    "input",
  );
}

/** True if the gateway stores the completed responses of a target itself. */
function isKeptHere({ wire, provider }: Target): boolean {
  return protocolOf(wire) !== "responses" || !hasCapability(provider, "responses_lifecycle");
}

/** Adds the items of a request and its response to their conversation. */
async function addTurn(
  { state, world }: Call,
  id: string,
  items: readonly JsonObject[],
): Promise<Result<void>> {
  const turn = { items, withNewId: (item: JsonObject) => withNewId(item, world) };
  const added = await state.outcomes.addTurn(id, turn);
  return added.ok ? success(undefined) : added;
}

async function store(
  call: Call,
  { context, target, resource }: FinishedResponse,
  added: readonly JsonObject[],
): Promise<Result<void>> {
  const { id, status } = resource;
  const { continuation } = context;
  if (typeof id !== "string") return success(undefined);
  const isNative = protocolOf(target.wire) === "responses";
  if (!isNative && status !== "completed" && status !== "incomplete") return success(undefined);
  const input = [...storedItems(context), ...added];
  // How much the output adds is known only now: as one that is too large, it is not stored.
  const isFull = input.length + outputOf({ resource }).length > call.state.maxItems;
  if (isFull && !isNative) return success(undefined);
  const isStoredHere = isKeptHere(target) && !isFull && (!isNative || status === "completed");
  if (!isStoredHere) return await bindResponse(call, { context, target }, id);
  const stored = await call.state.outcomes.storeResponse(id, {
    // Without its earlier items, the response can be retrieved but not continued from this
    // snapshot.
    owner: newOwner(call, { context, target, hasSnapshot: isHistoryComplete(continuation) }),
    snapshot: { resource, input },
    isNative,
  }, call.caller);
  return stored.ok ? success(undefined) : stored;
}

/** Stores the owner of a response that the gateway does not store itself. */
export async function bindResponse(
  call: Call,
  { context, target }: Pick<OwnerFacts, "context" | "target">,
  id: string,
): Promise<Result<void>> {
  const owner = newOwner(call, { context, target, hasSnapshot: false });
  const bound = await call.state.outcomes.bind("response", id, owner);
  return bound.ok ? success(undefined) : bound;
}

/** Facts of a response that its owner is stored with. */
interface OwnerFacts {
  readonly context: Pick<ResolvedRequest, "requestedModel">;
  readonly target: Target;
  /** True if the gateway stores the response with all earlier items. */
  readonly hasSnapshot: boolean;
}

function newOwner({ report, caller }: Call, { context, target, hasSnapshot }: OwnerFacts): Owner {
  const { requestedModel } = context;
  const { provider, account, model, wire } = target;
  const route = report.route ?? "";
  return {
    provider: provider.id,
    account: account.digest,
    origin: {
      ...{ route, model, requestedModel, protocol: protocolOf(wire), hasSnapshot },
      ...protocolOf(wire) === "responses" && shownAs(target),
    },
    creator: caller.name,
  };
}
