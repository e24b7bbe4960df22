import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { isHidden, resolveOwner } from "../../../routing/ownership.ts";
import { type Binding, isVisible } from "../../../store/bindings.ts";
import { turnAmong } from "../../../traffic/loop_turns.ts";
import { isReference } from "../../items/item_type.ts";
import type { ResolvedRequest } from "./continuation.ts";
import { refuseUnstoredItem } from "./without_store.ts";
import type { ResponsesRequest } from "../request.ts";
import type { HistoryItem } from "../history_item.ts";

/**
 * Returns the new items of a request, with references replaced by their stored items. A reference
 * to an item of the history is left out. A reference to an unknown item stays, with its refusal in
 * `missing`. Fails if only another client has the item, and if the gateway stores no items.
 */
export async function resolveReferences(
  call: Call,
  { input, document }: ResponsesRequest,
  history: readonly JsonObject[],
): Promise<Result<Pick<ResolvedRequest, "added" | "missing">>> {
  const isText = typeof document.value.input === "string";
  const stored = await findItems(call, referencedIds(input));
  if (!stored.ok) return stored;
  const { known, hidden } = stored.value;
  const present = new Set(history.map(({ id }) => id));
  const added: HistoryItem[] = [];
  let missing: Failed<Refusal> | null = null;
  for (const [index, item] of input.entries()) {
    const path = isText ? "input" : `input[${index}]`;
    const { id } = item;
    if (!isReference(item)) added.push({ item, path });
    else if (typeof id !== "string" || !present.has(id)) {
      const found = typeof id === "string" ? known.get(id) : undefined;
      added.push({ item: found ?? item, path, isStored: found !== undefined });
      if (found !== undefined) continue;
      const refused = refuseUnstoredItem(call, path);
      if (refused !== null) return refused;
      missing ??= unknownItem(path);
      // The provider might resolve the ID for every client, so the gateway must refuse it.
      if (typeof id === "string" && hidden.has(id)) return unknownItem(path);
    }
  }
  return success({ added, missing });
}

/**
 * Returns the refusal of the first reference to an item that only another client has, or of the
 * first one at a gateway that stores no items; null if none. Fails also if the items cannot be
 * looked up.
 */
export async function hiddenItemProblem(
  call: Call,
  input: JsonValue | undefined,
): Promise<Failed | null> {
  if (!Array.isArray(input)) return null;
  const reference = input.findIndex((item) => isObject(item) && isReference(item));
  if (reference < 0) return null;
  const refused = refuseUnstoredItem(call, `input[${reference}]`);
  if (refused !== null || !call.caller.isIsolated) return refused;
  const stored = await findItems(call, referencedIds(input.filter(isObject)));
  if (!stored.ok) return stored;
  const { known, hidden } = stored.value;
  const index = input.findIndex((item) =>
    isObject(item) && isReference(item) && typeof item.id === "string" &&
    hidden.has(item.id) && !known.has(item.id)
  );
  return index < 0 ? null : unknownItem(`input[${index}]`);
}

function referencedIds(items: readonly JsonObject[]): ReadonlySet<string> {
  const ids = items.filter(isReference).map(({ id }) => id);
  return new Set(ids.filter((id) => typeof id === "string"));
}

function unknownItem(path: string): Failed<Refusal> {
  return refuse("invalid_value", "There is no item with this id.", `${path}.id`);
}

/** Stored items of the caller by ID, and the IDs of items that are hidden from the caller. */
interface StoredItems {
  readonly known: ReadonlyMap<string, JsonObject>;
  readonly hidden: ReadonlySet<string>;
}

const NO_ITEMS: StoredItems = { known: new Map(), hidden: new Set() };

/**
 * Finds the stored items with these IDs; a later item of the caller replaces one with the same ID.
 */
async function findItems(call: Call, ids: ReadonlySet<string>): Promise<Result<StoredItems>> {
  if (ids.size === 0 || call.state.objects.storesNothing) return success(NO_ITEMS);
  const { conversations, responses } = call.state.objects;
  const [inConversations, inResponses] = await Promise.all([
    conversations.findItems(ids),
    responses.findItems(ids),
  ]);
  if (!inConversations.ok) return inConversations;
  if (!inResponses.ok) return inResponses;
  const known = new Map<string, JsonObject>();
  const hidden = new Set<string>();
  for (const { id, item, creator } of inConversations.value) {
    if (isVisible(call, creator)) known.set(id, item);
    else hidden.add(id);
  }
  const turn = turnAmong(call.turns, inResponses.value.length, "large");
  if (turn !== null) await turn;
  // Many items are of one response.
  const usable = new Map<Binding, boolean>();
  for (const { id, item, binding } of inResponses.value) {
    if (isHidden(call, binding)) {
      hidden.add(id);
      continue;
    }
    // Items of an account that has changed since must not be sent to a provider.
    const isUsable = usable.get(binding) ??
      resolveOwner(call, { param: "response_id", provider: null }, binding).ok;
    usable.set(binding, isUsable);
    if (isUsable) known.set(id, item);
  }
  return success({ known, hidden });
}
