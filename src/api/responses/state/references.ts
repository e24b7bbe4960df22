import type { Refusal } from "../../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import { isHidden, isVisible, resolveOwner } from "../../../call/owner.ts";
import { isReference } from "../../item_type.ts";
import type { ResolvedRequest } from "./continuation.ts";
import type { ResponsesRequest } from "../request.ts";
import type { HistoryItem } from "../translate/to_chat.ts";

/**
 * Returns the new items of a request, with stored ones in place of the references to them; one that is
 * in the history already is left out. An unknown item stays a reference, and `missing` refuses it. An
 * item that only another client has is refused at once.
 */
export async function resolveReferences(
  call: Call,
  { input, document }: ResponsesRequest,
  history: readonly JsonObject[],
): Promise<Result<Pick<ResolvedRequest, "added" | "missing">>> {
  const isText = typeof document.value.input === "string";
  const stored = await findItems(call, referencedIds(input));
  if (!stored.ok) return stored;
  const { known, strange } = stored.value;
  const present = new Set(history.map(({ id }) => id));
  const added: HistoryItem[] = [];
  let missing: Failed<Refusal> | null = null;
  for (const [index, item] of input.entries()) {
    const path = isText ? "input" : `input[${index}]`;
    const { id } = item;
    if (!isReference(item)) added.push({ item, path });
    else if (typeof id !== "string" || !present.has(id)) {
      const kept = typeof id === "string" ? known.get(id) : undefined;
      added.push({ item: kept ?? item, path, isKept: kept !== undefined });
      if (kept !== undefined) continue;
      missing ??= unknownItem(path);
      // Its provider may know it by the id alone, for every client.
      if (typeof id === "string" && strange.has(id)) return unknownItem(path);
    }
  }
  return success({ added, missing });
}

/**
 * Refuses a document whose input refers to an item that only another client has; null when it has no
 * such reference. Fails also if the items cannot be looked up.
 */
export async function hiddenItemProblem(
  call: Call,
  input: JsonValue | undefined,
): Promise<Failed | null> {
  if (!call.caller.isIsolated || !Array.isArray(input)) return null;
  const stored = await findItems(call, referencedIds(input.filter(isObject)));
  if (!stored.ok) return stored;
  const { known, strange } = stored.value;
  const index = input.findIndex((item) =>
    isObject(item) && isReference(item) && typeof item.id === "string" &&
    strange.has(item.id) && !known.has(item.id)
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

/** Stored items by ID: those of the caller, and the IDs of those that do not exist for it. */
interface StoredItems {
  readonly known: ReadonlyMap<string, JsonObject>;
  readonly strange: ReadonlySet<string>;
}

const NO_ITEMS: StoredItems = { known: new Map(), strange: new Set() };

/** Finds the stored items with these IDs; of two of the caller with the same ID the later one counts. */
async function findItems(call: Call, ids: ReadonlySet<string>): Promise<Result<StoredItems>> {
  if (ids.size === 0) return success(NO_ITEMS);
  const { conversations, responses } = call.state.objects;
  const [inConversations, inResponses] = await Promise.all([
    conversations.findItems(ids),
    responses.findItems(ids),
  ]);
  if (!inConversations.ok) return inConversations;
  if (!inResponses.ok) return inResponses;
  const known = new Map<string, JsonObject>();
  const strange = new Set<string>();
  for (const { id, item, creator } of inConversations.value) {
    if (isVisible(call, creator)) known.set(id, item);
    else strange.add(id);
  }
  for (const { id, item, binding } of inResponses.value) {
    if (isHidden(call, binding)) strange.add(id);
    // What belongs to an account that has changed since is not to be handed on.
    else if (resolveOwner(call, { param: "response_id", provider: null }, binding).ok) {
      known.set(id, item);
    }
  }
  return success({ known, strange });
}
